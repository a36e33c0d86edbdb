// Softmax over the last axis, and its logarithm.
#include "softmax_rows.h"
#include "../op/op_checks.h"

// Elements of a row: the last dimension.
static int64_t row_width(Shape shape)
{
    return shape.dim[shape.rank - 1];
}

// About five operations per element forward: maximum, difference, exponential,
// sum, quotient; four for the gradient.
void cost_softmax_rows(const Graph *g, const Node *n, Cost *cost)
{
    int64_t count = elements(g->values[n->results[0]].shape);
    cost->flops = (n->kernel == 0 ? 5 : 4) * count;
    cost->bytes = cost_bytes(g, n);
}

void launch_softmax_rows(const Node *n, Launch *l, const char *kernel)
{
    Shape shape = l->g->values[n->results[0]].shape;
    int64_t rows = elements(shape) / row_width(shape);
    launch_elements(l, kernel, 32 * rows);      // a warp a row
    launch_slots(l, n, 1, n->operand_count);
    launch_int(l, rows, "rows");
    launch_int(l, row_width(shape), "width");
}

void softmax_rows_reference(const Ref *r,
                            void (*of_row)(const double *x, int64_t width,
                                           double *y))
{
    int64_t count = elements(ref_out(r, 0)), width = row_width(ref_out(r, 0));
    for (int64_t row = 0; row < count; row += width)
        of_row(r->in[0] + row, width, r->out[0] + row);
}

void softmax_rows_gradient(const Ref *r,
                           void (*of_row)(const double *dy, const double *y,
                                          int64_t width, double *dx))
{
    int64_t count = elements(ref_out(r, 0)), width = row_width(ref_out(r, 0));
    for (int64_t row = 0; row < count; row += width)
        of_row(r->in[0] + row, r->in[1] + row, width, r->out[0] + row);
}
