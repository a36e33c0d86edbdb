// The largest element of each channel of a whole map, and its gradient.
#pragma once
#include <limits.h>
#include <math.h>
#include "../support/vec/cell.cuh"
#include "../support/vec/elementwise.cuh"
#include "../support/vec/identity.cuh"
#include "../support/vec/pixels.cuh"
#include "../support/gemm/product.cuh"

// Largest: an element and its pixel.
struct Largest { real value; int at; };

// larger_place: prefers a NaN, then the larger number, then the earlier place.
static __device__ inline Largest larger_place(Largest a, Largest b)
{
    const bool nan_a = a.value != a.value, nan_b = b.value != b.value;
    if (nan_a != nan_b) return nan_a ? a : b;
    if (nan_a || a.value == b.value) return a.at < b.at ? a : b;
    return a.value > b.value ? a : b;
}

// global_maxpool_forward: y[n,c] = max over p of x[n,p,c], the first of equals or of NaNs; if KEEP,
// index[n,c] is that p; x [N, PIXELS, C].  The block is that of reduce_pixels.  y must not be x.
template <class Shape, bool KEEP, class X = const real *, class Y = real *>
__global__ void global_maxpool_forward(Y y, int *index, X x)
{
    reduce_pixels<Shape>(Largest{-(real)INFINITY, INT_MAX},
                         [x](long long i, long long p) { return Largest{x[i], (int)p}; },
                         larger_place,
                         [y, index](long long j, Largest largest) {
                             y[j] = largest.value;
                             if (KEEP) index[j] = largest.at;
                         });
}

// global_maxpool_gradient: dx[n,p,c] = dy[n,c] if index[n,c] = p, otherwise 0, times the derivative
// of Act at mask; dx and mask [N, PIXELS, C].  A thread takes VEC elements, which must divide C. dx
// may be mask.
template <class Shape, class Act, class DY = const real *, class Mask = const real *,
          class DX = real *>
__global__ void global_maxpool_gradient(DX dx, DY dy, const int *index, Mask mask)
{
    constexpr int V = (int)Shape::VEC;
    constexpr long long count = Shape::N * Shape::PIXELS * Shape::C / V;
    constexpr bool small = count < 1LL << 31;
    FOR_EACH(i, count) {
        const Cell pixel = cell_of(i, Shape::C / V, small);
        const Cell image = cell_of(pixel.row, Shape::PIXELS, small);
        const long long from = image.row * Shape::C + pixel.column * V;
        Vec<V> share;
        for (int j = 0; j < V; j++) {
            const bool here = index[from + j] == image.column;
            share.at[j] = Act::gradient(here ? dy[from + j] : (real)0, mask, i * V + j);
        }
        store_vec(dx, i * V, share);
    }
}
