// Runs the threads of a block, all on the calling OS thread.
//
// The threads run one after another in a loop on one fiber, until one of them
// waits at a barrier.  That thread keeps the stack, and the loop continues with
// the next thread on another stack.  So a kernel without barriers is a plain
// loop, and one with barriers needs a stack for each thread.
//
// Order.  The lanes of a warp run in a circle until all have stopped: they wait
// for the warp, wait for the block, or have ended.  Only then the next warp
// runs.  The last thread to arrive at a barrier continues at once, and the
// others follow in the circle.  Hence a few counters are enough: the lanes of
// the running warp that stopped, by cause, and the warps of the block that did.
// If a circle ends and its lanes disagree, the threads have diverged, and some
// would wait forever.  This is reported, and the block is abandoned.
//
// While the block is one-dimensional and no thread has waited (host_plain), the
// counters are not kept; threadIdx.x alone determines the state.
//
// In an order requested by CNNC_HOST_ORDER the counters are always kept, and
// the first thread in order continues after a barrier.  For ThreadSanitizer
// each thread also has its own stack and identity; they synchronize at the
// launch, at barriers and at the end of the block.
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
#include "order.h"
#include "runner.h"
#include "tile.h"

__thread uint3 threadIdx, blockIdx;
__thread dim3 blockDim, gridDim;
__thread bool host_plain;
__thread unsigned host_plain_threads;

namespace {

enum { OVER = -1 };             // a position: the block has ended
constexpr size_t STACK = 256 << 10;

__thread Runner *runner_of_thread;

void forget_identities(Runner *r)
{
    for (void *&identity : r->identity) {
        if (identity) race_destroy(identity);
        identity = nullptr;
    }
}

struct RunnerOwner {
    ~RunnerOwner()
    {
        Runner *r = runner_of_thread;
        if (!r) return;
        forget_identities(r);
        forget_copies(r);
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
        r->self = race_self();
        for (int t = 0; t < MAX_THREADS; t++) r->at[t] = (short)t;
        runner_of_thread = r;
        (void)&runner_owner;    // constructs it, so that its destructor runs
    }
    return runner_of_thread;
}

// Returns stack number `number`.  The page below it is a guard.
UNSEEN char *stack_of(Runner *r, int number)
{
    size_t page = (size_t)getpagesize();
    return r->stack + (size_t)number * (STACK + page) + page;
}

// Returns the top of a stack.  Tops are staggered over a page, since equal
// distances would map them to the same few sets of the cache.
UNSEEN char *stack_top(Runner *r, int number)
{
    for (; r->stacks <= number; r->stacks++)
        if (mprotect(stack_of(r, r->stacks), STACK, PROT_READ | PROT_WRITE))
            perror("the host runtime: stacks"), _exit(70);
    return stack_of(r, number) + STACK - number * 192 % 4096;
}

void run_threads();

UNSEEN void prepare_thread(Runner *r, int thread)
{
    int stack = SEES_RACES ? thread : r->fibers++;
    fiber_prepare(&r->waiting[thread].fiber, stack_top(r, stack), run_threads);
}

UNSEEN void enter_warp(Runner *r, int first)
{
    int left = r->threads - r->at[first] / WARP * WARP;
    r->first = first;
    r->lanes = left < WARP ? left : WARP;
    r->at_warp = r->at_block = r->ended = 0;
    r->mixed_warp = false;
}

UNSEEN void count_threads(Runner *r, int threads)
{
    r->threads = threads;
    r->warps = (threads + WARP - 1) / WARP;
}

UNSEEN void begin_thread(Runner *r)
{
    unsigned t = (unsigned)r->thread;
    threadIdx = {t % blockDim.x, t / blockDim.x % blockDim.y,
                 t / blockDim.x / blockDim.y};
    r->begun++;
}

// Sets the counters to their values after all threads before this one have
// ended.
UNSEEN void leave_plain(Runner *r)
{
    host_plain = false;
    r->thread = r->position = (int)threadIdx.x;
    r->begun = r->thread + 1;
    enter_warp(r, r->thread / WARP * WARP);
    r->ended = r->thread % WARP;
    r->warps_ended = r->thread / WARP;
    for (int t = 0; t < r->thread; t++) r->waiting[t].place.call = HOST_NO_CALL;
}

// Switches from the thread that stopped to the one at r->position.
UNSEEN inline __attribute__((always_inline)) void go_on(Runner *r, Fiber *from)
{
    if (r->position == OVER) {
        race_switch(r->self);
        fiber_switch(from, &r->caller);
    } else {
        race_switch(r->identity[r->thread]);
        fiber_switch(from, &r->waiting[r->thread].fiber);
    }
}

}

