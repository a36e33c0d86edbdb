// Writes a schedule of launches into the graph.
//
//   [3] forward conv: %7 c = conv(%5 x, %2 w)      [9] backward ... (%7 c)
// becomes, if the schedule recomputes [3] before [9],
//   [3] forward conv: %7 c = conv(%5 x, %2 w)
//   [9] recompute conv.again: %30 c.again = conv(%5 x, %2 w)
//   [10] backward ... (%30 c.again)
//
// Host copies (host_copies.h) are inserted likewise: nodes after a fetch read
// the fetched value.
//
// A node that is no launch, a view or a value computed on load, is made where
// it is first read.  It is copied where its operands have been recomputed
// since.  If no launch reads it, it comes at the end, or at the end of the
// batch.
#include <string.h>
#include "../../ir/families/grad_accumulation.h"
#include "../../ir/base/unique_names.h"
#include "../../ir/op/op.h"
#include "../offload/host_copies.h"
#include "remat_graph.h"

typedef struct Rewrite {
    Graph   *g;
    Node    *old;               // the nodes as they were
    int32_t  old_count, old_values;
    NodeId  *launches;          // of each step
    int32_t  launch_count;
    NodeId   batch_end;         // the first old node of the update, if the step
                                // sums gradients over batches; or NONE
    NodeId  *def;               // of each old value: the old node that makes it
    ValueId *now;               // of each old value: its current instance
    ValueId **last;             // of each old node that is no launch: the
                                // operands of its last copy, or NULL
    int32_t *recomputed;        // of each persistent old value: recomputations
                                // still to come that read it
    // Launches that wait for recomputations, in order.  For each value: the
    // number of them that touch it and that change it.
    NodeId  *waiting;
    int32_t  waiting_count;
    int32_t *touching, *changing;
} Rewrite;

// ---- nodes ------------------------------------------------------------------

static ValueId value_again(Graph *g, ValueId v, const char *how)
{
    const Value old = g->values[v];
    const char *name = g->nameless ? old.name
                                   : arena_print(g->arena, "%s.%s", old.name,
                                                 how);
    ValueId copy = graph_value_like(g, v, name, old.kind, old.shape, old.pos);
    ValueId of = old.recompute_of;
    g->values[copy].recompute_of = of != NONE ? of : v;
    return copy;
}

// Returns the operands of n's part `kernel`, of which n may have more.
static int operand_count(const Node *n, int kernel)
{
    Slot slots[MAX_SLOTS];
    if (kernel == n->kernel) return n->operand_count;
    return kernel_slots(kernel_operands(n->op, kernel), slots, MAX_SLOTS);
}

// Appends old node i with these operands: itself, or a copy.
static void put(Rewrite *w, NodeId i, const ValueId *operands, bool copy)
{
    const Node *n = &w->old[i];
    ValueId results[MAX_SLOTS];
    int count = n->result_count;
    int kernel = copy ? kernel_again(n, &count) : n->kernel;
    for (int32_t k = 0; k < count; k++) {
        ValueId v = n->results[k];
        results[k] = copy && v != NONE ? value_again(w->g, v, "again") : v;
        if (v != NONE) w->now[v] = results[k];
    }
    const char *name = !copy || w->g->nameless
                           ? n->name
                           : arena_print(w->g->arena, "%s.again", n->name);
    NodeId id = graph_node(w->g, n->op, kernel, copy ? RECOMPUTE : n->phase,
                           name, n->pos, operand_count(n, kernel), operands,
                           count, results);
    Node *made = &w->g->nodes[id];
    if (!copy) made->name = n->name;
    memcpy(made->attr, n->attr, sizeof n->attr);
    made->act = n->act;
    made->fused_load = n->fused_load;
    made->stored = n->stored;
    made->in_place = n->in_place;
}

static void find_operands(Rewrite *w, NodeId i, ValueId *operands);

