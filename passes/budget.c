// The search for the cheapest training step within a budget.
//
// remat_search.h has programs for all sizes, cheapest first, by what its model
// says of their peaks.  Here each that might fit is tried: the order, sharing
// and addresses are found anew for it, and the arena that comes of it is what
// counts.  The programs are the same whatever the budget, and more of them are
// tried where it is larger, so more memory never costs more.
#include "budget.h"
#include <inttypes.h>
#include "../ir/figures.h"
#include "remat_graph.h"
#include "remat_search.h"

enum { LEVELS = 128 };          // that the search aims at

// ---- what fits --------------------------------------------------------------

// Whether the model might be wrong enough for this to fit: order and addresses
// are found for the program after it, and slices are counted as whole.
static bool may_fit(int64_t state, const RematChoice *choice, int64_t budget)
{
    return choice->peak - choice->peak / 16 + state <= budget;
}

static int64_t state_bytes(const Graph *g)
{
    int64_t bytes = 0;
    for (ValueId v = 0; v < g->value_count; v++)
        if (g->values[v].persistent)
            bytes += padded(value_bytes(&g->values[v]));
    return bytes;
}

static void refuse(const Graph *g, int64_t arena, int64_t budget)
{
    error(g->diag, (Pos){ .file = NONE },
          "%s %s does not fit in %" PRId64 " bytes (%s); the smallest arena "
          "found for it has %" PRId64 " bytes (%s)", g->name,
          mode_names[g->mode], budget, bytes_text(g->arena, budget), arena,
          bytes_text(g->arena, arena));
    g->diag->over_budget = true;
}

bool fit_budget(Graph *g, const PassOptions *o)
{
    int64_t smallest = arena_after(g, o, NULL, INT64_MAX);
    int64_t state = state_bytes(g);
    if (smallest <= o->budget) return true;
    Remat r = remat_of(g);
    RematChoices all = remat_search(&r, LEVELS);
    for (int32_t k = 1; k < all.count; k++) {
        const RematChoice *choice = &all.choice[k];
        bool last = k == all.count - 1;
        if (!last && !may_fit(state, choice, o->budget)) continue;
        if (arena_after(g, o, &choice->program, o->budget) > o->budget)
            continue;
        g->program = &choice->program;
        return true;
    }
    for (int32_t k = all.count - 1; k > 0; k--) {
        if (k < all.count - 1 && !may_fit(state, &all.choice[k], o->budget))
            break;
        int64_t bytes = arena_after(g, o, &all.choice[k].program, smallest);
        if (bytes < smallest) smallest = bytes;
    }
    refuse(g, smallest, o->budget);
    return false;
}

bool check_budget(const Graph *g, const PassOptions *o)
{
    if (o->budget == 0 || g->arena_bytes <= o->budget) return true;
    if (!g->diag->over_budget) refuse(g, g->arena_bytes, o->budget);
    return false;
}
