// Copies a box of one array into another: slices, padding and crops, and the
// gradients of these and of concatenations.
#ifndef CNNC_BOX_COPY_H
#define CNNC_BOX_COPY_H

#include "../op/op.h"

// Extents by [OPERAND], [RESULT]: `outer` times rows x columns.  Element r, c
// of the result is the operand's r + down, c + right.
enum { OPERAND, RESULT };
typedef struct Box {
    int64_t outer, rows[2], columns[2];
    int64_t down, right;
} Box;

// Arguments and attributes of a dimension.
#define AXIS_ARG(meaning)                                                      \
    { "axis", ARG_WORD, "channels|height|width|rows", 0, 0, meaning }
// Returns the dimension of the call's operand 0 that an argument names:
// channels is the last, after height and width, rows the first.  NONE after an
// error: a vector has no height.
int build_axis(Build *b, const ArgValue *axis);

// Returns the box in which result index i along the axis is the operand's
// i + start; other dimensions are equal.
Box box_along(Shape operand, Shape result, int axis, int64_t start);
// Returns the box in which result pixel h, w is the operand's h + down, w +
// right.
Box box_of_map(Shape operand, Shape result, int64_t down, int64_t right);

// Returns how the result of a box along an axis is stored in the operand.
Slice slice_of_box(Box box);

// Makes a backward node of part 1, "dy mask?" to "dx", that copies a box.
void gradient_box(Gradient *c, const Op *op);

// The parts of an operator that copies a box and whose gradient does too, with
// functions launch, reference, grad_launch and grad_reference.  BOX_GRADIENT
// needs only the latter two.
#define BOX_GRADIENT                                                           \
    { .name = "grad", .operands = "dy/ mask?/", .results = "dx/",              \
      .in_place = "dx/mask", .cost = cost_box, .launch = grad_launch,          \
      .reference = grad_reference }
#define BOX_KERNELS                                                            \
    { .name = "", .results = "y/", .cost = cost_box, .launch = launch,         \
      .reference = reference },                                                \
    BOX_GRADIENT, { .results = NULL }

// Launch, cost and reference of a node that copies the box of operand 0 to
// result 0; an operand 1 is a mask.  Elements outside of the operand are
// `outside`.
void launch_box(Launch *l, const Node *n, Box box, double outside);
void cost_box(const Graph *g, const Node *n, Cost *cost);
void ref_box(const Ref *r, Box box, double outside);

#endif
