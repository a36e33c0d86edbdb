// What the two halves of the plan's checker share.
#ifndef CNNC_VERIFY_PLAN_H
#define CNNC_VERIFY_PLAN_H

#include "byte_map.h"
#include "plan.h"

typedef struct Checker {
    Arena      *arena;
    const Plan *plan;
    int32_t    *root;           // the end of a buffer's chain of aliases
    int32_t    *value;          // of its chain of views: the value it holds
    int32_t    *first, *last;   // when it is touched, as worked out here
    int32_t    *begin, *end;    // of its root: the life of all that lie in it
    bool       *written;        // of each value: whether it has been
} Checker;

// Where a buffer ends.
int64_t buffer_end(const PlanBuffer *buffer);
// A map with every address at which a buffer begins or ends.
ByteMap *plan_byte_map(Checker *c);
// verify_replay.c: NULL, or what is wrong.
const char *check_replay(Checker *c);

#endif
