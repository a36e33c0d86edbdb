// The gradient of an activation fused into another operator's epilogue.
#ifndef CNNC_ACTIVATION_GRAD_H
#define CNNC_ACTIVATION_GRAD_H

#include "op.h"

// Returns the gradient of the forward node's result before its activation.  It
// is the result of a new backward node, or, without an activation, the gradient
// of result 0.
ValueId act_gradient(Gradient *c);
// Multiplies result 0 by the derivative of the activation at operand k,
// "mask?", which pass fuse_activation_grad may have set.  Used by references.
void ref_mask(const Ref *r, int k);
// Adds operand k, "other", to result 0; both terms and the sum are rounded to
// the result's type, as if each were stored.
void ref_add_other(const Ref *r, int k);

#endif
