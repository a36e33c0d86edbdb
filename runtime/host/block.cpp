// Runs the threads of a block, all on the OS thread that calls.
//
// The threads run one after the other, in a loop on one fiber, until one of
// them waits at a barrier.  That one keeps the stack; the loop goes on with the
// next thread on another.  So a kernel without barriers is a plain loop, and
// one with barriers needs a stack a thread.
//
// Order.  The lanes of a warp run in a circle until all of them have stopped
// (waiting for the warp, waiting for the block, or ended), and only then does
// the next warp run.  Whoever arrives last at a barrier goes on at once, and
// the others follow in the circle.  Hence a few counters say everything: the
// running warp's lanes that stopped, by cause, and the block's warps that did.
// When a circle closes and not all agree, the threads have diverged: some would
// wait for ever.  That is reported, and the block is left where it stands.
//
// While the block is one-dimensional and nobody has waited, not even those
// counters are kept (host_plain): threadIdx.x alone tells.
#include "host.h"
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "fiber.h"
#if defined(__SANITIZE_ADDRESS__)
#define HOST_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HOST_ASAN 1
#endif
#endif
#ifdef HOST_ASAN
#include <sanitizer/asan_interface.h>
#endif

__thread uint3 threadIdx, blockIdx;
__thread dim3 blockDim, gridDim;
__thread bool host_plain;

