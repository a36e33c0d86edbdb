// Elementwise operators of two operands with broadcasting: an operand with one
// element along an axis is repeated along it.
//
// Their kernels are templates (runtime/support/vec/broadcast.cuh) over the
// operator's functor.
#ifndef CNNC_BINARY_H
#define CNNC_BINARY_H

#include "../op/op.h"

// The build rule: equal ranks, and along each axis equal extents or 1.
ValueId build_broadcast(Build *b);
Shape shape_of_broadcast(const Graph *g, const Node *n);

// The values that the gradient of an operand reads besides dy.
enum {
    READS_A = 1 << 0, READS_B = 1 << 1,
    PASSES = 1 << 2,            // it is dy if the shapes are equal
};
// Makes the gradient of operand k (0: a, 1: b): part 1 + k, and sum_splits if
// the sum is long.  The gradient of the result before its activation is dz.
void broadcast_gradient(Gradient *c, int k, ValueId dz, unsigned from);

extern const AttrSpec broadcast_attrs[];

// Cost and launch of all parts.
void cost_broadcast(const Graph *g, const Node *n, Cost *cost);
void launch_broadcast(const Graph *g, const Node *n, Launch *l);
// Kernel.load of kernel 0.
bool load_broadcast(const Graph *g, const Node *n, Launch *l);

// z = f(a, b), and the contribution of dz to operand k by f; a or b is 0 if the
// gradient does not read it.
void broadcast_reference(const Ref *r, double (*f)(double a, double b));
void broadcast_gradient_reference(const Ref *r,
                                  double (*f)(int k, double dz, double a,
                                              double b));

// The parts of an operator with these references.  A gradient may overwrite dy
// or an operand elementwise if its shape is the result's.  A gradient that is a
// sum may overwrite at most its own operand: a block reads the elements that it
// writes, before it writes them.
#define BROADCAST_KERNELS(forward_rule, gradient_rule)                         \
    { .name = "", .results = "y/", .in_place = "y/a y/b",                      \
      .cost = cost_broadcast, .launch = launch_broadcast,                      \
      .reference = forward_rule, .load = load_broadcast },                     \
    { .name = "grad_a", .operands = "dy~ a?~ b?~ mask?~", .results = "da/",    \
      .in_place = "da/dy da/a da/mask", .cost = cost_broadcast,                \
      .launch = launch_broadcast, .reference = gradient_rule },                \
    { .name = "grad_b", .operands = "dy~ a?~ b?~ mask?~", .results = "db/",    \
      .in_place = "db/dy db/b db/mask", .cost = cost_broadcast,                \
      .launch = launch_broadcast, .reference = gradient_rule },                \
    { .results = NULL }

#endif
