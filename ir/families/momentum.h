// Momentum fusion: a launch may add the weight gradient that it computes to the
// momentum.  The gradient then has no bytes.  Such a part (Part.accumulating)
// has no result.  Its operands are: those of the part it replaces (exactly
// two); for each gradient the parameter and its momentum, which is updated; and
// the header.  If the header says skip, momentum is unchanged.
//
//     d.w, d.b = conv.wgrad(dy, x)
//     conv.momentum(dy, x, w, w.momentum!, b, b.momentum!, header)
#ifndef CNNC_MOMENTUM_H
#define CNNC_MOMENTUM_H

#include "../op/op.h"

struct Momentum {
    double keep, decay;         // as in Op.momentum
};

// The index of the first operand "weight"; its "momentum!" follows it.
enum { ACCUMULATED = 2 };

// True if the node's part accumulates.
bool accumulates(const Node *n);

// The argument for gradient k in a kernel: the pointer to result k, or a
// Momentum (support/net/momentum.cuh).  launch_gradient_type adds its type as a
// template argument.
void launch_gradient(const Graph *g, const Node *n, Launch *l, int k);
void launch_gradient_type(const Node *n, Launch *l);

// For references: returns where gradient k is summed: zeros, or the decayed
// momentum before the gradient is added; NULL if it is not stored.
double *ref_gradient(const Ref *r, int k);

// Adds the cost of accumulation: for each element two multiplications and two
// additions.
void cost_momentum(const Graph *g, const Node *n, Cost *cost);

#endif
