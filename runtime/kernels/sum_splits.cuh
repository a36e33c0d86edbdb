// The last step of a sum that several blocks began.
#pragma once
#include "../support/elementwise.cuh"
#include "../support/real.cuh"

// sum_splits_forward: ya[i] = the sum over s of a[s,i], in the order of s; a [splits, count_a],
// ya [count_a].  Likewise yb from b [splits, count_b], which is left out where count_b is 0.
// A thread takes single elements of ya, then of yb.
__global__ void sum_splits_forward(real *ya, real *yb, const real *a, const real *b,
                                   long long count_a, long long count_b, long long splits)
{
    for (long long i = first_element(); i < count_a + count_b; i += element_stride()) {
        const bool is_a = i < count_a;
        const long long count = is_a ? count_a : count_b, at = is_a ? i : i - count_a;
        const real *from = (is_a ? a : b) + at;
        real sum = 0;
        for (long long s = 0; s < splits; s++) sum += from[s * count];
        (is_a ? ya : yb)[at] = sum;
    }
}
