// The language of kernels: qualifiers, built-in variables, barriers, shuffles,
// and the few intrinsics beyond C++'s own mathematics.
//
// The threads of a block are fibers of one OS thread (block.cpp), so the
// built-in variables and shared memory are thread-local.  A block never leaves
// its OS thread, and the next block finds its shared memory, as on a GPU.  Only
// static shared memory exists.  Atomics on real numbers and partial masks are
// missing on purpose: kernels of emitted files may not use them.
#ifndef CNNC_HOST_DEVICE_LANGUAGE_H
#define CNNC_HOST_DEVICE_LANGUAGE_H

#include <cmath>
#include <math.h>
#include <stdint.h>
#include <string.h>
#include "vector_types.h"

#define __global__
#define __device__
#define __host__
#define __constant__
#define __grid_constant__
#define __shared__ static thread_local
#define __launch_bounds__(...)
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(bytes) __attribute__((aligned(bytes)))

// The built-in variables of the running thread.  Access to __thread, unlike
// thread_local, needs no call that checks for construction.
extern __thread uint3 threadIdx, blockIdx;
extern __thread dim3 blockDim, gridDim;
static constexpr int warpSize = 32;

// Makes a thread's earlier writes visible before its later counts.
// ThreadSanitizer derives this order from the atomic count alone.
static inline void __threadfence()
{
#ifndef __SANITIZE_THREAD__
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

#include "atomics.h"

// The place where a thread waits: the call and its source line.  It is a
// default argument, so kernels need not pass it.
enum HostCall {
    HOST_NO_CALL, HOST_SYNCTHREADS, HOST_SYNCTHREADS_OR, HOST_SYNCWARP,
    HOST_SHFL, HOST_SHFL_UP, HOST_SHFL_DOWN, HOST_SHFL_XOR, HOST_BALLOT,
    HOST_ANY, HOST_ALL, HOST_GATHER
};
struct HostPlace {
    const char *file;
    int         line;
    HostCall    call;
};
#define HOST_PLACE(call) {__builtin_FILE(), __builtin_LINE(), call}

// Barriers for all threads of the block, or of the warp.  __syncthreads_or also
// tells if the predicate of any thread was not zero.
void __syncthreads(HostPlace place = HOST_PLACE(HOST_SYNCTHREADS));
int __syncthreads_or(int predicate,
                     HostPlace place = HOST_PLACE(HOST_SYNCTHREADS_OR));
void __syncwarp(unsigned mask = 0xffffffffu,
                HostPlace place = HOST_PLACE(HOST_SYNCWARP));

// Offers the `bytes` at value, at most 32, to the warp and waits until all
// lanes have done so.  Returns the offers by lane, each padded to a multiple of
// eight bytes.  Sets *lane to the caller's lane.
const unsigned char *host_exchange(const void *value, size_t bytes,
                                   unsigned mask, HostPlace place,
                                   int *lane, int *lanes);

// Returns the value of lane `source` of the caller's segment of `width` lanes,
// where source is at(lane in segment).  If there is no such lane, returns the
// caller's own value.
template <class T, class Source>
static inline T host_shuffle(unsigned mask, T value, int width,
                             HostPlace place, Source at)
{
    static_assert(sizeof(T) <= 8, "a shuffle moves at most eight bytes");
    int lane, lanes;
    const unsigned char *offers =
        host_exchange(&value, sizeof value, mask, place, &lane, &lanes);
    int first = lane & ~(width - 1), source = at(lane - first);
    if (source < 0 || source >= width || first + source >= lanes) return value;
    memcpy(&value, offers + 8 * (first + source), sizeof value);
    return value;
}

template <class T>
static inline T __shfl_sync(unsigned mask, T value, int source, int width = 32,
                            HostPlace place = HOST_PLACE(HOST_SHFL))
{
    return host_shuffle(mask, value, width, place,
                        [=](int) { return source & (width - 1); });
}

template <class T>
static inline T __shfl_up_sync(unsigned mask, T value, unsigned delta,
                               int width = 32,
                               HostPlace place = HOST_PLACE(HOST_SHFL_UP))
{
    return host_shuffle(mask, value, width, place,
                        [=](int lane) { return lane - (int)delta; });
}

template <class T>
static inline T __shfl_down_sync(unsigned mask, T value, unsigned delta,
                                 int width = 32,
                                 HostPlace place = HOST_PLACE(HOST_SHFL_DOWN))
{
    return host_shuffle(mask, value, width, place,
                        [=](int lane) { return lane + (int)delta; });
}

template <class T>
static inline T __shfl_xor_sync(unsigned mask, T value, int flip,
                                int width = 32,
                                HostPlace place = HOST_PLACE(HOST_SHFL_XOR))
{
    return host_shuffle(mask, value, width, place,
                        [=](int lane) { return lane ^ flip; });
}

// Bit l of the result is set if lane l's predicate is not zero.
static inline unsigned __ballot_sync(unsigned mask, int predicate,
                                     HostPlace place = HOST_PLACE(HOST_BALLOT))
{
    int lane, lanes;
    unsigned char mine = predicate != 0;
    const unsigned char *offers =
        host_exchange(&mine, 1, mask, place, &lane, &lanes);
    unsigned votes = 0;
    for (int l = 0; l < lanes; l++) votes |= (unsigned)offers[8 * l] << l;
    return votes;
}

static inline int __any_sync(unsigned mask, int predicate,
                             HostPlace place = HOST_PLACE(HOST_ANY))
{
    return __ballot_sync(mask, predicate, place) != 0;
}

static inline int __all_sync(unsigned mask, int predicate,
                             HostPlace place = HOST_PLACE(HOST_ALL))
{
    return __ballot_sync(mask, !predicate, place) == 0;
}

// Returns the `mine` of each lane of the warp, by lane; valid until the
// caller's next warp barrier.  For host versions of operations of a whole warp.
template <class T>
static inline const T *host_gather(const T &mine, int *lane,
                                   HostPlace place = HOST_PLACE(HOST_GATHER))
{
    static_assert(sizeof(T) % 8 == 0 && sizeof(T) <= 32, "lanes lie in a row");
    int lanes;
    return reinterpret_cast<const T *>(
        host_exchange(&mine, sizeof mine, 0xffffffffu, place, lane, &lanes));
}

// async.cpp: copies to shared memory by the running thread: `bytes` bytes from
// `from`, or zeros if not inside.  A copy happens when its thread waits for it;
// until then its target holds 0xff.  host_end_copies ends a group of copies.
// host_wait_for_copies waits for all groups except the last `pending`.
void host_copy_later(void *to, const void *from, int bytes, bool inside);
void host_end_copies();
void host_wait_for_copies(int pending);

template <class T>
static inline T __ldg(const T *pointer)
{
    return *pointer;
}

// Stores a word in memory that may hold elements of any type.
template <class T>
static inline void __stwb(T *pointer, T value)
{
    memcpy((void *)pointer, &value, sizeof value);
}

// min and max of equal types, and of the mixed types that CUDA has.
#define HOST_MIN_MAX(A, B, R)                                                  \
    static inline constexpr R min(A a, B b)                                    \
    {                                                                          \
        return (R)b < (R)a ? (R)b : (R)a;                                      \
    }                                                                          \
    static inline constexpr R max(A a, B b)                                    \
    {                                                                          \
        return (R)a < (R)b ? (R)b : (R)a;                                      \
    }
HOST_MIN_MAX(int, int, int)
HOST_MIN_MAX(unsigned, unsigned, unsigned)
HOST_MIN_MAX(int, unsigned, unsigned)
HOST_MIN_MAX(unsigned, int, unsigned)
HOST_MIN_MAX(long, long, long)
HOST_MIN_MAX(unsigned long, unsigned long, unsigned long)
HOST_MIN_MAX(long long, long long, long long)
HOST_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
#undef HOST_MIN_MAX

// For floating point, ignores a NaN if the other operand is a number, as fmin.
#define HOST_FMIN_FMAX(A, B, R)                                                \
    static inline R min(A a, B b) { return std::fmin((R)a, (R)b); }            \
    static inline R max(A a, B b) { return std::fmax((R)a, (R)b); }
HOST_FMIN_FMAX(float, float, float)
HOST_FMIN_FMAX(double, double, double)
HOST_FMIN_FMAX(float, double, double)
HOST_FMIN_FMAX(double, float, double)
#undef HOST_FMIN_FMAX

static inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
static inline float rsqrt(float x) { return 1.0f / sqrtf(x); }
static inline double rsqrt(double x) { return 1.0 / sqrt(x); }

static inline unsigned __umulhi(unsigned a, unsigned b)
{
    return (unsigned)((uint64_t)a * b >> 32);
}

static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
static inline int __ffs(int x) { return __builtin_ffs(x); }

template <class To, class From>
static inline To host_bits(From value)
{
    static_assert(sizeof(To) == sizeof(From), "bits keep their number");
    To bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline int __float_as_int(float x) { return host_bits<int>(x); }
static inline float __int_as_float(int x) { return host_bits<float>(x); }
static inline unsigned __float_as_uint(float x)
{
    return host_bits<unsigned>(x);
}
static inline long long __double_as_longlong(double x)
{
    return host_bits<long long>(x);
}
static inline float __uint_as_float(unsigned x) { return host_bits<float>(x); }

#endif
