// The search for the cheapest training step within a budget.
//
// remat_search.h lists schedules of all sizes, cheapest first, with peaks by
// its model.  Each that might fit is tried here: passes order it, share buffers
// and assign offsets, and only the resulting arena counts.  The schedules are
// the same for every budget, and a larger budget tries more of them, so more
// memory never costs more.
//
// A short search is enough if only sizes are needed.  A whole search includes
// the schedules of the short one, so a budget of a size that was named fits.
#include "decide_remat.h"
#include <inttypes.h>
#include <string.h>
#include "../../ir/base/format.h"
#include "../../ir/base/sizes.h"
#include "../offload/host_budget.h"
#include "../../ir/base/search_cache.h"
#include "../remat/remat_bound.h"
#include "../remat/remat_graph.h"
#include "../remat/remat_search.h"
#include "../remat/user_checkpoints.h"
#include "../trial.h"
#include "decide_horizontal.h"

enum {
    LEVELS = 128,               // peaks that the search aims at
    BOUND_STEPS = 4,            // steps at which the lower bound is computed
    MARGIN = 16,                // the model's peak may be too large by 1/16 of
                                // it
    TRIED_STEPS = 1 << 14,      // steps of all schedules that differ by less
                                // than the margin
    CURVE_STEPS = 48000,        // the same for a curve
    FEWEST_POINTS = 12,
};

typedef struct Budgeter {
    Graph             *g;
    const PassOptions *o;
    Remat              r;
    Remat              written; // the steps in source order, if searched,
    int32_t           *step;    // and for each its step in r
    bool               as_written;
    int64_t            floor;   // lower bound of all schedules' bytes in the
                                // model
    RematChoices       all;
    int32_t            named;   // the choice whose arena a refusal names
    int64_t           *arena;   // of each choice's plan; 0: unknown
    int64_t           *least;   // a lower bound of it while unknown
    bool               quick;   // only sizes are needed
    int64_t            state, flops;
    int64_t           *step_flops;
} Budgeter;

// ---- choices and their arenas -----------------------------------------------

static int64_t state_bytes(const Graph *g)
{
    int64_t bytes = 0;
    for (ValueId v = 0; v < g->value_count; v++)
        bytes += state_bytes_of(&g->values[v]);
    return bytes;
}

// Sets b->floor, a lower bound of the model's live bytes for all schedules in
// the search.  True if the bound is lower in source order than in the order of
// pass schedule; then schedules of source order are searched as well.
static bool is_less_as_written(Budgeter *b)
{
    int32_t at;
    b->floor = remat_least_at_fullest(&b->r, BOUND_STEPS, &at);
    // A graph that was read after schedule has only one order.
    if (b->g->written == NULL) return false;
    b->written = remat_as_written(b->g, &b->step);
    for (int32_t i = 0; i < b->r.step_count; i++)
        b->written.may_repeat[i] = b->r.may_repeat[b->step[i]];
    int64_t least = remat_least_at_fullest(&b->written, BOUND_STEPS, &at);
    if (least >= b->floor) return false;
    b->floor = least;
    return true;
}

static KnownKey key_of_schedules(const Remat *r, int64_t work)
{
    KnownKey key = key_of_kind(KNOWN_SCHEDULES);
    key_add(&key, work);
    key_add(&key, r->backward_start);
    key_add_sizes(&key, r->cost, r->step_count);
    key_add_flags(&key, r->may_repeat, r->step_count);
    key_add_sizes(&key, r->bytes, r->value_count);
    key_add_flags(&key, r->kept, r->value_count);
    key_add_all(&key, r->reads, r->step_count + 1);
    key_add_all(&key, r->read, r->reads[r->step_count]);
    key_add_all(&key, r->makes, r->step_count + 1);
    key_add_all(&key, r->make, r->makes[r->step_count]);
    key_add_all(&key, r->makers, r->value_count + 1);
    key_add_all(&key, r->maker, r->makers[r->value_count]);
    key_add_all(&key, r->overs, r->step_count + 1);
    for (int32_t k = 0; k < r->overs[r->step_count]; k++) {
        key_add(&key, r->over[k].result);
        key_add(&key, r->over[k].value);
    }
    return key;
}

