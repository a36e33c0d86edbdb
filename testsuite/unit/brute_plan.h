// A plan checked the slow way, byte by byte, to hold the real checker against.
#ifndef CNNC_TEST_BRUTE_PLAN_H
#define CNNC_TEST_BRUTE_PLAN_H

#include "../../ir/plan/plan.h"

// True if the plan keeps every rule of plan_check.py.  For small plans.
bool sound_by_bytes(Arena *arena, const Plan *plan);

#endif