UNSEEN void abandon_block(Runner *r, const char *why)
{
    race_switch(r->self);
    report_diverged(r, why);
    r->failed = true;
    fiber_switch(&r->nowhere, &r->caller);
    __builtin_unreachable();
}

UNSEEN void host_misaligned()
{
    abandon_block(running(), "a vector access is not aligned");
}

namespace {

UNSEEN int open_warp(Runner *r)
{
    if (r->mixed_warp)
        abandon_block(r, "barrier divergence: lanes of a warp wait in "
                      "different calls");
    r->at_warp = 0;
    r->side ^= 1;
    if (!r->ordered) return r->position;
    shuffle_lanes(r->at + r->first, r->lanes, &r->random);
    return r->first;
}

UNSEEN int open_block(Runner *r)
{
    if (r->mixed_block)
        abandon_block(r, "barrier divergence: threads wait at different "
                      "barriers");
    r->warps_at_block = r->at_block = 0;
    r->block_side ^= 1;
    r->votes[r->block_side] = false;
    if (!r->ordered) return r->position;
    order_threads(r->at, r->threads, &r->random);
    enter_warp(r, 0);
    return 0;
}

// Returns the position that runs next after all lanes of the warp have stopped.
UNSEEN int close_circle(Runner *r)
{
    if (r->at_warp == r->lanes) return open_warp(r);
    if (r->at_block == r->lanes) r->warps_at_block++;
    else if (r->ended == r->lanes) r->warps_ended++;
    else abandon_block(r, "barrier divergence in a warp");
    if (r->warps_at_block + r->warps_ended == r->warps) {
        if (r->warps_ended == r->warps) return OVER;
        if (r->warps_ended) abandon_block(r, "barrier divergence");
        return open_block(r);
    }
    int next = r->first + r->lanes;
    enter_warp(r, next < r->threads ? next : 0);
    return r->first;
}

// Moves on to the thread that runs next.
UNSEEN inline void next_thread(Runner *r)
{
    int next = r->position + 1;
    if (r->at_warp + r->at_block + r->ended == r->lanes) next = close_circle(r);
    else if (next == r->first + r->lanes) next = r->first;
    r->position = next;
    if (next != OVER) r->thread = r->at[next];
}

// Runs other threads until the barrier of the running thread opens.  The thread
// is already counted as waiting.
UNSEEN __attribute__((noinline)) void wait(Runner *r, uint64_t *meeting)
{
    int thread = r->thread;
    race_release(meeting);
    next_thread(r);
    if (r->thread != thread) {
        if (r->position == r->begun) prepare_thread(r, r->thread);
        Waiting *waiting = &r->waiting[thread];
        waiting->index = threadIdx;
        go_on(r, &waiting->fiber);
        r = runner_of_thread;
        threadIdx = r->waiting[r->thread].index;
    }
    race_acquire(meeting);
}

// The body of a fiber.  It runs threads while there is one to begin, then
// switches to a waiting thread.  It is not used again in this block.
UNSEEN void run_threads()
{
    Runner *r = runner_of_thread;
    if (!host_plain) begin_thread(r);
    race_acquire((void *)r->launch);
    race_acquire(&r->finished[!r->turn]);
    r->launch->threads(r->launch->arguments);
    r = runner_of_thread;
    go_on(r, &r->nowhere);
    __builtin_unreachable();
}

// Called by the OS thread, since an identity is ordered after its creator.
UNSEEN void make_identities(Runner *r, int threads)
{
    for (int t = 0; SEES_RACES && t < threads; t++)
        if (!r->identity[t]) r->identity[t] = race_create();
}

UNSEEN void run_block(Runner *r, int threads)
{
    count_threads(r, threads);
    r->position = r->begun = r->fibers = 0;
    r->warps_at_block = r->warps_ended = 0;
    r->mixed_block = r->votes[r->block_side] = false;
    r->turn ^= 1;
    r->block_count++;
    host_sums = nullptr;
    if (r->ordered) order_threads(r->at, r->threads, &r->random);
    r->thread = r->at[0];
    enter_warp(r, 0);
    host_plain = !r->ordered && !SEES_RACES && blockDim.y * blockDim.z == 1;
    host_plain_threads = blockDim.x;
    threadIdx = {0, 0, 0};
    prepare_thread(r, r->thread);
    go_on(r, &r->caller);
}

}

UNSEEN Runner *running()
{
    Runner *r = runner_of_thread;
    if (host_plain) leave_plain(r);
    return r;
}

