// What the files of this runtime say to one another.  Nobody else includes it.
#ifndef CNNC_HOST_HOST_H
#define CNNC_HOST_HOST_H

#include <functional>
#include <memory>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "cuda_runtime.h"
#include "sanitize.h"

enum { MAX_THREADS = 1024, WARP = 32, FILL = 0xff };

// What lasts as long as the program: a thread may still use it while another
// one ends the program.
template <class T>
T &lasting()
{
    return *new T;
}

// errors.cpp.  fail() remembers an error for cudaGetLastError and returns it;
// a sticky one fails every later call.  finish() is what each call ends with:
// it lets the sticky error, if there is one, win.
cudaError_t fail(cudaError_t error);
cudaError_t finish(cudaError_t error);
bool is_sticky(cudaError_t error);
void forget_errors();

// Says on standard error what went wrong, and keeps it for cuda_host_report.
__attribute__((format(printf, 1, 2))) void report(const char *format, ...);

// Whether a kernel of that name has not been mentioned to this function yet.
bool is_first_mention(const char *kernel);

// Whether a variable of the environment is there, and not 0.
static inline bool is_asked(const char *name)
{
    const char *text = getenv(name);
    return text && *text && strcmp(text, "0") != 0;
}

// calls.cpp.  One stands at the head of every call of the program.  `error` is
// what this one was told to fail with, which fail() knows already; a call that
// another makes in its own name does not count.
struct Call {
    cudaError_t error;
    explicit Call(const char *name, int step = -1);
    ~Call();
    Call(const Call &) = delete;
    Call &operator=(const Call &) = delete;
};

// In what is no call of CUDA's but takes memory of its own all the same.
struct Inside {
    Inside();
    ~Inside();
    Inside(const Inside &) = delete;
    Inside &operator=(const Inside &) = delete;
};

// The program gets something that it must give back; ends the program if it
// was to take no more.
void take_resource(const char *call);
void give_resource();

// That step of a plan has been asked for; a graph launched is its step 0.
void note_step(int step);

// memory.cpp.  True if all the bytes lie in device memory (pinned host memory
// counts where `pinned` is true).
bool is_device_memory(const volatile void *pointer, size_t bytes, bool pinned);

// True if a copy may take the bytes for the host's: they lie in one allocation
// of pinned memory, or touch nothing that the runtime allocated or freed.
bool is_host_memory(const void *pointer, size_t bytes);

// True if the bytes touch memory that was freed and is not used again.
bool touches_freed_memory(const void *pointer, size_t bytes);
void add_device_memory(const void *pointer, size_t bytes);

// Opens device memory to the CPU, and shuts it again, where CNNC_HOST_DEFER
// keeps it shut; whoever opens holds the streams' lock.
void open_device_memory(bool open);

// Which allocation of device memory an address lies in; for a signal handler,
// so it does not wait for anybody: false also if the list is being changed.
bool find_guarded(uintptr_t at, size_t *offset, size_t *bytes);

// guard.cpp.  Sets what the CPU may do there, if work is deferred; whether
// opening or shutting changes anything, since openings nest.
void guard_memory(void *start, size_t bytes, bool open);
bool guard_turns(bool open);

// stream.cpp.  Whether the handle is a stream; the legacy one is nullptr.
bool is_stream(cudaStream_t stream);

// CNNC_HOST_DEFER: work waits until somebody waits for it.
bool is_deferring();

// What a stream does, once or (in a graph) as often as it is launched.
typedef std::function<cudaError_t()> Work;
typedef std::shared_ptr<const Work>  WorkRef;

// Whether what is given to the stream is done at once.  If not, put_work()
// appends it to the stream, or to the graph that the stream is capturing.
bool works_at_once(cudaStream_t stream);
cudaError_t put_work(cudaStream_t handle, WorkRef work);

// Does all that has been given to the stream, or to all streams.
cudaError_t finish_stream(cudaStream_t handle);
cudaError_t finish_streams();
void forget_streams();

// The error of a call that may not be made while this thread captures, or
// while any does that forbids it to all; such captures become invalid.
cudaError_t check_capture();

// Whether the stream is capturing; a valid capture becomes invalid.
bool spoil_capture(cudaStream_t handle);
bool is_capturing(cudaStream_t handle);

// Does the work now, or when the stream comes to it.
template <class F>
static inline cudaError_t give_work(cudaStream_t stream, F work)
{
    if (works_at_once(stream)) return work();
    return put_work(stream, std::make_shared<const Work>(std::move(work)));
}

// pool.cpp.  Calls task(context, begin, end) over all of 0..count in pieces,
// on the caller's thread and the pool's, and returns when all are done.
typedef void PoolTask(const void *context, int64_t begin, int64_t end);
void pool_run(int64_t count, PoolTask *task, const void *context);

// Calls task(context, 0, 2) here and task(context, 1, 2) on one of the pool's
// threads, always, however long it takes to come.
void pool_halves(PoolTask *task, const void *context);

// block.cpp.  Runs every `stride`-th of blocks begin..end-1 of the launch, or
// those that `order` has there, on the caller's OS thread; false if threads
// waited for one another for ever, which has been reported.
bool run_blocks(const HostLaunch &launch, const int64_t *order, int64_t begin,
                int64_t end, int64_t stride);

// For ThreadSanitizer: the blocks that the caller's OS thread has run come
// before what it does next.  Not sooner: identities that it makes, or that
// another makes who learns from it, would come after those blocks too.
void blocks_are_over();

// watch.cpp.  A launch, or a call of a library.
struct HostStep {
    int                           number; // in the plan; -1: outside it
    const char                   *call;   // "kernel relu<4>", "a product"
    const char                   *kernel; // null: a call of a library
    const volatile void *const   *pointers;
    int                           count;
};

// Around each, while plans are watched: false, with a report, if it is not what
// the plan has next, or has done what the plan does not say.
bool step_begins(const HostStep &step);
bool step_ends(const HostStep &step);
void forget_arenas(const void *pointer, size_t bytes);
bool has_plan();

// copy_step.cpp: the step whose copy a call of CUDA's is made for; -1: none.
int copy_step();
// From here on its tensor may be copied, or may no longer be; false, with a
// report, if it was not.
bool note_copy(const HostStep &step, bool begins);

// Whether the program may copy there now; false, with a report, between two
// steps of a plan, but of a tensor that a step has begun to copy.  And whether
// only raw_copy() and raw_fill() can do it.
bool may_copy(const void *pointer, size_t bytes);
bool is_trapped(const void *pointer);

// gemm.cpp: C = alpha op(A) op(B) + beta C for arguments that are sound.
template <class T>
struct Product {
    bool     transpose_a, transpose_b;
    int64_t  m, n, k;
    T        alpha;
    const T *a;
    int64_t  lda;
    const T *b;
    int64_t  ldb;
    T        beta;
    T       *c;
    int64_t  ldc;
    bool     tf32;              // A and B are rounded to TF32
};
void gemm(const Product<float> &product);
void gemm(const Product<double> &product);

#endif
