// What the files of optimizers say in common.  An optimizer's row begins with
// the parameter and its gradient, then has its states, and ends with the
// header.
#ifndef CNNC_OPTIMIZER_H
#define CNNC_OPTIMIZER_H

#include "../op/op.h"

enum { UPDATED_WEIGHT, UPDATE_GRADIENT, FIRST_STATE };  // operands

// Elements of the parameter that n updates.
int64_t update_count(const Graph *g, const Node *n);
// A thread an element: the kernel is told by its first template argument
// whether the header scales gradients.
void launch_update(const Graph *g, const Node *n, Launch *l,
                   const char *kernel);
// The arguments, and the last template argument, that updates begin with: a
// struct of runtime/ of n's operands in order, but for the header, of the
// weight's decay and of its elements; then the header.
void launch_arrays(const Graph *g, const Node *n, Launch *l, const char *name,
                   double decay);
// Element i of the gradient as it is applied: scaled where the norm is
// clipped or the loss is scaled.
double update_gradient(const Ref *r, int64_t i);
// The rate of this step.
double update_rate(const Ref *r);

#endif