// Returns a list with the same schedules.  Its entries have no spare room, so
// the schedules' bytes are never overwritten.
static RematChoices copy_choices(Arena *arena, const RematChoices *all)
{
    RematChoices copy = { .work = all->work };
    remat_merge_choices(&copy, arena, all);
    for (int32_t k = 0; k < copy.count; k++) copy.choice[k].room = 0;
    return copy;
}

static void keep_schedules(Known *known, KnownKey key, const RematChoices *all)
{
    int64_t bytes = 0;
    for (int32_t k = 0; k < all->count; k++)
        bytes += (int64_t)sizeof(RematChoice) +
                 all->choice[k].schedule.count * (int64_t)sizeof(int32_t);
    Arena *arena = known_room(known, bytes);
    if (arena == NULL) return;
    RematChoices *kept = NEW(arena, RematChoices);
    *kept = copy_choices(arena, all);
    for (int32_t k = 0; k < kept->count; k++) {
        RematSchedule *p = &kept->choice[k].schedule;
        int32_t *step = NEW_ARRAY(arena, p->count, int32_t);
        memcpy(step, p->step, (size_t)p->count * sizeof *step);
        p->step = step;
    }
    known_keep(known, key, kept);
}

static RematChoices search_or_recall(const Budgeter *b, const Remat *r,
                                     int64_t work)
{
    KnownKey key = key_of_schedules(r, work);
    const RematChoices *kept = known_find(b->o->known, key);
    if (kept != NULL) return copy_choices(b->g->arena, kept);
    RematChoices all = remat_search(r, LEVELS, work);
    known_spend(b->o->known, all.work, WORK_REMAT_STEP);
    keep_schedules(b->o->known, key, &all);
    return all;
}

static void search_as_written(Budgeter *b, RematChoices *all, int64_t work)
{
    RematChoices more = search_or_recall(b, &b->written, work);
    for (int32_t k = 0; k < more.count; k++) {
        const RematSchedule *p = &more.choice[k].schedule;
        RematSchedule own = { p->count, NEW_ARRAY(b->g->arena, p->count,
                                                  int32_t) };
        for (int32_t i = 0; i < p->count; i++)
            own.step[i] = b->step[p->step[i]];
        remat_choose(all, &b->r, &own, more.choice[k].peak,
                     more.choice[k].cost, true);
    }
    remat_sort_choices(all);
}

// Searches schedules in both orders.  Keeps fewer of large graphs, because each
// takes longer to try.
static RematChoices search_within(Budgeter *b, int64_t work)
{
    RematChoices all = search_or_recall(b, &b->r, work);
    if (b->as_written) search_as_written(b, &all, work / 2);
    double tried = (double)TRIED_STEPS / (b->r.step_count + 1);
    remat_thin_choices(&all, 1 - 1 / (MARGIN * (tried + 1)));
    return all;
}

// True if a schedule with this peak in the model may fit.  The model may be too
// large: passes reorder the schedule, and the model counts slices as whole.
static bool fits_in_model(const Budgeter *b, int64_t peak, int64_t budget)
{
    return peak - peak / MARGIN + b->state <= budget;
}

static Budgeter new_budgeter(Graph *g, const PassOptions *o)
{
    Budgeter b = { .g = g, .o = o, .r = remat_of(g), .state = state_bytes(g) };
    if (o->checkpoint.kind == CHECKPOINT_ELEMENTWISE)
        remat_spare_products(g, &b.r);
    for (int32_t i = 0; i < b.r.step_count; i++)
        b.r.may_repeat[i] &= o->checkpoint.kind != CHECKPOINT_OFF;
    b.as_written = is_less_as_written(&b);
    return b;
}

static void count_flops(Budgeter *b)
{
    const Graph *g = b->g;
    int32_t steps = 0;
    b->step_flops = NEW_ARRAY(g->arena, b->r.step_count, int64_t);
    for (NodeId i = 0; i < g->node_count; i++) {
        Cost cost;
        if (!is_launch(&g->nodes[i])) continue;
        node_cost(g, &g->nodes[i], &cost);
        b->step_flops[steps++] = cost.flops;
        b->flops = capped_sum(b->flops, cost.flops);
    }
}

// Returns the choice with the lowest peak in the model, of all or only of those
// that a short search finds (brief).
static int32_t fewest_in_model(const Budgeter *b, bool brief)
{
    int32_t found = NONE;
    for (int32_t k = 0; k < b->all.count; k++)
        if ((b->all.choice[k].brief || !brief) &&
            (found == NONE ||
             b->all.choice[k].peak < b->all.choice[found].peak))
            found = k;
    return found;
}

