// Sums of the columns of matrices whose rows are few: the partial sums that the blocks of another
// launch left, or a bias's gradient.
#pragma once
#include "../support/vec/tensor_list.cuh"
#include "../support/vec/last_block.cuh"
#include "../support/vec/real.cuh"

// SplitSums: matrices a [rows, columns_a] and b [rows, columns_b], and their column sums.
template <class Result>
struct SplitSums {
    Result ya, yb;
    const real *a, *b;
    long long columns_a, columns_b, rows;
};

// column_sums: ya[c] = the sum over rows of a[row,c], in order, for each array; likewise yb from b.
template <class Result, int N, class... Last>
__global__ void column_sums(const __grid_constant__ TensorList<SplitSums<Result>, N> arrays,
                            Last... last)
{
    const int k = arrays.own();
    const SplitSums<Result> &of = arrays.item[k];
    Result ya = of.ya, yb = of.yb;
    FOR_EACH_OF(i, arrays, k, of.columns_a + of.columns_b) {
        const bool is_a = i < of.columns_a;
        const long long columns = is_a ? of.columns_a : of.columns_b;
        const real *from = is_a ? of.a + i : of.b + (i - of.columns_a);
        real sum = 0;
        for (long long row = 0; row < of.rows; row++) sum += from[row * columns];
        if (is_a) ya[i] = sum;
        else yb[i - of.columns_a] = sum;
    }
    (last(), ...);
}
