// The end of a training step.
#ifndef CNNC_UPDATE_H
#define CNNC_UPDATE_H

#include "../../ir/op/op.h"

// grad_accumulation.c: appends the end of a batch and the start of the update,
// if a training step sums gradients over batches.  Replaces d, the gradient of
// each parameter, by its mean.  The nodes from `statistics` on, which update
// state by forward nodes, move to the end.
void append_accumulation(Graph *g, ValueId *d, int32_t value_count,
                         NodeId statistics);

// Appends the nodes from the parameters' gradients (d of each value below
// value_count, or NONE) to the count of the step.
void append_updates(Graph *g, ValueId *d, int32_t value_count);

// Puts nodes that make the masks of step 0 before all others, if that step
// prunes weights.
void prepend_first_masks(Graph *g);

// quantized_grad.c: merges and moves the nodes that quantization-aware training
// has added, from node `first` on.
void place_quantized(Graph *g, NodeId first);

// loss_scale.c: appends the check of a scaled loss's gradients at the start of
// the update.  If any is not finite, the step is skipped.
void append_overflow_check(Graph *g, const ValueId *d, int32_t value_count);

#endif
