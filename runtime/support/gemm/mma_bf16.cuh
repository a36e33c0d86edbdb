// Tensor-core products of bf16, the upper halves of floats.
#pragma once
#include "../vec/bf16.cuh"
#include "mma_16.cuh"

// Bf16: an Element of a TensorTile: operands in bf16, sums of floats.  Member multiply is
// mma.m16n8k16 of fragments a and b, added to the lane's sums in its upper and lower row.
struct Bf16 : Element16<bf16> {
    static constexpr unsigned ONES = 0x3f803f80;
    static __device__ void multiply(float *upper, float *lower, const unsigned (&a)[4],
                                    const unsigned *b)
    {
#ifdef __CUDACC__
        asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
            "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+f"(upper[0]), "+f"(upper[1]), "+f"(lower[0]), "+f"(lower[1])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
        const auto value = [](unsigned word, int i) {
            return __uint_as_float(i ? word & 0xffff0000u : word << 16);
        };
        mma_on_host<2>(upper, lower, a, b, value, value);
#endif
    }
};
