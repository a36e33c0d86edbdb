// The integer mode's proof, for one run of a graph: that in single precision
// nothing is rounded, in whatever order sums are made.
#ifndef TESTSUITE_RANDOM_EXACT_H
#define TESTSUITE_RANDOM_EXACT_H

#include "../../ir/op/op.h"

// interpret(), and whether every node is exact.
bool interpret_exactly(const Graph *g, Tensors *t, int64_t samples);

#endif
