// The end of a training step.
#ifndef CNNC_UPDATE_H
#define CNNC_UPDATE_H

#include "../ir/op.h"

// Appends the nodes from the parameters' gradients (d of each value below
// value_count, or NONE) to the count of the step.
void append_updates(Graph *g, ValueId *d, int32_t value_count);

#endif
