// Values that stay in registers, or come from those of other lanes.
#pragma once
#include <string.h>
#include <type_traits>

// of_lane: x of a lane of the warp; a struct consists of words.
template <class T>
static __device__ inline T of_lane(T x, int lane)
{
    if constexpr (std::is_arithmetic_v<T>) return __shfl_sync(0xffffffffu, x, lane);
    unsigned word[sizeof(T) / 4];
    memcpy(word, &x, sizeof x);
    for (unsigned &each : word) each = __shfl_sync(0xffffffffu, each, lane);
    memcpy(&x, word, sizeof x);
    return x;
}
template <class T>
static __device__ inline const T *of_lane(const T *x, int lane)
{
    const long long global = of_lane((long long)__cvta_generic_to_global(x), lane);
    return (const T *)__cvta_global_to_generic((size_t)global);
}

// in_register: x.  The shuffle keeps nvcc from computing an address anew in each iteration.
template <class T>
static __device__ inline T in_register(T x)
{
    return of_lane(x, (int)(threadIdx.x % 32));
}
