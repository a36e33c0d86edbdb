// Tensor-core products of f16, IEEE's binary16.
#pragma once
#include "../vec/f16.cuh"
#include "mma_16.cuh"

// f16_value: half i of a word as a float; f16 has a sign, 5 bits of exponent, biased by 15, and 10.
#ifndef __CUDACC__
static inline float f16_value(unsigned word, int i)
{
    const unsigned bits = word >> 16 * i & 0xffff, sign = bits >> 15 << 31;
    const unsigned exponent = bits >> 10 & 31, mantissa = bits & 1023;
    if (exponent == 0)
        return __uint_as_float(sign | __float_as_uint((float)mantissa * 0x1p-24f));
    return __uint_as_float(sign | (exponent == 31 ? 255u : exponent + 112) << 23 | mantissa << 13);
}
#endif

// F16: an Element of a TensorTile: operands in f16, sums of floats.  Member multiply is
// mma.m16n8k16 of fragments a and b, added to the lane's sums in its upper and lower row.
struct F16 : Element16<f16> {
    static constexpr unsigned ONES = 0x3c003c00;
    static __device__ void multiply(float *upper, float *lower, const unsigned (&a)[4],
                                    const unsigned *b)
    {
#ifdef __CUDACC__
        asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
            "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+f"(upper[0]), "+f"(upper[1]), "+f"(lower[0]), "+f"(lower[1])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
        mma_on_host<2>(upper, lower, a, b, f16_value, f16_value);
#endif
    }
};
