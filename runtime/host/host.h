// The interface between the files of this runtime.  No other file includes it.
#ifndef CNNC_HOST_HOST_H
#define CNNC_HOST_HOST_H

#include <functional>
#include <memory>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <vector>
#include "cuda_runtime.h"
#include "sanitize.h"

enum { MAX_THREADS = 1024, WARP = 32, FILL = 0xff };

// Returns an object that is never destroyed, because a thread may still use it
// while another one ends the program.
template <class T>
T &lasting()
{
    return *new T;
}

// errors.cpp.  fail() stores an error for cudaGetLastError and returns it.
// After a sticky error every later call fails.  Each call ends with finish(),
// which returns the sticky error if there is one.
cudaError_t fail(cudaError_t error);
cudaError_t finish(cudaError_t error);
bool is_sticky(cudaError_t error);
void forget_errors();

// Prints a failure on standard error and stores it for cuda_host_report.
__attribute__((format(printf, 1, 2))) void report(const char *format, ...);

// True at the first call of this function with that kernel's name.
bool is_first_mention(const char *kernel);

// True if the environment variable is set, and is not 0.
static inline bool is_asked(const char *name)
{
    const char *text = getenv(name);
    return text && *text && strcmp(text, "0") != 0;
}

// calls.cpp.  Every call of the program begins with a Call.  `error` is the
// error with which tests make this call fail; fail() has stored it.  Calls that
// another call makes itself do not count.
struct Call {
    cudaError_t error;
    explicit Call(const char *name, int step = -1);
    ~Call();
    Call(const Call &) = delete;
    Call &operator=(const Call &) = delete;
};

// Marks code that is no CUDA call but allocates memory of the runtime's own.
struct Inside {
    Inside();
    ~Inside();
    Inside(const Inside &) = delete;
    Inside &operator=(const Inside &) = delete;
};

// Counts a resource that the program must release.  take_resource aborts the
// program if taking resources is forbidden.
void take_resource(const char *call);
void give_resource();

// Notes a request for a step of a plan; a graph launch counts as step 0.
void note_step(int step);

// memory.cpp.  True if all bytes belong to device memory.  With `pinned`,
// pinned host memory counts too.
bool is_device_memory(const volatile void *pointer, size_t bytes, bool pinned);

// The range of device memory, or of pinned memory, that contains the bytes.
struct DeviceRange {
    uintptr_t begin, end;
};
bool find_device_range(uintptr_t at, size_t bytes, DeviceRange *found);

// All ranges of device memory.
std::vector<DeviceRange> device_ranges();

// True if a copy may use the bytes as host memory. Either one allocation of
// pinned memory contains them, or they touch no memory that the runtime
// allocated or freed.
bool is_host_memory(const void *pointer, size_t bytes);

// True if the bytes touch freed memory whose addresses are not in use.
bool touches_freed_memory(const void *pointer, size_t bytes);
void add_device_memory(const void *pointer, size_t bytes);

// Opens device memory to the CPU or closes it, if CNNC_HOST_DEFER protects it.
// The caller must hold the streams' lock.
void open_device_memory(bool open);

// Finds the allocation of device memory that contains an address.  Signal
// handlers call it, so it takes no lock: false also while another thread
// changes the list.
bool find_guarded(uintptr_t at, size_t *offset, size_t *bytes);

// guard.cpp.  guard_memory sets the CPU's access to memory if work is deferred.
// guard_turns is true if opening or closing has an effect, since openings nest.
void guard_memory(void *start, size_t bytes, bool open);
bool guard_turns(bool open);

// stream.cpp.  True if the handle is a stream; the legacy stream is nullptr.
bool is_stream(cudaStream_t stream);

// True with CNNC_HOST_DEFER: work is done only when a call waits for it.
bool is_deferring();

// Work of a stream, done once, or in a graph at every launch.
typedef std::function<cudaError_t()> Work;
typedef std::shared_ptr<const Work>  WorkRef;

