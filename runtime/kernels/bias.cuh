// A number a channel, added to every row; its gradient, the sums of columns.
#pragma once
#include "../support/columns.cuh"
#include "../support/elementwise.cuh"
#include "../support/identity.cuh"
#include "../support/real.cuh"

// bias_forward: y[i] = Act(x[i] + bias[i % C]); x, y [count], channels innermost.  y may be x.
template <class Shape, class Act>
__global__ void bias_forward(real *y, const real *x, const real *bias, long long count)
{
    FOR_EACH(i, count) y[i] = Act::forward(x[i] + bias[i % Shape::C]);
}

// bias_gradient: db[s,c] = the sum of dy[row,c] over the rows of split s; dy [ROWS, C],
// db [SPLITS, C].  A thread takes some rows of a column, then the block adds up in a tree.
template <class Shape>
__global__ void bias_gradient(real *db, const real *dy)
{
    typedef ColumnRun<Shape> Run;
    const Run run;
    real sum = 0;
    for (long long row = run.first; row < run.end; row += Run::LANES)
        sum += dy[row * Shape::C + run.c];
    sum = column_total<Run::WIDTH>(sum);
    if (run.leads) db[run.split * Shape::C + run.c] = sum;
}
