// State shared by the two files of the plan's checker.
#ifndef CNNC_VERIFY_PLAN_H
#define CNNC_VERIFY_PLAN_H

#include "byte_owner_map.h"
#include "../plan/plan.h"

typedef struct Checker {
    Arena      *arena;
    const Plan *plan;
    int32_t    *root;           // the end of a buffer's chain of aliases
    int32_t    *value;          // the end of its chain of views: its value
    int32_t    *first, *last;   // its lifetime, computed here
    int32_t    *begin, *end;    // of a root: the lifetime with all aliases
    int64_t    *rows;           // of each root: those of its slices
    int32_t    *writer;         // of each value: the buffer written last as (a
                                // part of) it, or NONE
    int32_t    *before;         // of each buffer: the one written before it
} Checker;

// The bytes that a buffer covers.  For slices and their root, the root counts
// as stored column by column.  A slice is then one range, and overlap and
// coverage are the same as in the arena.  This requires that all slices of a
// root have the same rows.
typedef struct Span {
    int64_t begin, end;
} Span;
Span buffer_span(const Checker *c, int32_t k);
// Makes a map with every address at which a span begins or ends.
ByteMap *plan_byte_map(Checker *c);
// verify_replay.c: returns NULL, or the fault.
const char *check_replay(Checker *c);

#endif
