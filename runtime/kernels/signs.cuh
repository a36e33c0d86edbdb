// Where an activation's gradient passes: a bit an element.
#pragma once
#include "../support/vec/elementwise.cuh"
#include "../support/vec/load.cuh"
#include "../support/vec/real.cuh"

// Signs: 1 where bit i % 8 of byte i / 8 is set, else 0.
struct Signs {
    const unsigned char *bits;
    __device__ real operator[](long long i) const
    {
        return (real)(bits[i / 8] >> (int)(i % 8) & 1);
    }
    template <int V>
    __device__ Vec<V> vec(long long i, int = 0) const { return vec_each<V>(*this, i); }
};

// signs_forward: bits[i] has those of elements 8 * i and on of y [count], set where Act's gradient
// is dy and not 0.  A thread makes single bytes; bits past count are 0.
template <class Act, class Y = const real *>
__global__ void signs_forward(unsigned char *bits, Y y, long long count)
{
    FOR_EACH(i, (count + 7) / 8) {
        unsigned byte = 0;
        for (int j = 0; j < 8 && 8 * i + j < count; j++)
            if (Act::gradient((real)1, y, 8 * i + j) != 0) byte |= 1u << j;
        bits[i] = (unsigned char)byte;
    }
}

// signs_read: y[i] = the i-th of bits, 1 or 0; y [count].
template <class Y = real *>
__global__ void signs_read(Y y, const unsigned char *bits, long long count)
{
    const Signs made = {bits};
    FOR_EACH(i, count) y[i] = made[i];
}
