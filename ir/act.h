// The gradient of an activation that another operator applies as it stores.
#ifndef CNNC_ACT_H
#define CNNC_ACT_H

#include "op.h"

// The gradient of what the forward node computes before its activation: a new
// backward node makes it from the gradient of result 0, or, without an
// activation, it is that gradient.
ValueId act_gradient(Gradient *c);

#endif
