// What the two halves of the plan's checker share.
#ifndef CNNC_VERIFY_PLAN_H
#define CNNC_VERIFY_PLAN_H

#include "byte_owner_map.h"
#include "../plan/plan.h"

typedef struct Checker {
    Arena      *arena;
    const Plan *plan;
    int32_t    *root;           // the end of a buffer's chain of aliases
    int32_t    *value;          // of its chain of views: the value it holds
    int32_t    *first, *last;   // when it is touched, as worked out here
    int32_t    *begin, *end;    // of its root: the life of all that lie in it
    int64_t    *rows;           // of each root: those of the slices in it
    int32_t    *writer;         // of each value: the buffer that was written
                                // last as (part of) it, or NONE
    int32_t    *before;         // of each buffer: the one before it, likewise
} Checker;

// The bytes that a buffer covers.  Of slices, and of the root in which they
// lie, as if that lay column by column, one after the other: a slice is then
// one range, and two overlap or cover each other as they do in the arena.  All
// slices of a root have the same rows, or this would not hold.
typedef struct Span {
    int64_t begin, end;
} Span;
Span buffer_span(const Checker *c, int32_t k);
// A map with every address at which a span begins or ends.
ByteMap *plan_byte_map(Checker *c);
// verify_replay.c: NULL, or what is wrong.
const char *check_replay(Checker *c);

#endif
