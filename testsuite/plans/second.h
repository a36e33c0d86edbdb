// A checker to compare the compiler's with.
#ifndef CNNC_TEST_SECOND_H
#define CNNC_TEST_SECOND_H

#include "../../ir/plan/plan.h"

// The fault, or NULL; as verify_program.
const char *second_checker(Arena *arena, const Graph *g, const Plan *plan);

#endif
