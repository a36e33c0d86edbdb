// Sums of the columns of matrices whose rows are few: the partial sums that the blocks of another
// launch left, or a bias's gradient.
#pragma once
#include "../support/elementwise.cuh"
#include "../support/real.cuh"

// column_sums: ya[c] = the sum over rows of a[row,c], in the order of the rows; a [rows,
// columns_a].  Likewise yb from b [rows, columns_b], which is left out where columns_b is 0.
// Result is a pointer, or a Momentum.
template <class Result>
__global__ void column_sums(Result ya, Result yb, const real *a, const real *b, long long columns_a,
                            long long columns_b, long long rows)
{
    FOR_EACH(i, columns_a + columns_b) {
        const long long columns = i < columns_a ? columns_a : columns_b;
        const real *from = i < columns_a ? a + i : b + (i - columns_a);
        real sum = 0;
        for (long long row = 0; row < rows; row++) sum += from[row * columns];
        if (i < columns_a) ya[i] = sum;
        else yb[i - columns_a] = sum;
    }
}