static void search_schedules(Budgeter *b)
{
    const Graph *g = b->g;
    b->all = search_within(b, REMAT_QUICK_WORK);
    for (int32_t k = 0; k < b->all.count; k++) b->all.choice[k].brief = true;
    // If a short search does not use up its work, a whole one is fast too.
    b->quick = (b->o->quick || !fits_in_model(b, b->floor, b->o->budget)) &&
               b->all.work > REMAT_QUICK_WORK / 4;
    if (!b->quick) {
        RematChoices more = search_within(b, REMAT_WORK);
        remat_merge_choices(&b->all, g->arena, &more);
        b->all.work += more.work;
    }
    b->named = fewest_in_model(b, true);
    b->arena = NEW_ARRAY(g->arena, b->all.count, int64_t);
    b->least = NEW_ARRAY(g->arena, b->all.count, int64_t);
    count_flops(b);
}

// Returns the arena of choice k, in bytes.  Choice 0 recomputes nothing.  If
// the arena exceeds `most`, the result is some lower bound that exceeds `most`.
static int64_t arena_within(Budgeter *b, int32_t k, int64_t most)
{
    if (b->arena[k] > 0) return b->arena[k];
    if (b->least[k] > most) return b->least[k];
    const RematSchedule *schedule = k > 0 ? &b->all.choice[k].schedule : NULL;
    int64_t bytes = arena_after(b->g, b->o, schedule, most);
    if (bytes <= most) b->arena[k] = bytes;
    else b->least[k] = bytes;
    return bytes;
}

static int64_t arena_of(Budgeter *b, int32_t k)
{
    return arena_within(b, k, INT64_MAX);
}

// True if choice k should be tried.  The named choice always is: a refusal may
// have named its arena, and the model may be wrong by more than its margin.
static bool may_fit(const Budgeter *b, int32_t k, int64_t budget)
{
    return k == b->named || fits_in_model(b, b->all.choice[k].peak, budget);
}

static int32_t cheapest_within(Budgeter *b, int64_t budget)
{
    int64_t most = b->o->most_time > 0 ? b->o->most_time : INT64_MAX;
    for (int32_t k = 0; k < b->all.count && b->all.choice[k].cost < most; k++)
        if (may_fit(b, k, budget) && arena_within(b, k, budget) <= budget)
            return k;
    return NONE;
}

// True if the named choice fits after horizontal fusion.  Tried if its arena
// without fusion exceeds the budget by at most 1/16, because a refusal names
// the arena after fusion.
static bool named_fits_fused(const Budgeter *b)
{
    const PassOptions *o = b->o;
    int64_t apart = larger(b->arena[b->named], b->least[b->named]);
    if (o->trial || !o->enabled[PASS_fuse_horizontal] ||
        apart - apart / 16 > o->budget || b->named == 0)
        return false;
    Arena *arena = arena_new();
    const RematSchedule *schedule = &b->all.choice[b->named].schedule;
    Graph *ordered = ordered_with(b->g, o, schedule, arena);
    bool waits = decide_waits(ordered, o) == PASS_RUNS;
    Graph *fused = shared_after(ordered, o, waits, arena);
    bool fits = arena_of_shared(fused, o, o->budget) <= o->budget;
    arena_free(arena);
    return fits;
}

// Returns the cheapest choice with the smallest arena, among those that may
// have it by the model; NONE if all that are tried have more than `most` bytes.
static int32_t smallest(Budgeter *b, int64_t most)
{
    int32_t found = fewest_in_model(b, false);
    int64_t fewest = arena_within(b, found, most);
    if (b->quick) return fewest <= most ? found : NONE;
    if (fewest > most) fewest = most + 1;
    for (int32_t k = b->all.count - 1; k >= 0; k--) {
        if (!may_fit(b, k, fewest - 1)) continue;
        int64_t bytes = arena_within(b, k, fewest - 1);
        if (bytes < fewest && may_fit(b, k, bytes)) fewest = bytes;
    }
    if (fewest > most) return NONE;
    int32_t cheapest = cheapest_within(b, fewest);
    return cheapest != NONE ? cheapest : found;
}

