// Which gradients of what drops and of activations behind that are one launch,
// so that no more bytes are alive at once for it.
#ifndef CNNC_DECIDE_GATED_GRAD_H
#define CNNC_DECIDE_GATED_GRAD_H

#include "../pass.h"

// The decision of fuse_activation_grad, after differentiate.  For a training
// step: sets g->decisions.unfused.
PassDecision decide_gates(Graph *g, const PassOptions *o);

#endif
