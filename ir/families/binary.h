// Operators of two operands that take each pair of elements by itself, where an
// operand that has one element along an axis has it for all of the axis.
//
// Their kernels are templates (runtime/support/vec/broadcast.cuh) over the
// operator's functor.
#ifndef CNNC_BINARY_H
#define CNNC_BINARY_H

#include "../op/op.h"

// The build rule: equal ranks, and along each axis equal sizes or a 1.
ValueId build_broadcast(Build *b);
Shape shape_of_broadcast(const Graph *g, const Node *n);

// What the gradient of an operand is made from besides dy.
enum {
    READS_A = 1 << 0, READS_B = 1 << 1,
    PASSES = 1 << 2,            // dy itself where the shapes are equal
};
// The gradient of operand k (0: a, 1: b) from dz, that of the result before its
// activation: kernel 1 + k, and sum_splits where the sum over the axes is long.
void broadcast_gradient(Gradient *c, int k, ValueId dz, unsigned from);

extern const AttrSpec broadcast_attrs[];

// All kernels: cost and launch.
void cost_broadcast(const Graph *g, const Node *n, Cost *cost);
void launch_broadcast(const Graph *g, const Node *n, Launch *l);
// Kernel.load of kernel 0.
bool load_broadcast(const Graph *g, const Node *n, Launch *l);

// z = f(a, b), and what f says that dz gives to operand k; where the gradient
// is not made from a or b, that is 0.
void broadcast_reference(const Ref *r, double (*f)(double a, double b));
void broadcast_gradient_reference(const Ref *r,
                                  double (*f)(int k, double dz, double a,
                                              double b));

// The kernels of an operator with these references.  Where a gradient lies over
// dy or an operand its shape is the result's, and each of its elements is made
// from those at the same place; where it is a sum, it lies over its own operand
// at most, of which a block reads what it writes, before.
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
