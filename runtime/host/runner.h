// How block.cpp keeps the threads of a block, for the file that reports where
// they stand.
#ifndef CNNC_HOST_RUNNER_H
#define CNNC_HOST_RUNNER_H

#include <string.h>
#include "host.h"
#include "fiber.h"

// A thread that has begun: how to go on with it, its threadIdx, and the call
// that it waits in, HOST_NO_CALL once it has ended.
struct Waiting {
    Fiber     fiber;
    uint3     index;
    HostPlace place;
};

// What one OS thread needs to run blocks; made once, used for every block.
//
// Threads have a number in their block, and a position in the order in which
// they run; the threads of a warp are neighbours there.
struct Runner {
    const HostLaunch *launch;
    int thread;                 // that runs, or is about to
    int position;               // its position; OVER
    int begun;                  // positions 0..begun-1 have begun
    int threads, warps;         // of the block
    int first, lanes;           // of the running warp: first position, how many
    int at_warp, at_block, ended; // of these: lanes that stopped, why
    int warps_at_block, warps_ended;
    HostPlace warp_place, block_place; // where the first of those waits,
    bool mixed_warp, mixed_block;      // and whether another waits elsewhere
    bool ordered;               // each phase begins with position 0
    bool failed;
    uint64_t random;            // the state of the order, if it is random
    int fibers;                 // stacks in use by this block
    int stacks;                 // that can be used; the rest is no memory
    char *stack;                // [MAX_THREADS] of a guard page and STACK bytes
    int side;                   // which half of `offers` the next exchange uses
    alignas(32) unsigned char offers[2][32 * WARP];
    uint64_t block_count;       // blocks that it has begun
    struct LateCopies *copies;  // async.cpp: by thread, once there are any
    Fiber caller, nowhere;
    short at[MAX_THREADS];      // the thread at a position
    Waiting waiting[MAX_THREADS]; // by thread

    // For ThreadSanitizer: who the threads are, and where they meet.  A thread
    // keeps its identity and its stack from block to block, so all blocks of a
    // runner come one after the other; those of two runners do not.
    void *self, *identity[MAX_THREADS];
    int block_side, turn;
    uint64_t meet_block[2], meet_warp[MAX_THREADS / WARP][2], finished[2];
};

UNSEEN static inline bool same_place(const HostPlace &a, const HostPlace &b)
{
    return a.line == b.line && a.call == b.call &&
           (a.file == b.file || !strcmp(a.file, b.file));
}

// The runner of this OS thread, whose running thread is known by its number.
Runner *running();
// Reports what is wrong and leaves the running block for good.
[[noreturn]] void abandon_block(Runner *r, const char *why);
// async.cpp: gives back what it took for r.
void forget_copies(Runner *r);

// diverge.cpp: says what the threads of the running block, which disagree, do.
void report_diverged(const Runner *r, const char *why);

#endif