UNSEEN void host_be_alone()
{
    if (!host_plain || !host_has_twins || threadIdx.x != 0) return;
    host_plain_threads = 1;
    count_threads(runner_of_thread, 1);
}

UNSEEN bool host_thread_ended()
{
    Runner *r = runner_of_thread;
    if (host_plain) {
        r->position = OVER;
        return false;
    }
    r->waiting[r->thread].place.call = HOST_NO_CALL;
    race_release(&r->finished[r->turn]);
    r->ended++;
    next_thread(r);
    if (r->position != r->begun) return false;
    if (SEES_RACES) {
        prepare_thread(r, r->thread);
        return false;
    }
    begin_thread(r);
    return true;
}

UNSEEN static void wait_for_block(Runner *r, HostPlace place)
{
    r->waiting[r->thread].place = place;
    if (!r->at_block && !r->warps_at_block) r->block_place = place;
    else r->mixed_block |= !same_place(place, r->block_place);
    r->at_block++;
    wait(r, &r->meet_block[r->block_side]);
}

UNSEEN void __syncthreads(HostPlace place)
{
    Runner *r = runner_of_thread;
    if (host_plain) leave_plain(r);
    wait_for_block(r, place);
}

// A thread reads its vote's side before it can come to the next barrier, and
// only that one clears the side.
UNSEEN int __syncthreads_or(int predicate, HostPlace place)
{
    Runner *r = runner_of_thread;
    if (host_plain) leave_plain(r);
    bool &vote = r->votes[r->block_side];
    vote |= predicate != 0;
    wait_for_block(r, place);
    return vote;
}

UNSEEN static void wait_for_warp(Runner *r, unsigned mask,
                                 HostPlace place)
{
    r->waiting[r->thread].place = place;
    if (mask != 0xffffffffu)
        abandon_block(r, "a warp intrinsic with a partial mask, which this "
                      "runtime does not have");
    if (!r->at_warp) r->warp_place = place, r->mixed_warp = false;
    else r->mixed_warp |= !same_place(place, r->warp_place);
    r->at_warp++;
    wait(r, &r->meet_warp[r->thread / WARP][r->side]);
}

UNSEEN void __syncwarp(unsigned mask, HostPlace place)
{
    Runner *r = runner_of_thread;
    if (host_plain) leave_plain(r);
    wait_for_warp(r, mask, place);
}

// Two halves alternate.  A lane can be one exchange ahead of a lane that has
// yet to read, but never two.
UNSEEN const unsigned char *host_exchange(const void *value, size_t bytes,
                                          unsigned mask, HostPlace place,
                                          int *lane, int *lanes)
{
    Runner *r = runner_of_thread;
    if (host_plain) leave_plain(r);
    if (host_is_alone())
        abandon_block(r, "threads of an elementwise kernel exchange values");
    unsigned char *offers = r->offers[r->side];
    *lane = r->thread % WARP;
    *lanes = r->lanes;
    unsigned char *own = offers + (size_t)*lane * ((bytes + 7) / 8 * 8);
    for (size_t i = 0; i < bytes; i++)
        own[i] = ((const unsigned char *)value)[i];
    wait_for_warp(r, mask, place);
    return offers;
}

UNSEEN bool run_blocks(const HostLaunch &launch, const int64_t *order,
                       int64_t begin, int64_t end, int64_t stride)
{
    Runner *r = runner();
    const HostExtent &grid = launch.grid, &block = launch.block;
    r->launch = &launch;
    host_launch_number = launch.number;
    r->failed = false;
    r->ordered = host_order() != AS_IT_COMES;
    gridDim = dim3((unsigned)grid.x, (unsigned)grid.y, (unsigned)grid.z);
    blockDim = dim3((unsigned)block.x, (unsigned)block.y, (unsigned)block.z);
    const int threads = (int)(block.x * block.y * block.z);
    make_identities(r, threads);
    for (int64_t i = begin; i < end && !r->failed; i += stride) {
        int64_t b = order ? order[i] : i;
        blockIdx = {(unsigned)(b % grid.x), (unsigned)(b / grid.x % grid.y),
                    (unsigned)(b / grid.x / grid.y)};
        if (r->ordered) r->random = random_start((uint64_t)b, 1);
        run_block(r, threads);
    }
    if (r->failed) {
        // Threads abandoned midway have left poisoned stacks.
        for (int k = 0; k < r->stacks; k++) untrap(stack_of(r, k), STACK);
        forget_identities(r);
    }
    return !r->failed;
}

UNSEEN void blocks_are_over()
{
    Runner *r = runner();
    race_acquire(&r->finished[0]);
    race_acquire(&r->finished[1]);
}
