// LAUNCH and the other hooks of emitted files, as this runtime defines them.
//
//     LAUNCH(4, (conv_forward<conv1_shape, relu>), 392, 256, y, x, weight);
//
// runs the kernel on `stream`, which must be in scope: at once, unless streams
// defer.  The number is the step in the plan; -1 is a launch outside it.  The
// arguments are evaluated once, converted to the kernel's parameters as in a
// call, and copied as bytes.
#ifndef CNNC_HOST_LAUNCH_H
#define CNNC_HOST_LAUNCH_H

#include <tuple>
#include <type_traits>
#ifdef CNNC_HOST_PTX                    // a kernel for runtime/ptx
#include <typeinfo>
#define HOST_PTX(type) typeid(type).name(), type::find
#else
#define HOST_PTX(type) nullptr, nullptr
#endif
#include "arguments.h"
#include "cuda_runtime_api.h"
#include "device_language.h"
#include "tile.h"

// An extent as the caller wrote it: numbers that do not fit dim3 must be
// detected, not truncated.
struct HostExtent {
    long long x, y, z;
    HostExtent(dim3 extent) : x(extent.x), y(extent.y), z(extent.z) {}
    template <class T, std::enable_if_t<std::is_integral_v<T> ||
                                        std::is_enum_v<T>, int> = 0>
    HostExtent(T extent) : x((long long)extent), y(1), z(1)
    {
    }
};

struct HostLaunch {
    int          step;
    const char  *kernel;                // as written, with parentheses
    HostExtent   grid, block;
    cudaStream_t stream;
    void       (*threads)(const void *); // runs the remaining threads, or 0
    const void  *arguments;
    const volatile void *const *pointers; // pointers among arguments
    int          pointer_count;
    size_t       argument_bytes;
    const char  *symbol;                // has the kernel's mangled name, or 0
    // Sets the address of each argument; returns their number.  Or null.
    int        (*find)(const void *arguments, const void **each);
    uint64_t     number = 0;            // of launches that have run, this one
};

// launch.cpp: checks and runs a launch.  A failure leaves its error for
// cudaGetLastError, too.
cudaError_t host_launch(const HostLaunch &asked);

// True if the block is one-dimensional and none of its threads has waited yet.
// While it is true, the block is a plain loop.
extern __thread bool host_plain;

// block.cpp: ends the running thread; true if another begins in its place.
bool host_thread_ended();

// The threads of a plain block: one, if it takes the turns of all in an
// elementwise kernel.
extern __thread unsigned host_plain_threads;

static inline bool host_next_thread()
{
    if (__builtin_expect(host_plain, 1) && ++threadIdx.x < host_plain_threads)
        return true;
    return host_thread_ended();
}

// block.cpp: makes thread 0 the only one of its block, if twins are allowed.
void host_be_alone();

static inline bool host_is_alone()
{
    return host_plain_threads < blockDim.x;
}

// The turns of FOR_EACH that the running thread takes, as adjacent ones.
struct HostTurns {
    long long count, each, step, begin, end;
    HostTurns(long long block, long long blocks, long long of)
        : count(of), each(1), step(blocks * blockDim.x)
    {
        host_be_alone();
        if (host_is_alone()) each = blockDim.x;
        end = begin = block * blockDim.x + threadIdx.x - step;
    }
    bool next()
    {
        begin += step;
        end = begin + each < count ? begin + each : count;
        return begin < count;
    }
};
#define ELEMENTWISE host_be_alone()
#define HOST_FOR_EACH(i, block, blocks, count)                                 \
    for (HostTurns turns(block, blocks, count); turns.next();)                 \
        for (long long i = turns.begin; i < turns.end; i++)
#define FOR_EACH(i, count) HOST_FOR_EACH(i, blockIdx.x, gridDim.x, count)
#define FOR_EACH_OF(i, items, k, count)                                        \
    HOST_FOR_EACH(i, (long long)blockIdx.x - items.first[k], items.blocks(k),  \
                  count)

// The limit of a kernel's parameters in bytes, and the end of the last of these
// if each is aligned as its type.
constexpr size_t MAX_PARAMETER_BYTES = 4096;

