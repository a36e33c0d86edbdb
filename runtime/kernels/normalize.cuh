// Images less a mean, over a standard deviation, a channel at a time.
#pragma once
#include <stdint.h>
#include "../support/cell.cuh"
#include "../support/elementwise.cuh"
#include "../support/identity.cuh"
#include "../support/list.cuh"
#include "../support/real.cuh"

// normalize_forward: y[i] = (x[i] / unit - mean[c]) / deviation[c], both [COUNT], channels
// innermost, c = i % C; a list of one number is for all of them.  y may be x where x is real.
template <class Shape, class Source, int MEANS, int DEVIATIONS>
__global__ void normalize_forward(real *y, const Source *x, real unit, List<MEANS> mean,
                                  List<DEVIATIONS> deviation)
{
    FOR_EACH(i, Shape::COUNT) {
        const int c = (int)cell_of(i, Shape::C, Shape::COUNT < 1LL << 31).column;
        const real centred = (real)x[i] / unit - mean.at[MEANS > 1 ? c : 0];
        y[i] = centred / deviation.at[DEVIATIONS > 1 ? c : 0];
    }
}

// normalize_gradient: dx[i] = dy[i] / deviation[c], times the derivative of Act at mask, all
// [COUNT], c = i % C; a list of one number is for all channels.  dx may be dy or mask.
template <class Shape, int DEVIATIONS, class Act>
__global__ void normalize_gradient(real *dx, const real *dy, const real *mask,
                                   List<DEVIATIONS> deviation)
{
    FOR_EACH(i, Shape::COUNT) {
        const int c = (int)cell_of(i, Shape::C, Shape::COUNT < 1LL << 31).column;
        dx[i] = Act::gradient(dy[i] / deviation.at[DEVIATIONS > 1 ? c : 0], mask, i);
    }
}
