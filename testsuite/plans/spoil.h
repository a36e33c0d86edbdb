// Corruptions of plans, each of one thing.
#ifndef CNNC_TEST_SPOIL_H
#define CNNC_TEST_SPOIL_H

#include "../../ir/plan/plan.h"

// A plan that may be written to, and the number that draws come from.
typedef struct Spoil {
    Arena      *arena;
    Plan       *plan;
    const Plan *apart;          // the plan if no launches were one step
    uint64_t    seed;
} Spoil;

// One kind of corruption.
typedef struct Spoiler {
    const char *name;
    void      (*spoil)(Spoil *s);
    bool        may_restate;    // half the time lives and bound are then stated
                                // as they follow from the corrupted steps
    bool        printable;      // false: the result can't be printed
} Spoiler;
// Their kinds are numbered from 0.
int count_spoilers(void);
const Spoiler *spoiler_of(int kind);
// It may happen to change nothing.
void corrupt_plan(Spoil *s, int kind);

// planned.c: the graph that a pass with this plan would have made.
// Which launches are one step.
const Graph *grouped_as(Arena *arena, const Graph *g, const Plan *plan);
// And their order, and where values lie.
const Graph *placed_as(Arena *arena, const Graph *g, const Plan *plan);
// True if launches that are one step can be: only the graph's checker checks
// that.
bool can_be_grouped(Arena *arena, const Graph *g, const Plan *plan);
// The plan if no launches were one step.
const Plan *plan_apart(const Graph *g);

// copy.c.
// A copy that shares nothing with the plan but names.
Plan *copy_plan(Arena *arena, const Plan *plan);
bool same_plan(const Plan *a, const Plan *b);
// A step's lists of its own, with room for one more in each.
void copy_step(Arena *arena, PlanStep *step);
// The end of its chain of aliases.
PlanBuffer *root_of(const Plan *plan, PlanBuffer *buffer);
// The lives and the bound that follow from the steps as they are.
void restate(Arena *arena, Plan *plan);
// Says anew which buffers are printed, as the steps now are.
void number_buffers(Arena *arena, Plan *plan);

#endif
