// Schedules of chains from the definition in passes/remat/chain.h alone. They
// come from the effect of each run on stored values, and from the shortest path
// through all that can be stored.
#ifndef CNNC_TEST_BRUTE_CHAIN_H
#define CNNC_TEST_BRUTE_CHAIN_H

#include <stdbool.h>
#include "../../passes/remat/chain.h"

enum { MOST_STAGES = 8, MOST_WAYS = 3 };

// Which of the two rules on schedules hold.
typedef enum BruteRules {
    ANY_PROGRAMME = 0, KEEPS = 1, FINISHES_LAST = 2, ALL_RULES = 3
} BruteRules;

// The least cost within that number of bytes; INT64_MAX if there is no
// schedule.
int64_t brute_cost(Arena *arena, const Chain *c, int64_t capacity,
                   BruteRules rules);
// The fewest bytes that some schedule takes.
int64_t brute_least(Arena *arena, const Chain *c, BruteRules rules);
// Goes through a schedule: false if a run lacks something or breaks a rule, or
// the end is not reached.
bool brute_walk(const Chain *c, const ChainSchedule *p, BruteRules rules,
                int64_t *cost, int64_t *peak);

#endif
