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
#include "host_budget.h"
#include "remat_bound.h"
#include "remat_graph.h"
#include "remat_search.h"

enum {
    LEVELS = 128,               // that the search aims at
    BOUND_STEPS = 4,            // that are asked for the bound
};

typedef struct Budgeter {
    Graph             *g;
    const PassOptions *o;
    Remat              r;
    RematChoices       all;
    int64_t           *arena;   // of each choice's plan; 0: not known yet
    int64_t            state, flops;
    int64_t           *step_flops;
} Budgeter;

// ---- choices and their arenas -----------------------------------------------

static int64_t state_bytes(const Graph *g)
{
    int64_t bytes = 0;
    for (ValueId v = 0; v < g->value_count; v++) {
        const Value *value = &g->values[v];
        if (value->persistent) bytes += padded(value_bytes(value));
    }
    return bytes;
}

static Budgeter new_budgeter(Graph *g, const PassOptions *o)
{
    Budgeter b = { .g = g, .o = o, .r = remat_of(g), .state = state_bytes(g) };
    int32_t steps = 0;
    if (o->checkpoint.kind == CHECKPOINT_ELEMENTWISE)
        remat_spare_products(g, &b.r);
    for (int32_t i = 0; i < b.r.step_count; i++)
        b.r.may_repeat[i] &= o->checkpoint.kind != CHECKPOINT_OFF;
    b.all = remat_search(&b.r, LEVELS);
    b.arena = NEW_ARRAY(g->arena, b.all.count, int64_t);
    b.step_flops = NEW_ARRAY(g->arena, b.r.step_count, int64_t);
    for (NodeId i = 0; i < g->node_count; i++) {
        Cost cost;
        if (!is_launch(&g->nodes[i])) continue;
        node_cost(g, &g->nodes[i], &cost);
        b.step_flops[steps++] = cost.flops;
        b.flops = capped_sum(b.flops, cost.flops);
    }
    return b;
}

// The first choice computes nothing again.  Past `most` bytes it may be any
// number above, which is not kept.
static int64_t arena_within(Budgeter *b, int32_t k, int64_t most)
{
    if (b->arena[k] > 0) return b->arena[k];
    const RematProgram *program = k > 0 ? &b->all.choice[k].program : NULL;
    int64_t bytes = arena_after(b->g, b->o, program, most);
    if (bytes <= most) b->arena[k] = bytes;
    return bytes;
}

static int64_t arena_of(Budgeter *b, int32_t k)
{
    return arena_within(b, k, INT64_MAX);
}

// Whether the model might be wrong enough for this to fit: order and addresses
// are found for the program after it, and slices are counted as whole.
static bool may_fit(const Budgeter *b, int32_t k, int64_t budget)
{
    int64_t peak = b->all.choice[k].peak;
    return peak - peak / 16 + b->state <= budget;
}

static int32_t cheapest_within(Budgeter *b, int64_t budget)
{
    for (int32_t k = 0; k < b->all.count; k++)
        if (may_fit(b, k, budget) && arena_within(b, k, budget) <= budget)
            return k;
    return NONE;
}

// The smallest arena of all whose peaks are about as small as can be.
static int32_t smallest(Budgeter *b)
{
    int32_t found = b->all.count - 1;
    int64_t least = b->all.choice[found].peak;
    for (int32_t k = found - 1; k >= 0; k--) {
        if (b->all.choice[k].peak > least + least / 16) break;
        int64_t fewest = arena_of(b, found);
        if (arena_within(b, k, fewest) < fewest) found = k;
    }
    return found;
}

// ---- what they cost ---------------------------------------------------------

static double part_of(int64_t part, int64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : 0;
}

// Of programs with as few bytes alive as choice k has, in the order of launches
// that there is: what runs again costs so much of the rest.
static double bound_of(const Budgeter *b, int32_t k)
{
    int32_t at;
    if (k == 0) return 0;
    int64_t bound = remat_bound_at_fullest(&b->r, b->all.choice[k].peak,
                                           BOUND_STEPS, &at);
    return part_of(bound, b->all.choice[0].cost);
}

static Overhead overhead_of(const Budgeter *b, int32_t k)
{
    const RematChoice *choice = &b->all.choice[k];
    int64_t flops = -b->flops, once = b->all.choice[0].cost;
    for (int32_t i = 0; i < choice->program.count; i++)
        flops += b->step_flops[choice->program.step[i]];
    return (Overhead){ .launches = choice->program.count - b->r.step_count,
                       .time = part_of(choice->cost - once, once),
                       .flops = part_of(flops, b->flops) };
}

// ---- a budget ---------------------------------------------------------------

// What else fits, or fits for less: with maps in host memory.
static int32_t park_beside(Budgeter *b, int32_t found)
{
    const HostProblem p = { .g = b->g, .o = b->o, .all = &b->all,
                            .budget = b->o->budget, .state = b->state };
    HostProgram without = { .choice = found, .arena = arena_of(b, found),
                            .cost = b->all.choice[found].cost };
    without.fits = without.arena <= b->o->budget;
    HostProgram best = host_program(&p, without);
    b->g->parking = best.parking;
    return best.choice;
}

void fit_budget(Graph *g, const PassOptions *o)
{
    Fit *fit = NEW(g->arena, Fit);
    *fit = (Fit){ .budget = o->budget,
                  .plain = arena_after(g, o, NULL, INT64_MAX) };
    g->fit = fit;
    if (fit->plain <= o->budget) return;
    Budgeter b = new_budgeter(g, o);
    b.arena[0] = fit->plain;
    int32_t found = cheapest_within(&b, o->budget);
    if (found == NONE) found = smallest(&b);
    if (o->offload) found = park_beside(&b, found);
    fit->bound = g->parking != NULL ? 0 : bound_of(&b, found);
    const RematChoice *choices = b.all.choice;
    if (found > 0) g->program = &choices[found].program;
}

bool check_budget(const Graph *g, const PassOptions *o)
{
    Arena *arena = g->arena;
    int64_t bytes = g->arena_bytes;
    if (o->budget == 0 || bytes <= o->budget) return true;
    error(g->diag, (Pos){ .file = NONE },
          "%s %s does not fit in %" PRId64 " bytes (%s); the smallest arena "
          "found for it, at batch %" PRId64 ", has %" PRId64 " bytes (%s)",
          g->name, mode_names[g->mode], o->budget,
          bytes_text(arena, o->budget), g->batch, bytes,
          bytes_text(arena, bytes));
    g->diag->over_budget = true;
    return false;
}

// ---- all of them ------------------------------------------------------------

ArenaCosts budget_curve(Graph *g, const PassOptions *o, int most)
{
    Budgeter b = new_budgeter(g, o);
    ArenaCosts curve = { .point = NEW_ARRAY(g->arena, most, ArenaCost) };
    int64_t top = b.all.choice[0].peak, smallest_yet = INT64_MAX;
    int64_t range = top - b.all.choice[b.all.count - 1].peak;
    int32_t k = 0;
    for (int i = 0; i < most && k < b.all.count; i++) {
        int64_t level = top - range / (most - 1) * i;
        if (i == most - 1) level = top - range;
        int rest = most - i;
        if (b.all.count - k > rest)
            while (b.all.choice[k].peak > level) k++;
        if (arena_of(&b, k) < smallest_yet) {
            smallest_yet = arena_of(&b, k);
            curve.point[curve.count++] = (ArenaCost){
                smallest_yet, overhead_of(&b, k), bound_of(&b, k) };
        }
        k++;
    }
    return curve;
}
