// A number a channel, added to every row; its gradient, the sums of columns.
#pragma once
#include "../support/vec/columns.cuh"
#include "../support/vec/elementwise.cuh"
#include "../support/vec/identity.cuh"
#include "../support/vec/real.cuh"

// bias_forward: y[i] = Act(x[i] + bias[i % C]); x, y [count], channels innermost.  y may be x.
template <long long C, class Act, class X = const real *, class Y = real *>
__global__ void bias_forward(Y y, X x, const real *bias, long long count)
{
    FOR_EACH(i, count) y[i] = Act::forward(x[i] + bias[i % C]);
}

// bias_gradient: db[s,c] = the sum of dy[row,c] over the rows of split s; dy [ROWS, C],
// db [SPLITS, C].  A thread takes some rows of a column, then the block adds up in a tree.
template <class Shape, class DY = const real *>
__global__ void bias_gradient(real *db, DY dy)
{
    typedef ColumnRun<Shape> Run;
    const Run run;
    real sum = 0;
    for (long long row = run.first; row < run.end; row += Run::LANES)
        sum += dy[row * Shape::C + run.c];
    sum = column_total<Run::WIDTH>(sum);
    if (run.leads) db[run.split * Shape::C + run.c] = sum;
}

// bias_gradient_few: db[c] = the sum of dy[row,c] over the rows, in order; dy [ROWS, C], few rows.
template <class Shape, class DY = const real *>
__global__ void bias_gradient_few(real *db, DY dy)
{
    FOR_EACH(c, Shape::C) {
        real sum = 0;
        for (long long row = 0; row < Shape::ROWS; row++) sum += dy[row * Shape::C + c];
        db[c] = sum;
    }
}