// ---- costs of choices -------------------------------------------------------

static double part_of(int64_t part, int64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : 0;
}

// Returns a lower bound of the recomputation time of schedules with the peak of
// choice k, in the same order of launches.  It is relative to a step without
// recomputation.
static double bound_of(const Budgeter *b, int32_t k)
{
    int32_t at;
    if (k == 0) return 0;
    const RematChoice *choice = &b->all.choice[k];
    const Remat *r = choice->as_written ? &b->written : &b->r;
    int64_t bound = remat_bound_at_fullest(r, choice->peak, BOUND_STEPS, &at);
    return part_of(bound, b->all.choice[0].cost);
}

static Overhead overhead_of(const Budgeter *b, int32_t k)
{
    const RematChoice *choice = &b->all.choice[k];
    int64_t flops = -b->flops, once = b->all.choice[0].cost;
    for (int32_t i = 0; i < choice->schedule.count; i++)
        flops += b->step_flops[choice->schedule.step[i]];
    return (Overhead){ .launches = choice->schedule.count - b->r.step_count,
                       .time = part_of(choice->cost - once, once),
                       .flops = part_of(flops, b->flops) };
}

// ---- a budget ---------------------------------------------------------------

// Looks for a schedule with offloaded maps that fits, or is cheaper than found.
static int32_t offload_beside(Budgeter *b, int32_t found, Fit *fit)
{
    const HostProblem p = { .g = b->g, .o = b->o, .all = &b->all,
                            .budget = b->o->budget, .state = b->state };
    HostSchedule without = { .choice = found, .arena = arena_of(b, found),
                            .cost = b->all.choice[found].cost };
    without.fits = without.arena <= b->o->budget;
    fit->refused = false;
    HostSchedule best = host_schedule(&p, without);
    fit->refused = !best.fits;
    b->g->decisions.offloading = best.offloading;
    return best.choice;
}

static bool is_brief(const PassOptions *o)
{
    return o->trial || o->quick;
}

// Returns the largest arena in bytes that is of use to the caller.
static int64_t most_of_use(const PassOptions *o)
{
    if (o->offload) return INT64_MAX;
    if (o->most_time > 0) return o->budget;
    return o->most_bytes > 0 ? larger(o->most_bytes, o->budget) : INT64_MAX;
}

// Sets the decisions of b->g for a net whose arena is `plain` bytes without
// recomputation, which is too large.  False if no result can be of use.
static bool choose_schedule(Budgeter *b, int64_t plain, Fit *fit)
{
    const PassOptions *o = b->o;
    int64_t most = most_of_use(o);
    if (!fits_in_model(b, b->floor, most)) return false;
    search_schedules(b);
    if (is_brief(o)) b->least[0] = plain;
    else b->arena[0] = plain;
    fit->work = b->all.work;
    int32_t found = cheapest_within(b, o->budget);
    if (found == NONE && o->most_time > 0) return false;
    if (found == NONE && named_fits_fused(b)) found = b->named;
    fit->refused = found == NONE;
    if (found == NONE) found = smallest(b, most);
    if (found == NONE) return false;
    if (o->offload) found = offload_beside(b, found, fit);
    Decisions *d = &b->g->decisions;
    if (d->offloading == NULL && arena_of(b, found) <= o->budget)
        fit->bound = bound_of(b, found);
    if (found > 0) d->remat_schedule = &b->all.choice[found].schedule;
    return true;
}

static const Offloading *copy_offloading(Arena *arena, const Offloading *from)
{
    Offloading *copy = NEW(arena, Offloading);
    *copy = *from;
    copy->value = NEW_ARRAY(arena, from->count, ValueId);
    for (int32_t k = 0; k < from->count; k++) copy->value[k] = from->value[k];
    return copy;
}

// Searches in an arena of its own, which holds all schedules, and keeps one.
static bool search_budget(Graph *g, const PassOptions *o, int64_t plain,
                          Fit *fit)
{
    Graph scratch = graph_with_new_arena(g);
    Budgeter b = new_budgeter(&scratch, o);
    bool found = choose_schedule(&b, plain, fit);
    const Decisions *d = &scratch.decisions;
    if (d->remat_schedule != NULL)
        g->decisions.remat_schedule =
            remat_schedule_copy(g->arena, d->remat_schedule);
    if (d->offloading != NULL)
        g->decisions.offloading = copy_offloading(g->arena, d->offloading);
    arena_free(scratch.arena);
    return found;
}

