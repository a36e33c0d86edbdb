// Softmax over the last axis, and its logarithm: a warp computes a row, and the
// gradient needs the result alone.
#ifndef CNNC_SOFTMAX_ROWS_H
#define CNNC_SOFTMAX_ROWS_H

#include "../op/op.h"

void cost_softmax_rows(const Graph *g, const Node *n, Cost *cost);
// Launches a kernel of this name, of rows of x, or of dy and y.
void launch_softmax_rows(const Node *n, Launch *l, const char *kernel);

// Sets result 0 row by row: of_row makes `width` elements of `y` from x.
void softmax_rows_reference(const Ref *r,
                            void (*of_row)(const double *x, int64_t width,
                                           double *y));
// Sets dx row by row: of_row makes it from dy and the result y.
void softmax_rows_gradient(const Ref *r,
                           void (*of_row)(const double *dy, const double *y,
                                          int64_t width, double *dx));

#define SOFTMAX_ROWS_KERNELS(forward, forward_rule, gradient, gradient_rule)   \
    { .name = "", .results = "y^%", .in_place = "y/x",                         \
      .cost = cost_softmax_rows, .launch = forward,                            \
      .reference = forward_rule },                                             \
    { .name = "grad", .operands = "dy^ y^", .results = "dx^",                  \
      .in_place = "dx/dy dx/y", .cost = cost_softmax_rows, .launch = gradient, \
      .reference = gradient_rule },                                            \
    { .results = NULL }

#endif
