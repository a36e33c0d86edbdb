// Products of integers of 8 bits without tensor cores, whose sums are integers of 32.
//
// Four adjacent integers are one element, a Quad.  A float holds its bits, and those of each sum.
// So a GemmTile moves Quads as it moves reals.
#pragma once
#include <stdint.h>
#include <type_traits>
#include "product.cuh"

#if defined __CUDA_ARCH__ && __CUDA_ARCH__ < 610
#error "products of integers need sm_61 or later: nvcc -arch=sm_61, or cnnc --precision f32"
#endif

// Quad: four adjacent integers of 8 bits.  It converts to a float with these bits.
struct Quad {
    uint32_t bits;
    __device__ operator real() const { return (real)__uint_as_float(bits); }
};

// add_quads_on_host: the twin of dp4a; left integers have a sign or not, right ones have.
#ifndef __CUDACC__
template <class Left>
static inline int add_quads_on_host(unsigned left, unsigned right, int sum)
{
    for (int i = 0; i < 4; i++) sum += (Left)(left >> 8 * i) * (int8_t)(right >> 8 * i);
    return sum;
}
#endif

// Quads: the Terms of a GemmTile of Quads, by the type of left integers; right ones have a sign.
// Member add is dp4a: the sum of four products, added to `sum`.
template <class Left>
struct Quads {
    static constexpr bool ADDS_INTEGERS = true;
    static __device__ real add(real left, real right, real sum)
    {
        const unsigned a = __float_as_uint((float)left), b = __float_as_uint((float)right);
        int c = __float_as_int((float)sum);
#ifdef __CUDACC__
        if constexpr (std::is_signed_v<Left>)
            asm("dp4a.s32.s32 %0, %1, %2, %0;" : "+r"(c) : "r"(a), "r"(b));
        else
            asm("dp4a.u32.s32 %0, %1, %2, %0;" : "+r"(c) : "r"(a), "r"(b));
#else
        c = add_quads_on_host<Left>(a, b, c);
#endif
        return (real)__int_as_float(c);
    }
};
struct UnsignedQuads : Quads<uint8_t> {};
struct SignedQuads : Quads<int8_t> {};
