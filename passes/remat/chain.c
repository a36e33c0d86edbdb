// Costs and bytes of a chain's schedules, computed from the definition, and the
// choices that a segment can begin with.  chain.h defines the problem.
#include "../../ir/base/diag.h"
#include "../../ir/base/sizes.h"
#include "chain.h"

// Returns the bytes of the map that stage i reads; 0 for the chain's own input,
// which is not counted.
static int64_t input_bytes(const Chain *c, int32_t i)
{
    return i == 0 ? 0 : c->stages[i - 1].output;
}

static int64_t input_gradient(const Chain *c, int32_t i)
{
    return i == 0 ? 0 : c->stages[i - 1].gradient;
}

// ---- checks of a chain ------------------------------------------------------

static void check_bytes(int32_t stage, const char *what, int64_t bytes,
                        int64_t least)
{
    if (bytes < least)
        bug("stage %d of a chain: %s of %lld bytes, at least %lld", stage, what,
            (long long)bytes, (long long)least);
}

static void check_ways(const Chain *c, int32_t i)
{
    const ChainStage *stage = &c->stages[i];
    int64_t input = input_bytes(c, i), after = input_gradient(c, i);
    for (int32_t j = 0; j < stage->way_count; j++) {
        const ChainWay *way = &stage->ways[j];
        int64_t made = stage->output + way->kept;
        int64_t read = way->kept + stage->gradient +
                       (way->reads_output ? stage->output : 0);
        check_bytes(i, "the kept part", way->kept, 0);
        check_bytes(i, "a way", way->in_forward.held, made);
        check_bytes(i, "a way back", way->in_backward.held,
                    larger(read, after));
        if (way->reads_input)
            check_bytes(i, "a way back", way->in_backward.last,
                        larger(read + input, after));
        else
            check_bytes(i, "a way", way->in_forward.last, larger(made, input));
    }
    for (int32_t j = 0; j < stage->turn_count; j++) {
        const ChainPeak *peak = &stage->turns[j].peak;
        check_bytes(i, "a turn", peak->held, larger(stage->gradient, after));
        check_bytes(i, "a turn", peak->last,
                    larger(stage->gradient + input, after));
    }
}

static double check_cost(int32_t i, int64_t cost)
{
    if (cost < 0) bug("stage %d of a chain: a negative cost", i);
    return (double)cost;
}

// Returns an upper bound of all runs' costs: a stage runs for its output alone
// at most once for each stage of the chain.
static double check_costs(const Chain *c)
{
    double sum = 0;
    for (int32_t i = 0; i < c->count; i++) {
        const ChainStage *stage = &c->stages[i];
        sum += check_cost(i, stage->cost) * c->count;
        for (int32_t j = 0; j < stage->way_count; j++)
            sum += check_cost(i, stage->ways[j].forward) +
                   check_cost(i, stage->ways[j].backward);
        for (int32_t j = 0; j < stage->turn_count; j++)
            sum += check_cost(i, stage->turns[j].cost);
    }
    return sum;
}

void chain_check(const Chain *c)
{
    const double exact = 9007199254740992.0;    // 2^53
    if (c->count < 1) bug("a chain of no stage");
    for (int32_t i = 0; i < c->count; i++) {
        const ChainStage *stage = &c->stages[i];
        bool is_last = i == c->count - 1;
        check_bytes(i, "the output", stage->output, 0);
        check_bytes(i, "the gradient", stage->gradient, 0);
        check_bytes(i, "a run", stage->peak.held, is_last ? 0 : stage->output);
        check_bytes(i, "a run", stage->peak.last,
                    is_last ? 0 : larger(stage->output, input_bytes(c, i)));
        if (stage->turn_count < 1) bug("stage %d of a chain has no turn", i);
        if (is_last && stage->way_count > 0)
            bug("the last stage of a chain has ways");
        check_ways(c, i);
    }
    if (check_costs(c) >= exact) bug("the costs of a chain are too large");
}

// ---- costs and bytes of a schedule -----------------------------------------

int64_t chain_cost(const Chain *c, const ChainSchedule *p)
{
    int64_t cost = 0;
    for (int32_t k = 0; k < p->count; k++) {
        const ChainStage *stage = &c->stages[p->ops[k].stage];
        int32_t way = p->ops[k].way;
        switch (p->ops[k].run) {
        case CHAIN_DROP:
        case CHAIN_KEEP: cost += stage->cost; break;
        case CHAIN_WAY:  cost += stage->ways[way].forward; break;
        case CHAIN_BACK: cost += stage->ways[way].backward; break;
        case CHAIN_TURN: cost += stage->turns[way].cost; break;
        }
    }
    return cost;
}

// The state while a schedule is replayed.
typedef struct Walk {
    const Chain *c;
    bool        *has_map;       // of each stage: its output is alive
    const ChainWay **way;       // in which each stage has run, or NULL
    int32_t      next;          // the stage whose output's gradient is alive
    int64_t      alive, peak;
} Walk;

static void note_peak(Walk *w, int64_t bytes)
{
    if (bytes > w->peak) w->peak = bytes;
}

