// Launches that make a weight's gradient may add it to the momentum as they
// store, so that the gradient has no bytes.  Such a kernel
// (Kernel.with_momentum) has no result.  It reads what the kernel that it
// stands for does, two operands in each that there is, then of each gradient
// the parameter and its momentum, which is updated, and last the header: where
// that says skip, the momentum stays.
//
//     d.w, d.b = conv.wgrad(dy, x)
//     conv.momentum(dy, x, w, w.momentum!, b, b.momentum!, header)
#ifndef CNNC_MOMENTUM_H
#define CNNC_MOMENTUM_H

#include "../op/op.h"

struct Momentum {
    double keep, decay;         // as Op.momentum has it
};

// The operands "weight" of the first gradient and "momentum!" after it.
enum { ACCUMULATED = 2 };

// Whether the node's kernel is one that accumulates.
bool accumulates(const Node *n);

// The argument that stands for gradient k in a kernel: the pointer to result k
// or a Momentum (support/net/momentum.cuh); and the template argument that says
// of what type these are.
void launch_gradient(const Graph *g, const Node *n, Launch *l, int k);
void launch_gradient_type(const Node *n, Launch *l);

// For references: where gradient k is added up, cleared or, of a momentum, as
// it is before the gradient is added to it; NULL where nothing is to be stored.
double *ref_gradient(const Ref *r, int k);

// What the node costs beside the sums: for each element two multiplications and
// additions.
void cost_momentum(const Graph *g, const Node *n, Cost *cost);

#endif
