// Results of the searches that one answer takes: schedules, orders, placements.
// Levers, budgets and ways to wait come to equal problems again and again.
#ifndef CNNC_SEARCH_CACHE_H
#define CNNC_SEARCH_CACHE_H

#include <stdbool.h>
#include <stdint.h>
#include "arena.h"

typedef struct Known Known;

// Which search a key is of.
typedef enum KnownKind {
    KNOWN_SCHEDULES, KNOWN_ORDER, KNOWN_PLACEMENT
} KnownKind;

// 128 bits of a problem's numbers: problems with equal keys are equal.
typedef struct KnownKey {
    uint64_t low, high;
} KnownKey;

KnownKey key_of_kind(KnownKind kind);
// Numbers count in the order in which they are added.
void key_add(KnownKey *key, int64_t number);
void key_add_all(KnownKey *key, const int32_t *number, int32_t count);
void key_add_sizes(KnownKey *key, const int64_t *number, int32_t count);
void key_add_flags(KnownKey *key, const bool *flag, int32_t count);

// Empty, and all that is kept, in arena.
Known *known_new(Arena *arena);
// Returns the result that was kept for an equal problem; NULL: there is none.
const void *known_find(const Known *known, KnownKey key);
// Returns the arena to keep a result of `bytes` in; NULL: no room is left, for
// the bytes of all results are bounded.
Arena *known_room(Known *known, int64_t bytes);
// Keeps a result that is stored in that arena.
void known_keep(Known *known, KnownKey key, const void *result);

// The work of an answer, by counts alone; a unit takes about a nanosecond.  A
// search that is recalled costs none.
enum {
    WORK_REMAT_STEP = 25,       // a step in the search for schedules
    WORK_ORDER_STEP = 18,       // a node in the search for an order
    WORK_PLACE_STEP = 1,        // an inner step in the search for addresses
    WORK_TRIAL_NODE = 2500,     // a node of a graph copied for a trial
    WORK_GRAPH_NODE = 25000     // a node of a graph after all passes
};
void known_spend(Known *known, int64_t count, int64_t work);
int64_t known_spent(const Known *known);

#endif
