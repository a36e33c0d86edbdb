// Schedules by chains, for graphs that are too deep for the search
// (remat_search.c).  It uses chain.h, which finds the best schedule of the
// stages for a series of capacities.  The runs of a chain's schedule are lists
// of steps (stage_variants.c), which are concatenated.
//
// One table for all capacities would have a unit too coarse for the small ones,
// so each quarter has its own table.  Stages are merged until a table takes a
// fraction of a second.
#include "remat_chain.h"

enum {
    FEWEST_STAGES = 3,
    MOST_STAGES = 128,
    MOST_COLUMNS = 4000,
    TABLES = 3,                 // the last one covers all capacities
    QUARTER = 4,                // of the next table's bytes
    CAPACITIES = 20             // of each table
};

// ---- schedules --------------------------------------------------------------

typedef struct Writing {
    Arena       *arena;
    RematSchedule schedule;
    int32_t      capacity;
} Writing;

static void add_list(Writing *w, const RematList *list)
{
    RematSchedule *p = &w->schedule;
    p->step = arena_grow(w->arena, p->step, &w->capacity,
                         (int64_t)p->count + list->count, sizeof *p->step);
    for (int32_t i = 0; i < list->count; i++)
        p->step[p->count++] = list->step[i];
}

// Returns the steps of a forward run.  The first run of a stage has all its
// forward steps.
static const RematList *forward_run(const RematStage *stage, const ChainOp *op,
                                    bool is_first)
{
    if (is_first) return &stage->first;
    if (op->run == CHAIN_WAY) return &stage->ways[op->way].forward;
    if (op->run == CHAIN_TURN) return &stage->ways[op->way].kept;
    return &stage->recomputed;
}

RematSchedule remat_chain_schedule(Arena *arena, const RematStages *s,
                                   const RematChain *c, const ChainSchedule *p)
{
    Writing w = {.arena = arena};
    bool *ran = NEW_ARRAY(arena, s->count, bool);
    for (int32_t k = 0; k < p->count; k++) {
        const ChainOp *op = &p->ops[k];
        const RematStage *stage = &c->stage[op->stage];
        if (op->run != CHAIN_BACK)
            add_list(&w, forward_run(stage, op, !ran[op->stage]));
        ran[op->stage] = true;
        if (op->run == CHAIN_BACK || op->run == CHAIN_TURN)
            add_list(&w, &stage->ways[op->way].backward);
    }
    return w.schedule;
}

// ---- capacities -------------------------------------------------------------

static int32_t table_columns(int32_t count, int64_t sums)
{
    double n = count, columns = (double)sums / (n * n * n / 6);
    return columns > MOST_COLUMNS ? MOST_COLUMNS : 2 + (int32_t)columns;
}

bool remat_chain(const Remat *r, int64_t sums,
                 void (*take)(void *to, RematSchedule schedule), void *to)
{
    Arena *arena = arena_new();
    RematStages s = remat_stages(arena, r, MOST_STAGES);
    if (s.count < FEWEST_STAGES) {
        arena_free(arena);
        return false;
    }
    RematChain c = remat_chain_of(arena, &s);
    int32_t columns = table_columns(s.count, sums);
    const ChainTable *bounds = chain_bounds(arena, &c.chain);
    int64_t low = chain_least(bounds), range = bounds->enough - low;
    for (int i = 0; i < TABLES; i++) range /= QUARTER;
    for (int i = 0; i < TABLES; i++, range *= QUARTER) {
        int64_t from = low + range, to_bytes = low + range * QUARTER;
        if (i == 0) from = low;
        const ChainTable *t = chain_table_of(arena, bounds, to_bytes, columns,
                                             CHAIN_UP);
        for (int k = 0; k < CAPACITIES; k++) {
            ChainSchedule p;
            int64_t capacity = from + (to_bytes - from) / CAPACITIES * k;
            if (chain_find(arena, t, capacity, &p))
                take(to, remat_chain_schedule(arena, &s, &c, &p));
        }
    }
    arena_free(arena);
    return true;
}
