// The end of a training step.
#ifndef CNNC_UPDATE_H
#define CNNC_UPDATE_H

#include "../../ir/op/op.h"

// grad_accumulation.c: where a training step sums gradients over batches, the
// end of a batch and the beginning of the update: from d of each parameter to
// what the update has in its place.  statistics is the first of the nodes, up
// to the last, that take what the state keeps from forward nodes; they move
// behind.
void append_accumulation(Graph *g, ValueId *d, int32_t value_count,
                         NodeId statistics);

// Appends the nodes from the parameters' gradients (d of each value below
// value_count, or NONE) to the count of the step.
void append_updates(Graph *g, ValueId *d, int32_t value_count);

// loss_scale.c: where the loss is scaled, the beginning of the update: whether
// all gradients (d likewise) are finite, or else the step is skipped.
void append_overflow_check(Graph *g, const ValueId *d, int32_t value_count);

#endif
