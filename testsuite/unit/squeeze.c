// Budgets by trial: a net is compiled until it fits.
#include "squeeze.h"

int64_t squeezed_budget(const Input *in, const FrontendOptions *frontend,
                        const PassOptions *o, int percent)
{
    enum { STEP = 5 };
    PassOptions passes = *o;
    const Diag before = *in->diag;
    PlanSize whole, size;
    int64_t budget = 0;

    in->diag->stream = fopen("/dev/null", "w");
    if (measure_plan(in, frontend, &passes, &whole))
        for (int k = percent; k < 100 && budget == 0; k += STEP) {
            passes.budget = whole.arena_bytes / 100 * k;
            if (measure_plan(in, frontend, &passes, &size))
                budget = passes.budget;
            in->diag->error_count = before.error_count;
        }
    fclose(in->diag->stream);
    *in->diag = before;
    return budget;
}
