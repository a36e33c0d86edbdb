// Decides which dropout gradients are fused with the gradient of the preceding
// activation without raising the peak.
#ifndef CNNC_DECIDE_GATED_GRAD_H
#define CNNC_DECIDE_GATED_GRAD_H

#include "../pass.h"

// The decision of fuse_activation_grad, after differentiate.  For a training
// step: sets g->decisions.unfused.
PassDecision decide_gates(Graph *g, const PassOptions *o);

#endif
