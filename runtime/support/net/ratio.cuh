// Rows that are two sums, or their quotient.
#pragma once
#include "../vec/elementwise.cuh"
#include "../vec/last_block.cuh"
#include "../vec/real.cuh"

// ratio_rows: rows[n] = offset + factor * (a + smooth) / (b + smooth), with quotient 0 if b +
// smooth is 0; rows past samples are 0.  a is the sum over s of sums[0,s,n], b of sums[1,s,n]. sums
// [2, splits, batch]; a thread a row.
template <class... Last>
__global__ void ratio_rows(real *rows, const real *sums, long long samples, long long batch,
                           long long splits, real offset, real factor, real smooth, Last... last)
{
    FOR_OWN(n, batch) {
        real a = smooth, b = smooth;
        for (long long s = 0; s < splits; s++) {
            a += sums[s * batch + n];
            b += sums[(splits + s) * batch + n];
        }
        const real quotient = b == 0 ? (real)0 : a / b;
        rows[n] = n < samples ? offset + factor * quotient : (real)0;
    }
    (last(), ...);
}

// sum_pairs: rows[n] = {a, b}, where a is the sum over s of sums[0,s,n], b of sums[1,s,n].  sums
// [2, splits, batch], rows [batch, 2]; a thread a row.
template <class... Last>
__global__ void sum_pairs(real *rows, const real *sums, long long batch, long long splits,
                          Last... last)
{
    FOR_OWN(n, batch) {
        real a = 0, b = 0;
        for (long long s = 0; s < splits; s++) {
            a += sums[s * batch + n];
            b += sums[(splits + s) * batch + n];
        }
        rows[2 * n] = a;
        rows[2 * n + 1] = b;
    }
    (last(), ...);
}
