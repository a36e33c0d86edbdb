// Tensor-core products of floats rounded to TF32, with 10 bits of mantissa.
#pragma once
#include "mma.cuh"

// round_tf32: rounds a float's bits to TF32, to nearest, ties away from zero.
static __device__ inline unsigned round_tf32(unsigned bits)
{
#ifdef __CUDACC__
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(__uint_as_float(bits)));
    return bits;
#else
    const bool finite = (bits & 0x7f800000u) != 0x7f800000u;
    return finite ? (bits + 0x1000u) & ~0x1fffu : bits;
#endif
}

// Tf32: an Element of a TensorTile: the layout of operands in shared memory, and mma.m16n8k8 of two
// rounded fragments a and b. It adds to the lane's sums in its upper and lower row.
struct Tf32 {
    typedef float Stored;
    static constexpr int STEPS = 8;
    static constexpr bool EXACT = false;
    static constexpr unsigned ONES = 0x3f800000;
    static __device__ Stored store(float x) { return x; }
    static __device__ float load(Stored x) { return x; }
    // For rows of a step's lanes, which are read word by word: four rows, eight words of each.
    template <int CHUNKS>
    static __device__ unsigned exchanged(unsigned row) { return 2 * (row % 4); }
    template <class At, class Order>
    static __device__ int across(int first, int own)
    {
        return At::at(first + own / 4, own % 4);
    }
    template <class Order, class Address>
    static __device__ void load_across(unsigned (&word)[4], const Address &at)
    {
        for (int m = 0; m < 4; m++)
            word[m] = __float_as_uint(*at(Order::lanes(m) * 8, Order::steps(m) * 4));
    }
    static __device__ unsigned operand(unsigned word) { return round_tf32(word); }
    static __device__ void multiply(float *upper, float *lower, const unsigned (&a)[4],
                                    const unsigned *b)
    {
#ifdef __CUDACC__
        asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
            "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+f"(upper[0]), "+f"(upper[1]), "+f"(lower[0]), "+f"(lower[1])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
        const auto value = [](unsigned word, int) { return __uint_as_float(word); };
        mma_on_host<1>(upper, lower, a, b, value, value);
#endif
    }
};