// Returns the current instance of old value v.  Nets are read in order, so
// chains of views are short.
// NOLINTNEXTLINE(misc-no-recursion)
static ValueId instance(Rewrite *w, ValueId v)
{
    ValueId operands[MAX_SLOTS];
    NodeId i = v != NONE ? w->def[v] : NONE;
    if (i == NONE || is_launch(&w->old[i])) return v != NONE ? w->now[v] : v;
    const Node *n = &w->old[i];
    size_t bytes = (size_t)n->operand_count * sizeof(ValueId);
    find_operands(w, i, operands);
    if (w->last[i] && !memcmp(w->last[i], operands, bytes)) return w->now[v];
    put(w, i, operands, w->last[i] != NULL);
    w->last[i] = NEW_ARRAY(w->g->arena, n->operand_count + 1, ValueId);
    memcpy(w->last[i], operands, bytes);
    return w->now[v];
}

// NOLINTNEXTLINE(misc-no-recursion)
static void find_operands(Rewrite *w, NodeId i, ValueId *operands)
{
    const Node *n = &w->old[i];
    for (int32_t k = 0; k < n->operand_count; k++)
        operands[k] = instance(w, n->operands[k]);
}

// Appends the nodes without launch that no launch reads: one may be an output.
static void put_unread(Rewrite *w)
{
    for (NodeId i = 0; i < w->old_count; i++) {
        const Node *n = &w->old[i];
        if (!is_launch(n) && !w->last[i] && n->result_count > 0)
            instance(w, n->results[0]);
    }
}

static void launch(Rewrite *w, NodeId i, bool copy)
{
    ValueId operands[MAX_SLOTS];
    if (i == w->batch_end) put_unread(w);
    find_operands(w, i, operands);
    put(w, i, operands, copy);
}

// ---- delayed updates --------------------------------------------------------

// A value that a node reads or makes.  list_touches returns their number.
typedef struct Touch {
    ValueId value;
    bool    changes;
} Touch;

static int list_touches(const Graph *old, const Node *n, Touch *touch)
{
    ValueId reads[MAX_READS];
    Slot slots[MAX_SLOTS];
    int count = node_reads(old, n, reads);
    int slot_count = kernel_slots(kernel_operands(n->op, n->kernel), slots,
                                  MAX_SLOTS);
    for (int j = 0; j < count; j++) {
        touch[j] = (Touch){ reads[j], false };
        for (int32_t k = 0; k < n->operand_count && k < slot_count; k++)
            touch[j].changes |= slots[k].updated && n->operands[k] == reads[j];
    }
    for (int32_t k = 0; k < n->result_count; k++)
        if (n->results[k] != NONE)
            touch[count++] = (Touch){ n->results[k], true };
    return count;
}

enum { MOST_TOUCHES = MAX_READS + MAX_SLOTS };

// True if a recomputation that is to come reads v.  The header is an exception.
// A recomputation reads only its seed and step number, which no launch changes
// before the end of the step.
static bool is_awaited(const Rewrite *w, ValueId v)
{
    return w->recomputed[v] > 0 && v != w->g->header;
}

static bool must_wait(const Rewrite *w, const Touch *touch, int count)
{
    for (int k = 0; k < count; k++) {
        ValueId v = touch[k].value;
        if (w->changing[v] > 0) return true;
        if (touch[k].changes && (w->touching[v] > 0 || is_awaited(w, v)))
            return true;
    }
    return false;
}

static void wait(Rewrite *w, NodeId i, const Touch *touch, int count)
{
    w->waiting[w->waiting_count++] = i;
    for (int k = 0; k < count; k++) {
        w->touching[touch[k].value]++;
        w->changing[touch[k].value] += touch[k].changes;
    }
}

// A change in the forward phase, such as the mask of step 0, precedes all that
// reads the value, so it waits for no recomputation.
static void launch_or_wait(Rewrite *w, const Graph *old, NodeId i)
{
    Touch touch[MOST_TOUCHES];
    int count = list_touches(old, &w->old[i], touch);
    bool waits = w->old[i].phase != FORWARD && must_wait(w, touch, count);
    if (waits) wait(w, i, touch, count);
    else launch(w, i, false);
}