namespace {

enum { OVER = -1 };             // instead of a thread: the block has ended
constexpr size_t STACK = 256 << 10;

// A thread that waits: how to go on with it, and its threadIdx.
struct Waiting {
    Fiber fiber;
    uint3 index;
};

// What one OS thread needs to run blocks; made once, used for every block.
struct Runner {
    const HostLaunch *launch;
    int thread;                 // that runs, or is about to; OVER
    int begun;                  // threads 0..begun-1 have begun
    int threads, warps;         // of the block
    int first, lanes;           // of the running warp: first thread, how many
    int at_warp, at_block, ended; // of these: lanes that stopped, why
    int warps_at_block, warps_ended;
    bool failed;
    int fibers;                 // stacks in use by this block
    int stacks;                 // that can be used; the rest is no memory
    char *stack;                // [MAX_THREADS] of a guard page and STACK bytes
    int side;                   // which half of `offers` the next exchange uses
    unsigned char offers[2][8 * WARP];
    Fiber caller, nowhere;
    Waiting waiting[MAX_THREADS];
};

__thread Runner *runner_of_thread;

struct RunnerOwner {
    ~RunnerOwner()
    {
        Runner *r = runner_of_thread;
        if (!r) return;
        munmap(r->stack, MAX_THREADS * (STACK + (size_t)getpagesize()));
        delete r;
        runner_of_thread = nullptr;
    }
};
thread_local RunnerOwner runner_owner;

Runner *runner()
{
    if (__builtin_expect(!runner_of_thread, 0)) {
        Runner *r = new Runner();
        size_t bytes = MAX_THREADS * (STACK + (size_t)getpagesize());
        void *stack = mmap(nullptr, bytes, PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (stack == MAP_FAILED) perror("the host runtime: stacks"), _exit(70);
        r->stack = (char *)stack;
        runner_of_thread = r;
        (void)&runner_owner;    // constructs it: its destructor will run
    }
    return runner_of_thread;
}

// Stack number `number`; below it lies a page that stays a guard.
char *stack_of(Runner *r, int number)
{
    size_t page = (size_t)getpagesize();
    return r->stack + (size_t)number * (STACK + page) + page;
}

// Tops are staggered over a page: equal distances would put them all into the
// same few sets of the cache.
char *stack_top(Runner *r, int number)
{
    for (; r->stacks <= number; r->stacks++)
        if (mprotect(stack_of(r, r->stacks), STACK, PROT_READ | PROT_WRITE))
            perror("the host runtime: stacks"), _exit(70);
    return stack_of(r, number) + STACK - number * 192 % 4096;
}

void run_threads();

void prepare_thread(Runner *r, int thread)
{
    fiber_prepare(&r->waiting[thread].fiber, stack_top(r, r->fibers++),
                  run_threads);
}

void enter_warp(Runner *r, int first)
{
    r->first = first;
    r->lanes = r->threads - first < WARP ? r->threads - first : WARP;
    r->at_warp = r->at_block = r->ended = 0;
}

void begin_thread(Runner *r)
{
    unsigned t = (unsigned)r->thread;
    threadIdx = {t % blockDim.x, t / blockDim.x % blockDim.y,
                 t / blockDim.x / blockDim.y};
    r->begun++;
}

// The counters as they would stand had they been kept: the threads before this
// one have all ended.
void leave_plain(Runner *r)
{
    host_plain = false;
    r->thread = (int)threadIdx.x;
    r->begun = r->thread + 1;
    enter_warp(r, r->thread / WARP * WARP);
    r->ended = r->thread % WARP;
    r->warps_ended = r->thread / WARP;
}

// Reports that the threads disagree and leaves the block for good.
[[noreturn]] void abandon_block(const char *why)
{
    Runner *r = runner();
    report("kernel %s, step %d: block (%u, %u, %u): %s", r->launch->kernel,
           r->launch->step, blockIdx.x, blockIdx.y, blockIdx.z, why);
    r->failed = true;
    fiber_switch(&r->nowhere, &r->caller);
    __builtin_unreachable();
}

[[noreturn]] void abandon_diverged(Runner *r)
{
    char why[200];
    if (r->at_warp + r->at_block + r->ended == r->lanes &&
        (r->at_warp || (r->at_block && r->ended)))
        snprintf(why, sizeof why,
                 "barrier divergence in the warp of threads %d to %d: %d wait "
                 "at __syncthreads, %d at a warp's barrier or shuffle, and %d "
                 "have ended", r->first, r->first + r->lanes - 1, r->at_block,
                 r->at_warp, r->ended);
    else
        snprintf(why, sizeof why,
                 "barrier divergence: the threads of %d warps wait at "
                 "__syncthreads, those of %d have ended", r->warps_at_block,
                 r->warps_ended);
    abandon_block(why);
}

// All lanes of the running warp have stopped: the thread that runs next.
int close_circle(Runner *r)
{
    if (r->at_warp == r->lanes) {
        r->at_warp = 0;
        r->side ^= 1;
        return r->thread;
    }
    if (r->at_block == r->lanes) r->warps_at_block++;
    else if (r->ended == r->lanes) r->warps_ended++;
    else abandon_diverged(r);
    if (r->warps_at_block + r->warps_ended == r->warps) {
        if (r->warps_ended == r->warps) return OVER;
        if (r->warps_ended) abandon_diverged(r);
        r->warps_at_block = 0;
        r->at_block = 0;
        return r->thread;
    }
    int next = r->first + WARP;
    enter_warp(r, next < r->threads ? next : 0);
    return r->first;
}

inline int next_thread(Runner *r)
{
    if (r->at_warp + r->at_block + r->ended == r->lanes) return close_circle(r);
    int next = r->thread + 1;
    return next == r->first + r->lanes ? r->first : next;
}

// The running thread, which has been counted as waiting, lets others run until
// its barrier opens.
__attribute__((noinline)) void wait(Runner *r)
{
    int thread = r->thread, next = next_thread(r);
    if (next == thread) return;
    if (next == r->begun) prepare_thread(r, next);
    Waiting *waiting = &r->waiting[thread];
    waiting->index = threadIdx;
    r->thread = next;
    fiber_switch(&waiting->fiber, &r->waiting[next].fiber);
    r = runner_of_thread;
    threadIdx = r->waiting[r->thread].index;
}

// What a fiber does: it runs threads as long as there is one to begin, then
// gives its place to one that waits, and is itself done for this block.
void run_threads()
{
    Runner *r = runner_of_thread;
    if (!host_plain) begin_thread(r);
    r->launch->threads(r->launch->arguments);
    r = runner_of_thread;
    fiber_switch(&r->nowhere, r->thread == OVER
                                  ? &r->caller
                                  : &r->waiting[r->thread].fiber);
    __builtin_unreachable();
}

void run_block(Runner *r)
{
    r->thread = r->begun = r->fibers = 0;
    r->warps_at_block = r->warps_ended = 0;
    enter_warp(r, 0);
    host_plain = blockDim.y * blockDim.z == 1;
    threadIdx = {0, 0, 0};
    prepare_thread(r, 0);
    fiber_switch(&r->caller, &r->waiting[0].fiber);
}

}

bool host_thread_ended()
{
    Runner *r = runner_of_thread;
    if (host_plain) {
        r->thread = OVER;
        return false;
    }
    r->ended++;
    r->thread = next_thread(r);
    if (r->thread != r->begun) return false;
    begin_thread(r);
    return true;
}

void __syncthreads()
{
    Runner *r = runner_of_thread;
    if (host_plain) leave_plain(r);
    r->at_block++;
    wait(r);
}

static void wait_for_warp(Runner *r, unsigned mask)
{
    if (mask != 0xffffffffu)
        abandon_block("a warp intrinsic with a partial mask, which this "
                      "runtime does not have");
    r->at_warp++;
    wait(r);
}

void __syncwarp(unsigned mask)
{
    Runner *r = runner_of_thread;
    if (host_plain) leave_plain(r);
    wait_for_warp(r, mask);
}

// Two halves take turns: a lane can be one exchange ahead of another that has
// still to read, never two.
const unsigned char *host_exchange(const void *value, size_t bytes,
                                   unsigned mask, int *lane, int *lanes)
{
    Runner *r = runner_of_thread;
    if (host_plain) leave_plain(r);
    unsigned char *offers = r->offers[r->side];
    *lane = r->thread - r->first;
    *lanes = r->lanes;
    memcpy(offers + 8 * *lane, value, bytes);
    wait_for_warp(r, mask);
    return offers;
}

bool run_blocks(const HostLaunch &launch, int64_t begin, int64_t end)
{
    Runner *r = runner();
    const HostExtent &grid = launch.grid, &block = launch.block;
    r->launch = &launch;
    r->failed = false;
    gridDim = dim3((unsigned)grid.x, (unsigned)grid.y, (unsigned)grid.z);
    blockDim = dim3((unsigned)block.x, (unsigned)block.y, (unsigned)block.z);
    r->threads = (int)(block.x * block.y * block.z);
    r->warps = (r->threads + WARP - 1) / WARP;
    for (int64_t b = begin; b < end && !r->failed; b++) {
        blockIdx = {(unsigned)(b % grid.x), (unsigned)(b / grid.x % grid.y),
                    (unsigned)(b / grid.x / grid.y)};
        run_block(r);
    }
#ifdef HOST_ASAN
    // Threads that were left in the middle have left their traces.
    if (r->failed)
        for (int k = 0; k < r->stacks; k++)
            __asan_unpoison_memory_region(stack_of(r, k), STACK);
#endif
    return !r->failed;
}
