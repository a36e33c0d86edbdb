// Placement: an address for each of many buffers of known size and lifetime,
// so that no two that live together overlap and the highest end is low.  Knows
// nothing of graphs, so an instance from elsewhere can be placed as well.
//
// place.c        which methods are tried, and which result is kept
// place_quick.c  near-linear methods: a skyline, and a sweep through time
// place_gaps.c   exact gaps between placed buffers: quadratic
// place_search.c a search for the lowest there is (place_search.h)
#ifndef CNNC_PLACE_H
#define CNNC_PLACE_H

#include <stdbool.h>
#include <stdint.h>
#include "../../ir/base/search_cache.h"

typedef struct Item {
    int32_t first, last;        // it lives at both of these and between them
    int64_t size;               // a multiple of the alignment
    int64_t offset;             // the answer
    int64_t lifetime;           // what orders weigh it by; 0: its steps
} Item;

// The work of a thorough search, and of one in which most of what is found at
// all is found.
enum { PLACE_WORK = 300 * 1000 * 1000, TRIAL_WORK = PLACE_WORK / 30 };

// What is asked for.
typedef struct PlaceGoal {
    int64_t height;             // low enough; 0: as low as can be
    int64_t work;               // that the search may take, in its inner steps
    bool  (*is_late)(void);     // ends all work when true; NULL: never
    const int64_t *hints;       // where each item was in a placement of nearly
                                // the same ones, negative: nowhere; or NULL
} PlaceGoal;

// A placement under way.  work is what is left of the counted work: a method
// takes its inner steps from it, so that a result never depends on the clock.
typedef struct Placing {
    Arena   *arena;
    Item    *items;
    int32_t  count, steps;      // steps: one more than the largest last
    int64_t  bound, work;
    int64_t  goal;              // low enough: the bound or higher
    int64_t  least;             // no placement is lower: the bound or higher
    int32_t *order;             // items, in the order to place them in
    int64_t *best;              // offsets of the best placement so far
    int64_t  best_top;
    bool   (*is_late)(void);
    int32_t  patience;          // how often it may still go without asking
} Placing;

// The largest sum of sizes that live together: no placement is lower.
int64_t place_bound(Arena *arena, const Item *items, int32_t count);
// Sets every offset; returns the highest end.
int64_t place(Arena *arena, Item *items, int32_t count);
// The same towards a goal; *least is a height that none can be below, the bound
// or a higher one that was proved.
int64_t place_towards(Arena *arena, Item *items, int32_t count,
                      const PlaceGoal *goal, int64_t *least);
// place_towards with a goal that has no clock, or the placement that an equal
// call has found before.
int64_t place_or_recall(Known *known, Arena *arena, Item *items, int32_t count,
                        const PlaceGoal *goal);

int64_t item_lifetime(const Item *item);

// What an order sorts by; ties go to the larger, then to the lower index.
typedef enum OrderBy {
    BY_LIFETIME, BY_SIZE, BY_AREA, BY_FIRST, BY_LAST, BY_OFFSET, ORDER_COUNT
} OrderBy;
void place_order(Placing *p, OrderBy by);
// Which gap between placed buffers a buffer goes into.
typedef enum GapChoice { LOWEST, TIGHTEST, OUTERMOST, CHOICE_COUNT } GapChoice;
// Notes a placement that is in items: true if the goal is reached.
bool place_keep(Placing *p, int64_t top);

// Whether time is up; from then on no work is left.
bool place_is_late(Placing *p);

// Each places all items, in p->order where it has a choice, and returns the
// highest end; INT64_MAX if work or time was up first.
int64_t place_skyline(Placing *p);
int64_t place_sweep(Placing *p, bool mirrored, bool best_fit);
int64_t place_gaps(Placing *p, GapChoice choice);
// As place_gaps, but an item stays where its hint says if that is free.
int64_t place_hinted(Placing *p, const int64_t *hints, GapChoice choice);
// Looks for a placement of the goal's height, and for lower ones than the best,
// while work is left: true if the goal is reached.  Graphs of thousands of
// buffers are too large for it and are left as they are.
bool place_search(Placing *p);

#endif
