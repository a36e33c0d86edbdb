// Operators that drop elements at random in training and scale the others:
// dropout and stochastic depth.
#ifndef CNNC_RANDOM_DROP_H
#define CNNC_RANDOM_DROP_H

#include "../op/op.h"
#include "../op/op_checks.h"

// Their attributes: the rate, the number in source order, and the number of the
// first sample of the batch.
enum { DROP_RATE, DROP_NUMBER, DROP_FIRST };
extern const AttrSpec drop_attrs[];

// The build rule of a call x, rate.  Outside training it returns x, but counts
// the layer, so that numbers are the same in every program.
ValueId drop_build(Build *b);
// Op.fold: returns x if the rate is 0.
ValueId drop_simplify(Graph *g, NodeId id);
// Op.shift: sets the number of the first sample.
void drop_rebase(Node *n, int64_t first);
// Makes the gradient: the forward launch on dy.
void drop_gradient(Gradient *c);

// Returns the factor of kept elements.
double drop_keep(const Node *n);
// Adds the launch's arguments: y, x, the header, number, threshold, factor, the
// result as [batch, width], and the first sample.
void drop_arguments(const Graph *g, const Node *n, Launch *l);
// Part "gated": dx from dy and the forward result.  It includes the gradient of
// the activation before it, which depends only on the sign of that result.
void drop_gated_launch(const Graph *g, const Node *n, Launch *l);
void drop_gated_reference(const Ref *r);
#define DROP_GATED                                                             \
    { .name = "gated", .operands = "dy~ mask~", .results = "dx/",              \
      .in_place = "dx/dy dx/mask", .cost = cost_elementwise,                   \
      .launch = drop_gated_launch, .reference = drop_gated_reference }

// True if the draw for this element of a sample keeps it.
bool drop_keeps(const Ref *r, int64_t sample, int64_t element);

#endif
