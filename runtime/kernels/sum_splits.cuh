// Sums of the columns of matrices whose rows are few: the partial sums that the blocks of another
// launch left, or a bias's gradient.
#pragma once
#include "../support/vec/tensor_list.cuh"
#include "../support/vec/last_block.cuh"
#include "../support/vec/real.cuh"

// SplitSums: matrices a [rows, columns_a] and b [rows, columns_b], and their column sums.  A block
// has `width` columns, a power of two up to 256.
template <class Result>
struct SplitSums {
    Result ya, yb;
    const real *a, *b;
    long long columns_a, columns_b, rows;
    int width;
};

// column_sums: ya[c] = the sum over rows of a[row,c] for each array; likewise yb from b.  A block
// has 256 threads.  Thread t of a column sums every (256 / width)-th row from t on, in order; then
// a tree adds the threads up.
template <class Result, int N, class... Last>
__global__ void column_sums(const __grid_constant__ TensorList<SplitSums<Result>, N> arrays,
                            Last... last)
{
    __shared__ real partial[256];
    const int k = arrays.own(), t = (int)threadIdx.x;
    const SplitSums<Result> &of = arrays.item[k];
    const int width = of.width;
    Result ya = of.ya, yb = of.yb;
    const long long all = of.columns_a + of.columns_b;
    const int own = t & (width - 1);
    const long long i = (long long)((int)blockIdx.x - arrays.first[k]) * width + own;
    const bool is_a = i < of.columns_a;
    const long long columns = is_a ? of.columns_a : of.columns_b;
    const real *from = is_a ? of.a + i : of.b + (i - of.columns_a);
    real sum = 0;
    for (long long row = t / width; i < all && row < of.rows; row += 256 / width)
        sum += from[row * columns];
    if (width < 256) {
        partial[t] = sum;
        for (int half = 128; half >= width; half /= 2) {
            __syncthreads();
            if (t < half) partial[t] += partial[t + half];
        }
        sum = partial[t];
    }
    if (t < width && i < all) {
        if (is_a) ya[i] = sum;
        else yb[i - of.columns_a] = sum;
    }
    (last(), ...);
}
