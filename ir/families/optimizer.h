// Optimizers.  The row of an optimizer has the parameter, its gradient, its
// states, and the header, in this order.
#ifndef CNNC_OPTIMIZER_H
#define CNNC_OPTIMIZER_H

#include "../op/op.h"

enum { UPDATED_WEIGHT, UPDATE_GRADIENT, FIRST_STATE };  // operands

// Returns the elements of the parameter that n updates.
int64_t update_count(const Graph *g, const Node *n);
// Launches a kernel with a thread for each element.  Its first template
// arguments are the type of the weight and true if the header scales gradients.
void launch_update(const Graph *g, const Node *n, Launch *l,
                   const char *kernel);
// Adds the first arguments of updates, and their type.  They are a struct of
// runtime/ and the header.  The struct has n's operands in order up to the
// header, the weight decay, the factor of the rate and the number of elements.
void launch_arrays(const Graph *g, const Node *n, Launch *l, const char *name,
                   double decay);
// Add the weight as an argument, or its type.  If the net is pruned, it is a
// PrunedWeight with the parameter's bits, or without.
void launch_weight(const Graph *g, const Node *n, Launch *arrays);
void launch_weight_type(const Graph *g, Launch *l);
// Sets pruned weights to 0, unless the next step makes a new mask (prune.h).
void mask_weights(const Ref *r);
// Adds the factor of the parameter's rate as an argument.
void launch_rate_factor(const Graph *g, const Node *n, Launch *arrays);
// Returns element i of the gradient as applied: scaled if the norm is clipped
// or the loss is scaled.
double update_gradient(const Ref *r, int64_t i);
// Returns the parameter's learning rate of this step.
double update_rate(const Ref *r);

#endif
