// The state of a block's threads: block.cpp runs them, and diverge.cpp reports
// where they wait.
#ifndef CNNC_HOST_RUNNER_H
#define CNNC_HOST_RUNNER_H

#include <string.h>
#include "host.h"
#include "fiber.h"

// A thread that has begun: its fiber, its threadIdx, and the call in which it
// waits.  The call is HOST_NO_CALL once the thread has ended.
struct Waiting {
    Fiber     fiber;
    uint3     index;
    HostPlace place;
};

// The state that one OS thread needs to run blocks.  It is created once and
// used for every block.
//
// A thread has a number in its block and a position in the order of execution.
// The threads of a warp have adjacent positions.
struct Runner {
    const HostLaunch *launch;
    int thread;                 // the thread that runs or is about to run
    int position;               // its position, or OVER
    int begun;                  // positions 0..begun-1 have begun
    int threads, warps;         // in the block
    int first, lanes;           // of the running warp: first position, lanes
    int at_warp, at_block, ended; // lanes of it that stopped, by cause
    int warps_at_block, warps_ended;
    HostPlace warp_place, block_place; // where the first of them waits,
    bool mixed_warp, mixed_block;      // and whether another waits elsewhere
    int block_side;             // flips at each barrier of the block
    bool votes[2];              // of __syncthreads_or, by block_side
    bool ordered;               // each phase begins with position 0
    bool failed;
    uint64_t random;            // the random state of the order
    int fibers;                 // stacks in use by this block
    int stacks;                 // accessible stacks
    char *stack;                // [MAX_THREADS] of a guard page and STACK bytes
    int side;                   // the half of `offers` for the next exchange
    alignas(32) unsigned char offers[2][32 * WARP];
    uint64_t block_count;       // blocks begun by this runner
    struct LateCopies *copies;  // async.cpp: by thread; null until used
    Fiber caller, nowhere;
    short at[MAX_THREADS];      // by position: the thread's number
    Waiting waiting[MAX_THREADS]; // by thread

    // For ThreadSanitizer: identities of the threads, and addresses at which
    // they synchronize.  A thread keeps its identity and stack from block to
    // block.  So the blocks of one runner are ordered, and those of two runners
    // are not.
    void *self, *identity[MAX_THREADS];
    int turn;
    uint64_t meet_block[2], meet_warp[MAX_THREADS / WARP][2], finished[2];
};

UNSEEN static inline bool same_place(const HostPlace &a, const HostPlace &b)
{
    return a.line == b.line && a.call == b.call &&
           (a.file == b.file || !strcmp(a.file, b.file));
}

// Returns the runner of this OS thread, with its counters up to date.
Runner *running();
// Reports a fault and leaves the running block for good.
[[noreturn]] void abandon_block(Runner *r, const char *why);
// async.cpp: releases its memory for r.
void forget_copies(Runner *r);

// diverge.cpp: reports the positions of the running block's diverged threads.
void report_diverged(const Runner *r, const char *why);

#endif