// True if the stream does its work at once.  Otherwise put_work() appends the
// work to the stream, or to the graph that captures the stream.
bool works_at_once(cudaStream_t stream);
cudaError_t put_work(cudaStream_t handle, WorkRef work);

// Do all work given to one stream, or to all streams.
cudaError_t finish_stream(cudaStream_t handle);
cudaError_t finish_streams();
void forget_streams();

// Returns the error of a call that is forbidden while this thread captures, or
// while any thread captures in global mode.  Invalidates such captures.
cudaError_t check_capture();

// True if the stream is capturing; invalidates its capture.
bool spoil_capture(cudaStream_t handle);
bool is_capturing(cudaStream_t handle);

// Does the work at once, or when the stream reaches it.
template <class F>
static inline cudaError_t give_work(cudaStream_t stream, F work)
{
    if (works_at_once(stream)) return work();
    return put_work(stream, std::make_shared<const Work>(std::move(work)));
}

// pool.cpp.  Calls task(context, begin, end) for pieces of 0..count on the
// caller's thread and the pool's, and returns when all are done.
typedef void PoolTask(const void *context, int64_t begin, int64_t end);
void pool_run(int64_t count, PoolTask *task, const void *context);

// Calls task(context, 0, 2) on this thread and task(context, 1, 2) on one of
// the pool's threads; it waits for that thread as long as necessary.
void pool_halves(PoolTask *task, const void *context);

// block.cpp.  Runs every `stride`-th of the launch's blocks begin..end-1 on the
// caller's OS thread, in the order `order` if it is not null.  False if threads
// wait for each other forever, which has been reported.
bool run_blocks(const HostLaunch &launch, const int64_t *order, int64_t begin,
                int64_t end, int64_t stride);

// runtime/ptx/host.cpp, if the program has it: runs a launch as PTX.  Function
// `twin` runs it as this program was compiled.
extern "C" __attribute__((weak)) cudaError_t
host_run_ptx(const HostLaunch &launch, cudaError_t (*twin)(const HostLaunch &));

// For ThreadSanitizer: orders the blocks that the caller's OS thread has run
// before its next actions.  An earlier call would also order thread identities
// after those blocks: all that this thread creates later, or another thread
// that synchronizes with it.
void blocks_are_over();

// watch.cpp.  A launch or a library call.
struct HostStep {
    int                           number; // in the plan; -1: outside it
    const char                   *call;   // "kernel relu<4>", "a product"
    const char                   *kernel; // null: a call of a library
    const volatile void *const   *pointers;
    int                           count;
};

// Both surround each step while plans are watched.  Both return false, with a
// report: step_begins if the step contradicts the plan, step_ends if its
// effects do.
bool step_begins(const HostStep &step);
bool step_ends(const HostStep &step);
// The range that contains the bytes, of those that a step may touch: a buffer
// of the step, or memory outside arenas.  Without a plan all memory is.
bool find_step_range(int step, uintptr_t at, size_t bytes, DeviceRange *found);
// All these ranges, which may overlap.
std::vector<DeviceRange> step_ranges(int step);
void forget_arenas(const void *pointer, size_t bytes);
bool has_plan();

// copy_step.cpp.  Returns the step of the copy that a CUDA call makes, or -1.
int copy_step();
// Begins or ends the time in which the step's tensor may be copied.  False,
// with a report, if an ending copy had not begun.
bool note_copy(const HostStep &step, bool begins);

// may_copy is true if the program may copy there now.  Between two steps of a
// plan it is false, with a report, except for tensors with a copy under way.
// Function is_trapped is true if only raw_copy() and raw_fill() may access the
// memory.
bool may_copy(const void *pointer, size_t bytes);
bool is_trapped(const void *pointer);

// gemm.cpp: computes C = alpha op(A) op(B) + beta C for valid arguments.
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

// Rounds to TF32, with 10 bits of mantissa, like operands of tensor cores: to
// nearest, ties away from zero.  Doubles stay, since TF32 has none.
void round_tf32(float *x, int64_t count);
void round_tf32(double *x, int64_t count);

#endif
