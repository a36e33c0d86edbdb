// Random chains, for tests of passes/remat/chain.h.
#ifndef CNNC_TEST_DRAW_CHAIN_H
#define CNNC_TEST_DRAW_CHAIN_H

#include "../../passes/remat/chain.h"

typedef struct Drawing {
    uint64_t seed;
    uint32_t sizes, costs;      // drawn values are below
    bool     is_plain;          // as in nets: no run is cheaper or takes less
                                // than one for the output alone, and no
                                // gradient is larger than its map
} Drawing;

// Small numbers, so that ties are frequent, or large ones.
Drawing drawing(uint64_t seed);
// Draws the given number of stages, or at most that, with up to MOST_WAYS ways.
Chain *draw_stages(Arena *arena, Drawing *d, int count);
Chain *draw_chain(Arena *arena, Drawing *d, int most);

#endif
