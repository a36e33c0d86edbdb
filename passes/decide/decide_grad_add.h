// Decides whether sums of gradients are fused, if the arena is limited.
#ifndef CNNC_DECIDE_GRAD_ADD_H
#define CNNC_DECIDE_GRAD_ADD_H

#include "../pass.h"

// The decision of fuse_grad_add, after differentiate.
PassDecision decide_grad_add(Graph *g, const PassOptions *o);

#endif
