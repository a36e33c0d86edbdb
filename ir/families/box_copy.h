// A box of one array copied into another: what slices, paddings and crops are,
// and the gradients of each other and of joins.
#ifndef CNNC_BOX_COPY_H
#define CNNC_BOX_COPY_H

#include "../op/op.h"

// By [OPERAND], [RESULT]: `outer` times rows x columns.  Result element r, c is
// the operand's r + down, c + right.
enum { OPERAND, RESULT };
typedef struct Box {
    int64_t outer, rows[2], columns[2];
    int64_t down, right;
} Box;

// Arguments and attributes of a dimension and a part of it.
#define AXIS_ARG(meaning)                                                      \
    { "axis", ARG_WORD, "channels|height|width|rows", 0, 0, meaning }
// The dimension of the call's operand 0 that an argument names, channels the
// last, rows the first; NONE after an error: a vector has no height.
int build_axis(Build *b, const ArgValue *axis);

// Result index i along the axis is the operand's i + start; other dimensions
// are equal.
Box box_along(Shape operand, Shape result, int axis, int64_t start);
// Result pixel h, w of a map is the operand's h + down, w + right.
Box box_of_map(Shape operand, Shape result, int64_t down, int64_t right);

// How the result of a box along an axis lies in the operand.
Slice slice_of_box(Box box);

// A backward node of kernel 1, "dy mask?" to "dx", that is a box.
void gradient_box(Gradient *c, const Op *op);

// The kernels of an operator that copies a box, and whose gradient does: with
// functions called launch, reference, grad_launch and grad_reference.  The
// latter two are all that the gradient's kernel needs.
#define BOX_GRADIENT                                                           \
    { .name = "grad", .operands = "dy/ mask?/", .results = "dx/",              \
      .in_place = "dx/mask", .cost = cost_box, .launch = grad_launch,          \
      .reference = grad_reference }
#define BOX_KERNELS                                                            \
    { .name = "", .results = "y/", .cost = cost_box, .launch = launch,         \
      .reference = reference },                                                \
    BOX_GRADIENT, { .results = NULL }

// The launch, cost and reference of a node whose operand 0 and result 0 these
// are; a last operand 1 is a mask.  What lies outside of the operand is
// `outside`.
void launch_box(Launch *l, const Node *n, Box box, double outside);
void cost_box(const Graph *g, const Node *n, Cost *cost);
void ref_box(const Ref *r, Box box, double outside);

#endif
