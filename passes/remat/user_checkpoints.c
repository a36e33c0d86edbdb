// Keeps the values that the program marks and recomputes the launches between
// them; with `every N`, marks the values that alone cross each N-th cut of the
// net (stages.h) instead.
//
//   a = f(x)   b = g(a) marked   c = h(b)   d = k(c) marked   e = l(d)
// becomes
//   forward f, g, h, k, l; backward l; recompute h; backward k, h;
//   recompute f; backward g, f
//
// A launch is recomputed, when the backward pass first reads a result, if it
// leads to a mark and makes no marked value.  Values that lead to no mark are
// kept: they follow the last mark, or are a map's sign bits.  So are copies of
// the state, and the operands of the update phase, batch statistics, because
// that phase does not wait for the backward pass.
//
// A marked value may have no bytes.  Then the operand of a view is kept, the
// operands of a value computed on load, or all parts of a join.
#include "user_checkpoints.h"
#include <inttypes.h>
#include "remat_graph.h"
#include "keep_modes.h"
#include "stages.h"

typedef struct Marks {
    Graph *g;
    bool  *kept, *leads;        // of each value: it leads to a mark
    bool  *recomputed;          // of each node: a launch that is recomputed
} Marks;

static bool has_any(const Node *n, const bool *of_value)
{
    for (int32_t k = 0; k < n->result_count; k++)
        if (n->results[k] != NONE && of_value[n->results[k]]) return true;
    return false;
}

// True if n reads the state alone, as copies of weights do.
static bool reads_state(const Graph *g, const Node *n)
{
    for (int32_t k = 0; k < n->operand_count; k++)
        if (n->operands[k] != NONE && !g->values[n->operands[k]].persistent)
            return false;
    return true;
}

static void set_operands(const Node *n, bool *of_value)
{
    for (int32_t k = 0; k < n->operand_count; k++)
        if (n->operands[k] != NONE) of_value[n->operands[k]] = true;
}

// Walks from the end of the forward pass to its start.
static void find_leading(Marks *m)
{
    const Graph *g = m->g;
    for (NodeId i = g->node_count - 1; i >= 0; i--) {
        const Node *n = &g->nodes[i];
        if (n->phase != FORWARD) continue;
        bool kept = has_any(n, m->kept), leads = kept || has_any(n, m->leads);
        m->recomputed[i] = is_launch(n) && leads && !kept && !reads_state(g, n);
        if (leads) set_operands(n, m->leads);
        if (kept && !is_launch(n)) set_operands(n, m->kept);
    }
}

static void keep_for_update(Marks *m)
{
    const Graph *g = m->g;
    for (NodeId i = 0; i < g->node_count; i++) {
        ValueId reads[MAX_READS];
        if (g->nodes[i].phase != UPDATE) continue;
        for (int k = node_reads(g, &g->nodes[i], reads) - 1; k >= 0; k--) {
            NodeId def = g->values[reads[k]].def;
            if (def != NONE && !made_once(&g->nodes[def], reads[k]))
                m->recomputed[def] = false;
        }
    }
}

// Steps that make parts of one value are recomputed together or not at all.
static void set_modes(const Marks *m, const Remat *r, Modes *modes)
{
    int32_t step = 0;
    for (int32_t i = 0; i < r->backward_start; i++) modes->mode[i] = ONCE;
    for (NodeId i = 0; step < r->backward_start; i++) {
        if (!is_launch(&m->g->nodes[i])) continue;
        if (!m->recomputed[i] || !r->may_repeat[step])
            modes->mode[modes->group[step]] = KEPT;
        step++;
    }
}

static bool find_marked(Marks *m)
{
    bool any = false;
    for (ValueId v = 0; v < m->g->value_count; v++) {
        m->kept[v] = m->g->values[v].marked;
        any |= m->kept[v];
    }
    return any;
}

// Marks the values of each `every`-th cut.  False, after an error, if there are
// fewer cuts.
static bool mark_cuts(Marks *m, const Remat *r, int64_t every)
{
    Graph *g = m->g;
    const int32_t *value_of = remat_values(g);
    int32_t *crossing =
        NEW_ARRAY(g->arena, (size_t)r->backward_start + 1, int32_t);
    bool *is_kept = NEW_ARRAY(g->arena, (size_t)r->value_count + 1, bool);
    int32_t count = remat_cuts(g->arena, r, crossing);
    if (count < every) {
        error(g->diag, (Pos){ .file = NONE }, "--checkpoint every %" PRId64
              ": %s has %d place%s that one map alone crosses", every, g->name,
              (int)count, count == 1 ? "" : "s");
        return false;
    }
    for (int64_t k = every - 1; k < count; k += every)
        is_kept[crossing[k]] = true;
    for (ValueId v = 0; v < g->value_count; v++)
        m->kept[v] = value_of[v] != NONE && is_kept[value_of[v]];
    return true;
}

bool follow_marks(Graph *g, const PassOptions *o)
{
    Marks m = { .g = g };
    m.kept = NEW_ARRAY(g->arena, g->value_count, bool);
    m.leads = NEW_ARRAY(g->arena, g->value_count, bool);
    m.recomputed = NEW_ARRAY(g->arena, g->node_count, bool);
    const Checkpoint *how = &o->checkpoint;
    if (how->kind != CHECKPOINT_EVERY && !find_marked(&m)) {
        if (how->kind != CHECKPOINT_MARKED) return true;
        error(g->diag, (Pos){ .file = NONE }, "--checkpoint marked: %s has no "
              "checkpoint of a value that it computes", g->name);
        return false;
    }
    Remat r = remat_of(g);
    if (how->kind == CHECKPOINT_EVERY && !mark_cuts(&m, &r, how->every))
        return false;
    find_leading(&m);
    keep_for_update(&m);
    if (how->kind == CHECKPOINT_ELEMENTWISE)
        remat_spare_products(g, &r);
    Modes modes = modes_new(&r);
    set_modes(&m, &r, &modes);
    if (!modes_run(&modes)) bug("marks: a schedule of %d steps is too long",
                                (int)r.step_count);
    if (modes.schedule.count == r.step_count) return true;
    RematSchedule *schedule = NEW(g->arena, RematSchedule);
    *schedule = modes.schedule;
    g->decisions.remat_schedule = schedule;
    return true;
}
