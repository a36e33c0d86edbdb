// A scaled loss: what the operator loss_scale has for the passes that put it
// into a training step.
#ifndef CNNC_LOSS_SCALE_H
#define CNNC_LOSS_SCALE_H

#include "../op/op.h"

// The kernels of the operator.
enum { SCALE_CHECK, SCALE_BEGIN };

// How far a scale may move: 2^-24 and 2^24.
#define LEAST_LOSS_SCALE (1.0 / 16777216)
#define MOST_LOSS_SCALE  16777216.0

// Whether scale is a power of two within these.
bool is_loss_scale(double scale);

// Whether n looks at gradients; whether it is where the update of a training
// step with a scaled loss begins.
bool finds_overflow(const Node *n);
bool begins_scaled_update(const Node *n);

#endif
