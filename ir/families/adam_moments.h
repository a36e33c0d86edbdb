// Adam and AdamW, which differ only in the weight decay.  Their rows have the
// states m and v, and their arguments the names and the order below.
#ifndef CNNC_ADAM_MOMENTS_H
#define CNNC_ADAM_MOMENTS_H

#include "../op/op.h"

#define MOMENT_ARGS                                                            \
    { "lr", ARG_FLOAT, "1e-3", 0, 1e30, "the learning rate" },                 \
    { "beta1", ARG_FLOAT, "0.9", 0, 1, "decay of the mean gradient, "          \
      "below 1" },                                                       \
    { "beta2", ARG_FLOAT, "0.999", 0, 1, "decay of the mean square, "          \
      "below 1" },                                                       \
    { "epsilon", ARG_FLOAT, "1e-8", 0, 1e30, "added to the root of the mean "  \
      "square" }
extern const AttrSpec moment_attrs[];
extern const char *const moment_states[];

ValueId build_moments(Build *b);
void cost_moments(const Graph *g, const Node *n, Cost *cost);
// decoupled: decays the weight itself instead of adding to the gradient.
void launch_moments(const Graph *g, const Node *n, Launch *l, bool decoupled);
void reference_moments(const Ref *r, bool decoupled);

#endif
