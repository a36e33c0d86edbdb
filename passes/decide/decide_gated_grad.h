// Which gradients of what drops and of activations behind that are one launch,
// so that no more bytes are alive at once for it.
#ifndef CNNC_DECIDE_GATED_GRAD_H
#define CNNC_DECIDE_GATED_GRAD_H

#include "../pass.h"

// For a training step that is through differentiate: sets g->unfused for pass
// fuse_activation_grad.
void choose_gates(Graph *g, const PassOptions *o);

#endif
