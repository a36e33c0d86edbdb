// The planner is not trusted: every plan goes through the checker, which knows
// nothing of how it was made.
#include <string.h>
#include "pipeline.h"

Plan *run_pipeline(Graph *g, const PassOptions *o)
{
    if (o->stop_after != NULL && strcmp(o->stop_after, "frontend") == 0) {
        verify(g, "the front end");
        return NULL;
    }
    if (!run_passes(g, o)) return NULL;
    Plan *plan = plan_of(g);
    const char *fault = verify_program(g->arena, g, plan);
    if (fault != NULL) bug("the plan is wrong: %s", fault);
    return plan;
}