template <class... P>
constexpr size_t host_parameter_bytes()
{
    size_t end = 0;
    ((end = (end + alignof(P) - 1) / alignof(P) * alignof(P) + sizeof(P)), ...);
    return end;
}

template <auto Kernel>
struct HostKernel;

template <class... P, void (*Kernel)(P...)>
struct HostKernel<Kernel> {
    static_assert(host_parameter_bytes<P...>() <= MAX_PARAMETER_BYTES,
                  "a kernel has at most 4096 bytes of parameters");
    static_assert((std::is_trivially_copyable_v<P> && ...) &&
                      alignof(std::tuple<P...>) <= 16,
                  "a kernel's parameters are copied as bytes");

    // Runs the threads of a block one after another.  The kernel is a constant
    // here, so the compiler can inline it into the loop.
    static void threads(const void *arguments)
    {
        const auto &all = *static_cast<const std::tuple<P...> *>(arguments);
        std::apply(threads_of, all);
    }

    static void threads_of(const P &...argument)
    {
        do
            Kernel(argument...);
        while (host_next_thread());
    }

    static int find(const void *arguments, const void **each)
    {
        const auto &all = *static_cast<const std::tuple<P...> *>(arguments);
        int count = 0;
        std::apply([&](const auto &...a) { ((each[count++] = &a), ...); }, all);
        return count;
    }

    // The maximum of words that can be pointers, members of structs included.
    static constexpr size_t words =
        // NOLINTNEXTLINE(bugprone-sizeof-expression)
        (1 + ... + (1 + sizeof(P) / sizeof(void *)));

    static void launch(int step, const char *name, HostExtent grid,
                       HostExtent block, cudaStream_t stream, P... argument)
    {
        const volatile void *pointers[words];
        HostPointers found = {pointers, 0};
        found.add_all(argument...);
        std::tuple<P...> all(argument...);
        host_launch({step, name, grid, block, stream, threads, &all, pointers,
                     found.count, sizeof all, HOST_PTX(HostKernel)});
    }
};

#define LAUNCH(step, kernel, grid, block, ...)                                 \
    HostKernel<(kernel)>::launch(step, #kernel, grid, block, stream,           \
                                 __VA_ARGS__)

// watch.cpp.  Registers an arena of the emitted program.  Launches with a
// pointer into it must follow the plan.  Returns false, and forgets the arena,
// if its bytes do not all belong to one allocation or __device__ variable.
bool host_arena_at(const void *pointer, size_t bytes);

// blas.cpp.  Makes the next library call of this OS thread that step.
void host_library_step(int step);

// copy_step.cpp.  host_copy_step announces that the next call is that step,
// which begins a copy of a tensor or waits for one.  host_copy_done follows the
// call.
void host_copy_step(int step, const char *name, const void *tensor,
                    cudaStream_t stream);
int host_copy_done(int status, cudaStream_t stream);

#define COPY_STEP(step, name, tensor, call)                                    \
    (host_copy_step(step, name, tensor, stream), host_copy_done(call, stream))
#define ARENA_AT(pointer, bytes) host_arena_at(pointer, bytes)
#define LIBRARY_STEP(step) host_library_step(step)

// block.cpp: ends the running block, as a misaligned access does on a device.
[[noreturn]] void host_misaligned();

// Hooks of kernels.  A vector must be aligned.  UNROLL and ROLL keep a loop as
// it is.  A stored word may alias all types.  mul_add rounds both the product
// and the sum.
template <class T>
static inline T *host_aligned(T *at, size_t bytes)
{
    if ((uintptr_t)at % bytes) host_misaligned();
    return at;
}
#define ALIGNED(pointer, bytes) host_aligned(pointer, bytes)
#define UNROLL
#define ROLL
#ifdef CNNC_HOST_FUSED                  // rounds once, as a GPU: much slower
#include "device_math.h"
static inline float mul_add(float a, float b, float c) { return fmaf(a, b, c); }
static inline double mul_add(double a, double b, double c)
{
    return fma(a, b, c);
}
#else
static inline float mul_add(float a, float b, float c) { return a * b + c; }
static inline double mul_add(double a, double b, double c) { return a * b + c; }
#endif
#define mul_add mul_add
#define STORE_SHARED(pointer, word) __stwb(pointer, word)

#endif
