// Tensor-core products of integers of 8 bits, whose sums are integers of 32.
//
// Two adjacent integers are one element, a Pair.  So 32 steps of mma.m16n8k32 are 16 Pairs.  They
// have the places of 16 elements of 16 bits, in shared memory and in fragments.  A float holds the
// bits of each sum.
#pragma once
#include <stdint.h>
#include "mma.cuh"
#include "mma_16.cuh"

// Pair: two adjacent integers of 8 bits.  It converts to a float with these bits.
struct Pair {
    uint16_t bits;
    Pair() = default;
    __device__ Pair &operator=(real x)
    {
        bits = (uint16_t)__float_as_uint((float)x);
        return *this;
    }
    __device__ operator real() const { return (real)__uint_as_float(bits); }
};

// byte_value: byte i of a word; those of UnsignedBytes have no sign on the left.
#ifndef __CUDACC__
static inline int byte_value(unsigned word, int i, bool has_sign)
{
    const unsigned byte = word >> 8 * i & 0xff;
    return has_sign ? (int8_t)byte : (int)byte;
}
#endif

// add_bytes_on_host: the twin of mma.m16n8k32; left operands have a sign or not, right ones have.
#ifndef __CUDACC__
static inline void add_bytes_on_host(int (&sum)[4], const unsigned (&a)[4], const unsigned *b,
                                     bool has_sign)
{
    mma_on_host<4>(sum, sum + 2, a, b,
                   [=](unsigned word, int i) { return byte_value(word, i, has_sign); },
                   [](unsigned word, int i) { return byte_value(word, i, true); });
}
#endif

// Integers8: the base of an Element of a TensorTile of Pairs.  Member multiply is mma.m16n8k32 of
// fragments a and b, added to the lane's sums in its upper and lower row.
struct Integers8 : Element16<Pair> {
    static constexpr unsigned ONES = 0x01010101;
    static constexpr bool ADDS_INTEGERS = true;
};

// add_integers: calls instruction(d, e, f, g) with four sums as integers.
template <class Instruction>
static __device__ inline void add_integers(float *upper, float *lower, const Instruction &add)
{
    int sum[4] = {__float_as_int(upper[0]), __float_as_int(upper[1]), __float_as_int(lower[0]),
                  __float_as_int(lower[1])};
    add(sum);
    upper[0] = __int_as_float(sum[0]);
    upper[1] = __int_as_float(sum[1]);
    lower[0] = __int_as_float(sum[2]);
    lower[1] = __int_as_float(sum[3]);
}

// UnsignedBytes: left operands are unsigned, right ones signed.
struct UnsignedBytes : Integers8 {
    static __device__ void multiply(float *upper, float *lower, const unsigned (&a)[4],
                                    const unsigned *b)
    {
        add_integers(upper, lower, [&](int (&sum)[4]) {
#ifdef __CUDACC__
            asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 "
                "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
                : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
            add_bytes_on_host(sum, a, b, false);
#endif
        });
    }
};

// SignedBytes: both operands are signed.
struct SignedBytes : Integers8 {
    static __device__ void multiply(float *upper, float *lower, const unsigned (&a)[4],
                                    const unsigned *b)
    {
        add_integers(upper, lower, [&](int (&sum)[4]) {
#ifdef __CUDACC__
            asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
                "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
                : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
            add_bytes_on_host(sum, a, b, true);
#endif
        });
    }
};
