// Placement: assigns offsets to buffers of known size and lifetime, so that no
// two with overlapping lifetimes overlap and the highest end is low.
// Independent of graphs, so other instances can be placed as well.
//
// place.c        the order of the methods, and the choice of a result
// place_quick.c  near-linear methods: a skyline, and a sweep through time
// place_lowest.c from the ground up: near-linear, too, and repeated with other
//                orders
// place_gaps.c   gaps between placed buffers: quadratic
// place_perfect.c exact search for placements without a gap
// place_search.c exact search for the lowest placement (place_search.h)
#ifndef CNNC_PLACE_H
#define CNNC_PLACE_H

#include <stdbool.h>
#include <stdint.h>
#include "../../ir/base/search_cache.h"

typedef struct Item {
    int32_t first, last;        // first and last step of its life, inclusive
    int64_t size;               // bytes, a multiple of the alignment
    int64_t offset;             // the result
    int64_t lifetime;           // weight of the orders; 0: its number of steps
} Item;

// The work of a thorough search, and of one that finds most of these
// placements.
enum { PLACE_WORK = 100 * 1000 * 1000, TRIAL_WORK = PLACE_WORK / 10 };

// The largest number of items of the exact search.
enum { MOST_BLOCKS = 4096 };

// The goal of a placement.
typedef struct PlaceGoal {
    int64_t height;             // stop at this height in bytes; 0: as low as
                                // possible
    int64_t work;               // limit of the search's inner steps
    bool    is_brief;           // the exact search has 1/32 of them
    bool  (*is_late)(void);     // stops all work when true; NULL: never
    const int64_t *hints;       // each item's offset in a placement of similar
                                // items, negative: unknown; or NULL
} PlaceGoal;

// The state of a placement.  work is the rest of the counted work; methods
// subtract their inner steps, so the result never depends on the clock.
typedef struct Placing {
    Arena   *arena;
    Item    *items;
    int32_t  count, steps;      // steps: 1 + the largest `last`
    int64_t  bound, work;
    int64_t  goal;              // sufficient height: the bound or higher
    int64_t  least;             // proved lower bound: the bound or higher
    int32_t *order;             // items in the order of placing
    int64_t *best;              // offsets of the best placement so far
    int64_t  best_top;
    int64_t *fullest;           // of each item: the largest sum of sizes at a
                                // step of its life; NULL until it is needed
    struct Lowest *lowest;      // of place_lowest; NULL before
    bool   (*is_late)(void);
    int32_t  patience;          // calls before the clock is read again
} Placing;

// Returns the largest sum of sizes alive at once: no placement is lower.
int64_t place_bound(Arena *arena, const Item *items, int32_t count);
// Sets every offset; returns the highest end.
int64_t place(Arena *arena, Item *items, int32_t count);
// Like place, with a goal; *least is a proved lower bound of the height.
int64_t place_towards(Arena *arena, Item *items, int32_t count,
                      const PlaceGoal *goal, int64_t *least);
// place_towards with a goal that has no clock; returns the cached placement if
// an equal call was made before.
int64_t place_or_recall(Known *known, Arena *arena, Item *items, int32_t count,
                        const PlaceGoal *goal);

int64_t item_lifetime(const Item *item);

// Keys of orders; ties go to the larger item, then to the lower index.  FULL
// orders by the fullest step of a life first, then by the other key.
typedef enum OrderBy {
    BY_LIFETIME, BY_SIZE, BY_AREA, BY_FIRST, BY_LAST, BY_OFFSET, ORDER_COUNT,
    BY_FULL_LIFETIME = ORDER_COUNT, BY_FULL_AREA
} OrderBy;
void place_order(Placing *p, OrderBy by);
// The gap between placed buffers that an item takes.
typedef enum GapChoice { LOWEST, TIGHTEST, OUTERMOST, CHOICE_COUNT } GapChoice;
// Keeps the placement in items if it is the best: true if the goal is reached.
bool place_keep(Placing *p, int64_t top);

// Returns the items that have bytes by their first step, or by the step after
// their last.  Those of step t are list[start[t]] to before list[start[t + 1]].
// start has an element for each t of 0 .. steps + 1.
const int32_t *place_list(const Placing *p, bool by_end, int32_t **start);

// True if time is up; then no work is left.
bool place_is_late(Placing *p);

// Each places all items, in the order of p->order if it has a choice, and
// returns the highest end; INT64_MAX if work or time was spent before.
int64_t place_skyline(Placing *p);
int64_t place_lowest(Placing *p);
int64_t place_sweep(Placing *p, bool mirrored, bool best_fit);
int64_t place_gaps(Placing *p, GapChoice choice);
// Like place_gaps, but an item stays at its hint if that is free.
int64_t place_hinted(Placing *p, const int64_t *hints, GapChoice choice);
// The orders that suit place_lowest.
enum { GROUND_ORDERS = 5 };
extern const OrderBy ground_orders[GROUND_ORDERS];
// Repeats place_lowest, first in these orders and then in others, while work is
// left: true if the goal is reached.
bool place_improve(Placing *p);
// Searches for a placement without a gap, if the items fill every step: true if
// it is found.
bool place_perfect(Placing *p);
// Searches for a placement of the goal's height, and for others below the best,
// while work is left: true if the goal is reached.  For at most MOST_BLOCKS
// items.
bool place_search(Placing *p);

#endif
