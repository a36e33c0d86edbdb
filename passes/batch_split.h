// Slices of the batch: which nodes can take them, and the choice for a budget.
#ifndef CNNC_BATCH_SPLIT_H
#define CNNC_BATCH_SPLIT_H

#include "trial.h"

// The maximum of slices.
enum { MOST_SLICES = 32 };

// Returns the pixels of the largest map that forward node n reads or makes; 0
// if its results depend on other samples, or it is no layer.
int64_t split_pixels(const Graph *g, const Node *n);
// The nodes that pass batch_split would split, for maps of `pixels` pixels and
// more.
typedef struct SplitSize {
    int32_t nodes;
    int32_t trained;            // of them lead from a trained parameter
    int64_t bytes;              // of the maps that only exist in slices then,
                                // over all samples
} SplitSize;
SplitSize split_size(const Graph *g, int64_t pixels);

// Chooses the slices for a budget and sets them in a forward graph: the
// cheapest candidate that fits, by the time of all launches.  Sets none if the
// whole batch fits without recomputation.  If nothing fits, takes the smallest
// arena.  compile runs all passes on a copy of g.
void choose_split(Graph *g, const PassOptions *o, Compile *compile);

// Keeps the slices that the graph asks for if they make its arena smaller or,
// if both fit in a budget, its step cheaper.  Sets split_pixels to 0 if no node
// can be split.
void settle_split(Graph *g, const PassOptions *o, Compile *compile);

#endif
