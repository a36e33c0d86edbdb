// Results of the searches that one answer takes: programs, orders, placements.
// Levers, budgets and ways to wait come to equal problems again and again.
#ifndef CNNC_KNOWN_H
#define CNNC_KNOWN_H

#include <stdbool.h>
#include <stdint.h>
#include "../ir/arena.h"

typedef struct Known Known;

// Which search a key is of.
typedef enum KnownKind {
    KNOWN_PROGRAMS, KNOWN_ORDER, KNOWN_PLACEMENT
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
// A result that was kept for an equal problem; NULL: there is none.
const void *known_find(const Known *known, KnownKey key);
// Where a result of so many bytes is to be kept: NULL if there is no more room,
// for what all results take is bounded.
Arena *known_room(Known *known, int64_t bytes);
// Keeps a result, which lies in that arena.
void known_keep(Known *known, KnownKey key, const void *result);

#endif
