// Slices of the batch: what can be given to them, and what a budget asks for.
#ifndef CNNC_BATCH_SPLIT_H
#define CNNC_BATCH_SPLIT_H

#include "pass.h"

// As many slices as there can be.
enum { MOST_SLICES = 32 };

// Of forward node n the most pixels of any map that it reads or makes; 0 where
// its results depend on other samples, or it is no layer.
int64_t split_pixels(const Graph *g, const Node *n);
// What pass batch_split would give slices, over maps of so many pixels and
// more.
typedef struct SplitSize {
    int32_t nodes;
    int64_t bytes;              // of the maps that would then exist in slices
                                // alone, of all samples
} SplitSize;
SplitSize split_size(const Graph *g, int64_t pixels);

// Sets what a budget makes pass batch_split do to a forward graph: the
// cheapest, by the time of all launches, of what fits; nothing where that fits
// and computes nothing again.  Where nothing fits, the smallest.  compile takes
// a copy of g through all passes.
void choose_split(Graph *g, const PassOptions *o,
                  bool (*compile)(Graph *g, const PassOptions *o));

// Leaves slices that a graph asks for where they make its arena smaller or, of
// what fits in a budget, its step cheaper.  Sets split_pixels to 0 where there
// are none to take.
void settle_split(Graph *g, const PassOptions *o,
                  bool (*compile)(Graph *g, const PassOptions *o));

#endif
