// What the files of optimizers say in common.  An optimizer's row begins with
// the parameter and its gradient, then has its states, and ends with the
// header.
#ifndef CNNC_OPTIMIZER_H
#define CNNC_OPTIMIZER_H

#include "op.h"

enum { UPDATED_WEIGHT, UPDATE_GRADIENT, FIRST_STATE };  // operands

// Elements of the parameter that n updates.
int64_t update_count(const Graph *g, const Node *n);
// A thread an element: the kernel gets n's operands in order, and is told by
// its first template argument whether the header scales gradients.
void launch_update(const Graph *g, const Node *n, Launch *l,
                   const char *kernel);
// Element i of the gradient as it is applied: scaled where the norm is
// clipped or the loss is scaled.
double update_gradient(const Ref *r, int64_t i);
// The rate of this step.
double update_rate(const Ref *r);

#endif
