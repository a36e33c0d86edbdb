// Loss scaling: the parts of operator loss_scale, for the passes that insert it
// into a training step.
#ifndef CNNC_LOSS_SCALE_H
#define CNNC_LOSS_SCALE_H

#include "../op/op.h"

// The kernels of the operator.
enum { SCALE_CHECK, SCALE_BEGIN };

// The limits of a dynamic scale: 2^-24 and 2^24.
#define LEAST_LOSS_SCALE (1.0 / 16777216)
#define MOST_LOSS_SCALE  16777216.0

// True if scale is a power of two within these limits.
bool is_loss_scale(double scale);

// True if n checks gradients for overflow; true if it begins the update of a
// training step with a scaled loss.
bool finds_overflow(const Node *n);
bool begins_scaled_update(const Node *n);

#endif
