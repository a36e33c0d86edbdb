// Operators that drop at random while training, and make up for it: dropout
// and its kin.
#ifndef CNNC_RANDOM_DROP_H
#define CNNC_RANDOM_DROP_H

#include "../op/op.h"
#include "../op/op_checks.h"

// Their attributes: the rate, the number in source order, and which sample of
// the batch is the first.
enum { DROP_RATE, DROP_NUMBER, DROP_FIRST };
extern const AttrSpec drop_attrs[];

// The build rule of a call x, rate: outside training x itself, but the number
// is used up, so that every program numbers alike.
ValueId drop_build(Build *b);
// x itself where nothing is dropped.
ValueId drop_simplify(Graph *g, NodeId id);
// Op.rebase_samples.
void drop_rebase(Node *n, int64_t first);
// The gradient is the forward launch, on dy.
void drop_gradient(Gradient *c);

// By how much what goes on is multiplied.
double drop_keep(const Node *n);
// The launch's arguments: y, x, the header, number, threshold, keep, the
// result as [batch, width], and the first sample.
void drop_arguments(const Graph *g, const Node *n, Launch *l);
// Of kernel "gated": dx from dy and the forward result, and the activation's
// gradient at its operand, which is what it is at this result, of equal sign.
void drop_gated_launch(const Graph *g, const Node *n, Launch *l);
void drop_gated_reference(const Ref *r);
#define DROP_GATED                                                             \
    { .name = "gated", .operands = "dy~ mask~", .results = "dx/",              \
      .in_place = "dx/dy dx/mask", .cost = cost_elementwise,                   \
      .launch = drop_gated_launch, .reference = drop_gated_reference }

// Whether the draw for this element of a sample keeps it.
bool drop_keeps(const Ref *r, int64_t sample, int64_t element);

#endif
