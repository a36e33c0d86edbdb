// The common part of tensor-core products of 16-bit elements.
#pragma once
#include "mma.cuh"
#include "../vec/real.cuh"

// Element16: the base of a TensorTile's Element that is stored as T, of 16 bits.  Rows of a step's
// lanes are read as transposed matrices.
template <class T>
struct Element16 {
    typedef T Stored;
    static constexpr int STEPS = 16;
    static constexpr bool EXACT = true;         // a product with 1 is the factor
    static __device__ Stored store(real x)
    {
        Stored stored;
        stored = x;
        return stored;
    }
    static __device__ real load(Stored x) { return x; }
    template <int CHUNKS>
    static __device__ unsigned exchanged(unsigned row)
    {
        return CHUNKS >= 8 ? row % 8 : row / 2 % 4;
    }
    template <class At, class Order>
    static __device__ int across(int first, int own)
    {
        const int m = own / 8;
        return At::at(first + Order::lanes(m) * 8, Order::steps(m) * 8 + own % 8);
    }
    template <class Order, class Address>
    static __device__ void load_across(unsigned (&word)[4], const Address &at)
    {
        load_transposed_matrices(word, at(0, 0));
    }
    static __device__ unsigned operand(unsigned word) { return word; }
};
