// Placement: an address for each of many buffers of known size and lifetime,
// so that no two that live together overlap and the highest end is low.  Knows
// nothing of graphs, so an instance from elsewhere can be placed as well.
//
// place.c       the orders to try, and which result is kept
// place_quick.c near-linear methods: a skyline, and a sweep through time
// place_gaps.c  exact gaps between placed buffers, and a local search
#ifndef CNNC_PLACE_H
#define CNNC_PLACE_H

#include <stdbool.h>
#include <stdint.h>
#include "../ir/arena.h"

typedef struct Item {
    int32_t first, last;        // it lives at both of these and between them
    int64_t size;               // a multiple of the alignment
    int64_t offset;             // the answer
} Item;

// A search under way.  work is what is left of the counted work: every method
// takes its inner steps from it, so that a result never depends on the clock.
typedef struct Placing {
    Arena   *arena;
    Item    *items;
    int32_t  count, steps;      // steps: one more than the largest last
    int64_t  bound, work;
    int32_t *order;             // items, in the order to place them in
    int64_t *best;              // offsets of the best placement so far
    int64_t  best_top;
} Placing;

// The largest sum of sizes that live together: no placement is lower.
int64_t place_bound(Arena *arena, const Item *items, int32_t count);
// Sets every offset; returns the highest end.
int64_t place(Arena *arena, Item *items, int32_t count);

// What an order sorts by; ties go to the larger, then to the lower index.
typedef enum OrderBy {
    BY_LIFETIME, BY_SIZE, BY_AREA, BY_FIRST, BY_LAST, BY_OFFSET, ORDER_COUNT
} OrderBy;
void place_order(Placing *p, OrderBy by);
// Which gap between placed buffers a buffer goes into.
typedef enum GapChoice { LOWEST, TIGHTEST, OUTERMOST, CHOICE_COUNT } GapChoice;
// Notes a placement that is in items: true if the bound is reached.
bool place_keep(Placing *p, int64_t top);

// Each places all items, in p->order where it has a choice, and returns the
// highest end.
int64_t place_skyline(Placing *p);
int64_t place_sweep(Placing *p, bool mirrored, bool best_fit);
int64_t place_gaps(Placing *p, GapChoice choice);
// Moves what ends highest to an earlier place in the order, again and again,
// while work is left.
void place_improve(Placing *p);

#endif
