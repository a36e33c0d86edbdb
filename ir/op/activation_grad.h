// The gradient of an activation that another operator applies as it stores.
#ifndef CNNC_ACTIVATION_GRAD_H
#define CNNC_ACTIVATION_GRAD_H

#include "op.h"

// The gradient of what the forward node computes before its activation: a new
// backward node makes it from the gradient of result 0, or, without an
// activation, it is that gradient.
ValueId act_gradient(Gradient *c);
// In the reference of a launch with an operand "mask?", number k, that
// fuse_activation_grad may have filled: applies the derivative at it to result
// 0.
void ref_mask(const Ref *r, int k);

#endif
