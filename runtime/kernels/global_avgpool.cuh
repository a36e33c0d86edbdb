// The mean of each channel over a whole map, and its gradient.
#pragma once
#include "../support/vec/cell.cuh"
#include "../support/vec/elementwise.cuh"
#include "../support/vec/identity.cuh"
#include "../support/vec/pixels.cuh"
#include "../support/gemm/product.cuh"

// global_avgpool_forward: y[n,c] = the mean over p of x[n,p,c]; x [N, PIXELS, C].  The block is
// that of reduce_pixels.  The sum starts at -0, which changes no number, so the mean of one pixel
// is that pixel.  y must not be x.
template <class Shape, class X = const real *, class Y = real *>
__global__ void global_avgpool_forward(Y y, X x)
{
    reduce_pixels<Shape>(-(real)0, [x](long long i, long long) { return x[i]; },
                         [](real a, real b) { return a + b; },
                         [y](long long j, real sum) { y[j] = sum / (real)Shape::PIXELS; });
}

// global_avgpool_gradient: dx[n,p,c] = dy[n,c] / PIXELS, times the derivative of Act at mask; dx
// and mask [N, PIXELS, C].  A thread takes VEC elements, which must divide C.  dx may be mask.
template <class Shape, class Act, class DY = const real *, class Mask = const real *,
          class DX = real *>
__global__ void global_avgpool_gradient(DX dx, DY dy, Mask mask)
{
    constexpr int V = (int)Shape::VEC;
    constexpr long long count = Shape::N * Shape::PIXELS * Shape::C / V;
    constexpr bool small = count < 1LL << 31;
    FOR_EACH(i, count) {
        const Cell pixel = cell_of(i, Shape::C / V, small);
        const long long n = cell_of(pixel.row, Shape::PIXELS, small).row;
        Vec<V> share = load_vec<V>(dy, n * Shape::C + pixel.column * V);
        for (int j = 0; j < V; j++)
            share.at[j] = Act::gradient(share.at[j] / (real)Shape::PIXELS, mask, i * V + j);
        store_vec(dx, i * V, share);
    }
}