static void launch_waiting(Rewrite *w, const Graph *old)
{
    int32_t count = w->waiting_count;
    w->waiting_count = 0;
    memset(w->touching, 0, (size_t)w->old_values * sizeof *w->touching);
    memset(w->changing, 0, (size_t)w->old_values * sizeof *w->changing);
    for (int32_t k = 0; k < count; k++)
        launch_or_wait(w, old, w->waiting[k]);
}

// ---- the graph --------------------------------------------------------------

static void count_repeats(Rewrite *w, const Graph *old, NodeId i, int change)
{
    ValueId reads[MAX_READS];
    for (int k = node_reads(old, &w->old[i], reads) - 1; k >= 0; k--)
        if (old->values[reads[k]].persistent) w->recomputed[reads[k]] += change;
}

static Rewrite new_rewrite(Graph *g)
{
    Rewrite w = { .g = g, .old = g->nodes, .old_count = g->node_count,
                  .old_values = g->value_count };
    w.launches = NEW_ARRAY(g->arena, g->node_count, NodeId);
    w.def = NEW_ARRAY(g->arena, g->value_count, NodeId);
    w.now = NEW_ARRAY(g->arena, g->value_count, ValueId);
    w.last = NEW_ARRAY(g->arena, g->node_count, ValueId *);
    w.recomputed = NEW_ARRAY(g->arena, g->value_count, int32_t);
    w.waiting = NEW_ARRAY(g->arena, g->node_count, NodeId);
    w.touching = NEW_ARRAY(g->arena, g->value_count, int32_t);
    w.changing = NEW_ARRAY(g->arena, g->value_count, int32_t);
    w.batch_end = is_accumulating(g) ? find_batch_end(g) : NONE;
    for (NodeId i = 0; i < g->node_count; i++)
        if (is_launch(&g->nodes[i])) w.launches[w.launch_count++] = i;
    for (ValueId v = 0; v < g->value_count; v++) {
        w.def[v] = g->values[v].def;
        w.now[v] = v;
    }
    return w;
}

// ---- copies -----------------------------------------------------------------

// Appends a host copy.  From a fetch on, nodes read the fetched value.
static void put_copy(Rewrite *w, const HostCopy *copy)
{
    static const struct { const char *name; Phase phase; } row[] = {
        [COPY_OUT] = { "offload", FORWARD },
        [COPY_OUT_WAIT] = { "offload.wait", FORWARD },
        [COPY_IN] = { "fetch", BACKWARD },
        [COPY_IN_WAIT] = { "arrive", BACKWARD },
    };
    Graph *g = w->g;
    int part = copy->part;
    bool makes = part == COPY_IN;
    ValueId v = copy->value, results[] = { NONE };
    Pos pos = g->values[v].pos;
    const char *name = arena_print(g->arena, "%s.%s", g->values[v].name,
                                   row[part].name);
    if (makes) results[0] = w->now[v] = value_again(g, v, "back");
    NodeId id = graph_node(g, ops[OP_offload], part, row[part].phase, name, pos,
                           makes ? 0 : 1, &w->now[v], makes ? 1 : 0, results);
    g->nodes[id].attr[COPY_PLACE].i = copy->place;
    g->nodes[id].attr[COPY_EVENT].i = copy->event;
}

void put_copies(Graph *g, const HostCopy *copy, int32_t count)
{
    Rewrite w = new_rewrite(g);
    int32_t next = 0;
    g->node_names = names_new(g->arena, w.old_count);
    for (NodeId i = 0; i < w.old_count; i++)
        names_keep(g->node_names, w.old[i].name, i);
    g->nodes = NULL;
    g->node_count = g->node_capacity = 0;
    for (int32_t k = 0; k < w.launch_count; k++) {
        for (; next < count && copy[next].before == k; next++)
            put_copy(&w, &copy[next]);
        launch(&w, w.launches[k], false);
    }
    if (next < count) bug("offload: a copy comes too late");
    put_unread(&w);
}

