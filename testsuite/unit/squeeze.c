// Budgets by trial: where a net fits, it fits in more.
#include "squeeze.h"

static bool fits(const Input *in, const FrontendOptions *frontend,
                 const PassOptions *o, int64_t budget)
{
    PassOptions passes = *o;
    PlanSize size;
    int errors = in->diag->error_count;

    passes.budget = budget;
    bool does = measure_plan(in, frontend, &passes, &size) &&
                size.arena_bytes <= budget;
    in->diag->error_count = errors;
    return does;
}

int64_t squeezed_budget(const Input *in, const FrontendOptions *frontend,
                        const PassOptions *o, int percent)
{
    const Diag before = *in->diag;
    PlanSize whole = {0};
    int64_t budget = 0;

    in->diag->stream = fopen("/dev/null", "w");
    bool planned = measure_plan(in, frontend, o, &whole);
    if (planned && fits(in, frontend, o, whole.arena_bytes - 1)) {
        int64_t low = 1, high = whole.arena_bytes - 1;
        while (high - low > ALIGNMENT) {
            int64_t middle = low + (high - low) / 2;
            if (fits(in, frontend, o, middle)) high = middle;
            else low = middle;
        }
        budget = high + (whole.arena_bytes - 1 - high) / 100 * percent;
    }
    fclose(in->diag->stream);
    *in->diag = before;
    return budget;
}