// True if another reader still needs the input of stage i.
static bool is_lent(const Walk *w, int32_t i)
{
    return i == 0 || (w->way[i - 1] != NULL && w->way[i - 1]->reads_output);
}

// Raises the peak by a run of stage i.  ends: its input dies in the run.  Other
// values that the run's peak includes are no longer in w->alive.
static void note_run(Walk *w, const ChainPeak *peak, int32_t i, bool ends)
{
    if (!ends) {
        note_peak(w, w->alive + peak->held);
        return;
    }
    w->alive -= input_bytes(w->c, i);
    w->has_map[i - 1] = false;
    note_peak(w, w->alive + peak->last);
}

static void walk_forward(Walk *w, const ChainOp *op)
{
    int32_t i = op->stage;
    const ChainStage *stage = &w->c->stages[i];
    const ChainWay *way = op->run == CHAIN_WAY ? &stage->ways[op->way] : NULL;
    bool ends = way == NULL ? op->run == CHAIN_DROP
                            : !way->reads_input && !is_lent(w, i);
    if (w->has_map[i] || w->way[i] != NULL || i >= w->next ||
        (ends && is_lent(w, i)))
        bug("stage %d of a chain cannot run here", i);
    note_run(w, way == NULL ? &stage->peak : &way->in_forward, i, ends);
    w->alive += stage->output + (way == NULL ? 0 : way->kept);
    w->has_map[i] = true;
    w->way[i] = way;
}

static void walk_back(Walk *w, const ChainOp *op)
{
    int32_t i = op->stage;
    const ChainStage *stage = &w->c->stages[i];
    const ChainWay *way = w->way[i];
    bool turns = op->run == CHAIN_TURN;
    if (i != w->next || turns != (way == NULL) ||
        w->has_map[i] != (way != NULL && way->reads_output) ||
        (!turns && way != &stage->ways[op->way]))
        bug("stage %d of a chain cannot run backward here", i);
    w->alive -= stage->gradient + (way == NULL ? 0 : way->kept) +
                (w->has_map[i] ? stage->output : 0);
    note_run(w, turns ? &stage->turns[op->way].peak : &way->in_backward, i,
             !is_lent(w, i) && (turns || way->reads_input));
    w->alive += input_gradient(w->c, i);
    w->has_map[i] = false;
    w->way[i] = NULL;
    w->next--;
}

int64_t chain_peak(const Chain *c, const ChainSchedule *p)
{
    Arena *arena = arena_new();
    Walk w = {.c = c, .next = c->count - 1,
              .has_map = NEW_ARRAY(arena, c->count, bool),
              .way = NEW_ARRAY(arena, c->count, const ChainWay *)};
    w.alive = w.peak = c->stages[c->count - 1].gradient;
    for (int32_t k = 0; k < p->count; k++) {
        const ChainOp *op = &p->ops[k];
        bool reads = op->run != CHAIN_BACK ||
                     c->stages[op->stage].ways[op->way].reads_input;
        if (reads && op->stage > 0 && !w.has_map[op->stage - 1])
            bug("stage %d of a chain has no input", op->stage);
        if (op->run == CHAIN_TURN || op->run == CHAIN_BACK) walk_back(&w, op);
        else walk_forward(&w, op);
    }
    if (w.next != -1) bug("a chain's schedule ends at stage %d", w.next);
    arena_free(arena);
    return w.peak;
}

// ---- choices ----------------------------------------------------------------

ChainChoice chain_turn(const Chain *c, bool owns, int32_t s, int32_t i)
{
    const ChainTurn *turn = &c->stages[s].turns[i];
    return (ChainChoice){
        .cost = turn->cost,
        .need = owns ? turn->peak.last : turn->peak.held,
    };
}

ChainChoice chain_way(const Chain *c, bool owns, int32_t s, int32_t t,
                      int32_t i)
{
    const ChainStage *stage = &c->stages[s];
    const ChainWay *way = &stage->ways[i];
    int64_t input = owns ? input_bytes(c, s) : 0;
    bool ends = owns && !way->reads_input, ends_back = owns && way->reads_input;
    int64_t forward = c->stages[t].gradient +
                      (ends ? way->in_forward.last
                            : input + way->in_forward.held);
    int64_t backward = ends_back ? way->in_backward.last
                                 : way->in_backward.held;
    return (ChainChoice){
        .cost = way->forward + way->backward,
        .need = larger(forward, backward),
        .held = (ends ? 0 : input) + way->kept +
                (way->reads_output ? stage->output : 0),
        .owns = !way->reads_output,
    };
}

ChainChoice chain_split(const Chain *c, bool owns, int32_t s, int32_t t,
                        int32_t at, ChainChoice before)
{
    const ChainStage *stage = &c->stages[at - 1];
    int64_t input = owns ? input_bytes(c, s) : 0;
    int64_t peak = at - 1 == s ? stage->peak.held : stage->peak.last;
    return (ChainChoice){
        .cost = before.cost + stage->cost,
        .need = larger(before.need, input + c->stages[t].gradient + peak),
        .held = input,
        .owns = true,
    };
}