// ---- room -------------------------------------------------------------------

// The nodes and values of a schedule.  Launches are counted in `now`.
typedef struct Room {
    const Rewrite *w;
    int32_t *made;              // when each old value was made last,
    int32_t *seen;              // and each node that is no launch; 0: never
    int32_t  now;
    int64_t  nodes, values;
} Room;

static void count_node(Room *m, const Node *n, bool copy)
{
    m->nodes++;
    m->values += copy ? n->result_count : 0;
}

// Counts the copies of views for a launch that reads v; returns when the
// launch below them ran.
// NOLINTNEXTLINE(misc-no-recursion)
static int32_t count_views(Room *m, ValueId v)
{
    NodeId i = v != NONE ? m->w->def[v] : NONE;
    if (i == NONE) return 0;
    const Node *n = &m->w->old[i];
    if (is_launch(n)) return m->made[v];
    int32_t last = 1;
    for (int32_t k = 0; k < n->operand_count; k++) {
        int32_t made = count_views(m, n->operands[k]);
        if (made > last) last = made;
    }
    if (last > m->seen[i]) count_node(m, n, m->seen[i] > 0);
    m->seen[i] = last;
    return last;
}

static void make_room(const Rewrite *w, const RematSchedule *schedule)
{
    Arena *arena = arena_new();
    Room m = { .w = w, .now = 1, .nodes = 0, .values = w->old_values };
    bool *done = NEW_ARRAY(arena, w->old_count, bool);
    m.made = NEW_ARRAY(arena, w->old_values, int32_t);
    m.seen = NEW_ARRAY(arena, w->old_count, int32_t);
    for (int32_t k = 0; k < schedule->count; k++) {
        NodeId i = w->launches[schedule->step[k]];
        const Node *n = &w->old[i];
        for (int32_t j = 0; j < n->operand_count; j++)
            count_views(&m, n->operands[j]);
        count_node(&m, n, done[i]);
        done[i] = true;
        m.now++;
        for (int32_t j = 0; j < n->result_count; j++)
            if (n->results[j] != NONE) m.made[n->results[j]] = m.now;
    }
    graph_make_room(w->g, m.nodes + w->old_count - w->launch_count, m.values);
    arena_free(arena);
}

// ---- schedules --------------------------------------------------------------

void remat_apply(Graph *g, const RematSchedule *schedule)
{
    // The old graph tells which values nodes read.
    Graph old = *g;
    Rewrite w = new_rewrite(g);
    size_t values = (size_t)g->value_count;
    old.values = NEW_ARRAY(g->arena, values, Value);
    memcpy(old.values, g->values, values * sizeof(Value));
    bool *done = NEW_ARRAY(g->arena, g->node_count, bool);
    g->nodes = NULL;
    g->node_count = g->node_capacity = 0;
    make_room(&w, schedule);
    g->node_names = g->value_names = NULL;      // sized for that room
    for (int32_t k = 0; k < schedule->count; k++) {
        NodeId i = w.launches[schedule->step[k]];
        if (done[i]) count_repeats(&w, &old, i, 1);
        done[i] = true;
    }
    memset(done, 0, (size_t)w.old_count * sizeof *done);
    for (int32_t k = 0; k < schedule->count; k++) {
        NodeId i = w.launches[schedule->step[k]];
        if (done[i]) {
            launch(&w, i, true);
            count_repeats(&w, &old, i, -1);
            launch_waiting(&w, &old);
        } else {
            launch_or_wait(&w, &old, i);
        }
        done[i] = true;
    }
    if (w.waiting_count > 0) bug("checkpoint: an update waits for ever");
    put_unread(&w);
}
