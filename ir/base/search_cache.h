// A cache of the searches of one compilation: schedules, orders, placements.
// Different memory options and budgets often lead to equal problems.
#ifndef CNNC_SEARCH_CACHE_H
#define CNNC_SEARCH_CACHE_H

#include <stdbool.h>
#include <stdint.h>
#include "arena.h"

typedef struct Known Known;

// The search that a key belongs to.
typedef enum KnownKind {
    KNOWN_SCHEDULES, KNOWN_ORDER, KNOWN_PLACEMENT
} KnownKind;

// A 128-bit hash of a problem; problems with equal keys are taken as equal.
typedef struct KnownKey {
    uint64_t low, high;
} KnownKey;

KnownKey key_of_kind(KnownKind kind);
// Adds numbers to a key; their order matters.
void key_add(KnownKey *key, int64_t number);
void key_add_all(KnownKey *key, const int32_t *number, int32_t count);
void key_add_sizes(KnownKey *key, const int64_t *number, int32_t count);
void key_add_flags(KnownKey *key, const bool *flag, int32_t count);

// Makes an empty cache, which is stored in arena.
Known *known_new(Arena *arena);
// Returns the result stored for an equal problem, or NULL.
const void *known_find(const Known *known, KnownKey key);
// Returns the arena for a result of `bytes`; NULL if the space for results,
// which is bounded, is used up.
Arena *known_room(Known *known, int64_t bytes);
// Stores a result, which must be in that arena.
void known_keep(Known *known, KnownKey key, const void *result);

// The work of searches, in units of about a nanosecond, derived from counts
// alone, so that it is deterministic.  Cached searches cost none.
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