static bool fit_budget(Graph *g, const PassOptions *o)
{
    Fit *fit = NEW(g->arena, Fit);
    g->decisions.fit = fit;
    if (g->decisions.settled != NULL) {
        *fit = *g->decisions.settled;
        g->decisions.remat_schedule = g->decisions.settled_schedule;
        return true;
    }
    int64_t limit = is_brief(o) ? o->budget : INT64_MAX;
    int64_t plain = arena_after(g, o, NULL, limit);
    *fit = (Fit){ .budget = o->budget,
                  .plain = g->decisions.whole_bytes > 0
                      ? g->decisions.whole_bytes : plain };
    return plain <= o->budget || search_budget(g, o, plain, fit);
}

static bool find_schedule(Graph *g, const PassOptions *o)
{
    CheckpointKind kind = o->checkpoint.kind;
    if (g->mode != TRAIN ||
        (kind == CHECKPOINT_OFF && !(o->offload && has_limit(o))) ||
        host_use(g).events > 0)
        return true;
    // Maps may be offloaded although recomputation is off.
    if (kind == CHECKPOINT_OFF && o->offload) return fit_budget(g, o);
    if (!searches(o)) return follow_marks(g, o);
    return fit_budget(g, o);
}

PassDecision decide_schedule(Graph *g, const PassOptions *o)
{
    return find_schedule(g, o) ? PASS_RUNS : PASSES_STOP;
}

// True if the command line determines the recomputations, so that there is only
// one arena.
static bool is_known(const Graph *g, const PassOptions *o)
{
    CheckpointKind kind = o->checkpoint.kind;
    return g->mode == TRAIN && o->enabled[PASS_checkpoint] &&
           (kind == CHECKPOINT_MARKED || kind == CHECKPOINT_EVERY);
}

static const char *batch_text(const Graph *g)
{
    if (g->training.step_batch <= g->batch)
        return arena_print(g->arena, "%" PRId64, g->batch);
    return arena_print(g->arena, "%" PRId64 " in slices of %" PRId64,
                       g->training.step_batch, g->batch);
}

static const char *whose_arena(const Graph *g, const PassOptions *o)
{
    if (!is_known(g, o)) return "the smallest arena found for it";
    return arena_print(g->arena, "its arena with --checkpoint %s",
                       checkpoint_text(g->arena, &o->checkpoint));
}

// Returns the end of a refusal's message, if more than this schedule matters.
static const char *why_so_many(const Graph *g, const PassOptions *o)
{
    Arena *arena = g->arena;
    if (o->beside > g->arena_bytes)
        return arena_print(arena, ", for so much takes another mode of it; "
                           "this one has %" PRId64, g->arena_bytes);
    if (!is_known(g, o)) return "";
    return arena_print(arena, ", %" PRId64 " too many",
                       g->arena_bytes - o->budget);
}

bool check_budget(const Graph *g, const PassOptions *o)
{
    Arena *arena = g->arena;
    if (o->budget == 0 || g->arena_bytes <= o->budget) return true;
    int64_t bytes = larger(g->arena_bytes, o->beside);
    error(g->diag, (Pos){ .file = NONE },
          "%s %s does not fit in %" PRId64 " bytes (%s); %s, at batch %s, has %"
          PRId64 " bytes (%s)%s", g->name, mode_names[g->mode],
          o->budget, bytes_text(arena, o->budget), whose_arena(g, o),
          batch_text(g), bytes, bytes_text(arena, bytes), why_so_many(g, o));
    g->diag->over_budget = true;
    return false;
}

// ---- all budgets ------------------------------------------------------------

ArenaCosts budget_curve(Graph *g, const PassOptions *o, int most)
{
    PassOptions any = *o;
    any.budget = INT64_MAX;
    Budgeter b = new_budgeter(g, &any);
    search_schedules(&b);
    b.arena[0] = arena_after(g, o, NULL, INT64_MAX);
    any.near = true;
    remat_drop_dominated(&b.all);
    int fewer = CURVE_STEPS / (b.r.step_count + 1);
    if (fewer < most) most = fewer > FEWEST_POINTS ? fewer : FEWEST_POINTS;
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
