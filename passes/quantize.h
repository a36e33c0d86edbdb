// Maps of 8 bits, for pass lower_precision.
#ifndef CNNC_QUANTIZE_H
#define CNNC_QUANTIZE_H

#include "pass.h"

// Stores the maps that are lowered, an entry for each value, as integers of 8
// bits with scales, which become part of the state; then weights.
void quantize(Graph *g, const bool *lowered);

#endif
