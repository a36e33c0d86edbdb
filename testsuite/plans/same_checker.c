// The checker that corrupt_plans compares with the compiler's: itself.  To plant
// a fault, check_rule.py links a copy of it that lacks a rule.
#include "second.h"

const char *second_checker(Arena *arena, const Graph *g, const Plan *plan)
{
    return verify_program(arena, g, plan);
}
