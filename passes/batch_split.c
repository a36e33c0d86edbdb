// batch_split: launches over large maps take slices of the batch.
//
//   %5 a = conv(%0 x, %1, %2)   %6 b = conv(%5, %3, %4)   %7 c = maxpool(%6)
// becomes, for a batch of 16 in slices of 8,
//   %8 x.1 = slice_batch(%0) size=8   %9 x.2 = slice_batch(%0) start=8 size=8
//   %10 a.1 = conv(%8, %1, %2)   %11 b.1 = conv(%10, %3, %4)
//   %12 c.1 = maxpool(%11)
//   %13 a.2 = conv(%9, %1, %2)   %14 b.2 = conv(%13, %3, %4)
//   %15 c.2 = maxpool(%14)
//   %7 c = concat(%12, %15) axis=0
//
// Only slices of a and b then exist, one after the other.  Pass elide_copies
// removes the copies of slices and concats.  Differentiate adds the gradients
// that the slices give to one weight, and checkpoint may recompute a slice just
// before its backward launches.
//
// The pass splits forward nodes whose results depend, sample by sample, on that
// sample alone (Op.needs_whole_batch), over maps of Graph.split_pixels pixels
// and more.  Split nodes form rounds, separated by nodes that are not split.  A
// round finishes one slice before it starts the next.  Slices that only split
// nodes read pass from round to round without a concat.  The pass skips a round
// in which no map gets smaller.
//
// Graph.split_samples sets the size of a slice; decide_batch_split.c chooses it
// for a budget.
#include <string.h>
#include "../ir/base/unique_names.h"
#include "batch_split.h"
#include "pass.h"

typedef struct Splitter {
    Graph    *g;
    Node     *old;              // the nodes as they were
    int32_t   old_count, value_count;
    int64_t   pixels;           // of the smallest maps that are split
    SplitSize size;
    bool     *inside;           // of each old node: it is split
    int32_t  *round;            // of each old node: the round it is split in,
                                // or that it runs before
    int32_t   rounds, slices;
    ValueId **slice;            // of each value, its slices; NULL: not made
    bool     *made;             // of each value: a split node makes it
    bool     *read_whole;       // of each value: other nodes read it, or it is
                                // an output
} Splitter;

// ---- the nodes to split -----------------------------------------------------

static int64_t pixels_of(Shape shape)
{
    int64_t pixels = 1;
    for (int i = 1; i < shape.rank - 1; i++) pixels *= shape.dim[i];
    return pixels;
}

static bool may_split(const Graph *g, const Node *n);

// True if slices read all of v: a weight or a state.
static bool is_whole(const Value *v)
{
    return v->persistent && !is_given(v);
}

int64_t split_pixels(const Graph *g, const Node *n)
{
    int64_t most = 0;
    if (!may_split(g, n)) return 0;
    for (int32_t k = 0; k < n->operand_count; k++) {
        if (n->operands[k] == NONE) continue;
        const Value *value = &g->values[n->operands[k]];
        int64_t pixels = pixels_of(value->shape);
        if (!is_whole(value) && pixels > most) most = pixels;
    }
    for (int32_t r = 0; r < n->result_count; r++) {
        if (n->results[r] == NONE) continue;
        int64_t pixels = pixels_of(g->values[n->results[r]].shape);
        if (pixels > most) most = pixels;
    }
    return most;
}

static bool has_batch(const Graph *g, ValueId v)
{
    const Value *value = &g->values[v];
    return value->shape.rank > 0 && value->shape.dim[0] == g->batch;
}

static bool may_split(const Graph *g, const Node *n)
{
    Slot slots[MAX_SLOTS];
    int count =
        kernel_slots(kernel_operands(n->op, n->kernel), slots, MAX_SLOTS);
    if (n->phase != FORWARD || n->kernel != 0 || n->fused_load ||
        n->op->flags & (LOSS | METRIC) ||
        (g->mode == TRAIN && n->op->needs_whole_batch &&
         n->op->needs_whole_batch(g, n)))
        return false;
    for (int32_t k = 0; k < n->operand_count; k++) {
        ValueId v = n->operands[k];
        if (slot_at(slots, count, k)->updated) return false;
        if (v != NONE && !is_whole(&g->values[v]) && !has_batch(g, v))
            return false;
    }
    for (int32_t r = 0; r < n->result_count; r++)
        if (n->results[r] != NONE && !has_batch(g, n->results[r]))
            return false;
    return n->result_count > 0 &&
           g->values[n->results[0]].dtype == g->real;
}

// Sets rounds.  A node that is not split comes before the split nodes of its
// round.  A path that leaves split nodes re-enters them in a later round.
static void find_rounds(Splitter *s)
{
    const Graph *g = s->g;
    for (NodeId i = 0; i < s->old_count; i++) {
        const Node *n = &s->old[i];
        s->inside[i] = split_pixels(g, n) >= s->pixels;
        for (int32_t k = 0; k < n->operand_count; k++) {
            NodeId def = n->operands[k] != NONE ? g->values[n->operands[k]].def
                                                : NONE;
            if (def == NONE) continue;
            int32_t after = s->round[def] +
                            (s->inside[def] && !s->inside[i]);
            if (after > s->round[i]) s->round[i] = after;
        }
        if (s->round[i] >= s->rounds) s->rounds = s->round[i] + 1;
    }
}

// Marks outputs, and values with a reader that is not split or is in another
// round.
static bool *find_leaving(const Splitter *s)
{
    const Graph *g = s->g;
    bool *leaves = NEW_ARRAY(g->arena, s->value_count, bool);
    for (ValueId v = 0; v < s->value_count; v++)
        leaves[v] = g->values[v].output;
    for (NodeId i = 0; i < s->old_count; i++)
        for (int32_t k = 0; k < s->old[i].operand_count; k++) {
            ValueId v = s->old[i].operands[k];
            NodeId def = v != NONE ? g->values[v].def : NONE;
            if (def != NONE && (!s->inside[i] || s->round[i] != s->round[def]))
                leaves[v] = true;
        }
    return leaves;
}

// Keeps only rounds that make a stored map which no node outside the round
// reads: only such a map gets smaller.
static void drop_idle_rounds(Splitter *s)
{
    const Graph *g = s->g;
    const bool *leaves = find_leaving(s);
    bool *works = NEW_ARRAY(g->arena, s->rounds, bool);
    for (NodeId i = 0; i < s->old_count; i++) {
        const Node *n = &s->old[i];
        if (!s->inside[i] || leaves[n->results[0]] || n->op->flags & VIEW ||
            can_load(g, n))
            continue;
        works[s->round[i]] = true;
        s->size.bytes += value_bytes(&g->values[n->results[0]]);
    }
    const bool *trained = trained_values(g);
    for (NodeId i = 0; i < s->old_count; i++) {
        s->inside[i] = s->inside[i] && works[s->round[i]];
        s->size.nodes += s->inside[i];
        s->size.trained += s->inside[i] && trained[s->old[i].results[0]];
    }
}

static void find_borders(Splitter *s)
{
    for (ValueId v = 0; v < s->value_count; v++) {
        const Value *value = &s->g->values[v];
        s->made[v] = value->def != NONE && s->inside[value->def];
        s->read_whole[v] = value->output;
    }
    for (NodeId i = 0; i < s->old_count; i++)
        for (int32_t k = 0; k < s->old[i].operand_count; k++)
            if (s->old[i].operands[k] != NONE && !s->inside[i])
                s->read_whole[s->old[i].operands[k]] = true;
}

// ---- the new nodes ----------------------------------------------------------

static void copy_node(Graph *g, const Node *n, const char *name,
                      const ValueId *operands, const ValueId *results,
                      int64_t first)
{
    NodeId id = graph_node(g, n->op, n->kernel, n->phase, name, n->pos,
                           n->operand_count, operands, n->result_count,
                           results);
    Node *copy = &g->nodes[id];
    memcpy(copy->attr, n->attr, sizeof n->attr);
    copy->act = n->act;
    copy->fused_load = n->fused_load;
    if (first > 0 && n->op->rebase_samples != NULL)
        n->op->rebase_samples(copy, first);
}

static int64_t first_sample(const Splitter *s, int32_t k)
{
    int64_t first = k * s->g->decisions.split_samples;
    return first < s->g->batch ? first : s->g->batch;
}

static ValueId new_slice(Splitter *s, ValueId v, int32_t k)
{
    Graph *g = s->g;
    Value whole = g->values[v];
    whole.shape.dim[0] = first_sample(s, k + 1) - first_sample(s, k);
    ValueId slice = graph_value_like(
        g, v, arena_print(g->arena, "%s.slice_%d", whole.name, (int)k + 1),
        whole.kind == INPUT ? ACTIVATION : whole.kind, whole.shape, whole.pos);
    g->values[slice].marked = whole.marked;
    if (s->slice[v] == NULL)
        s->slice[v] = NEW_ARRAY(g->arena, s->slices, ValueId);
    s->slice[v][k] = slice;
    return slice;
}

// Slices the values from outside that n reads, into all slices one after
// another.
static void slice_batch(Splitter *s, const Node *n)
{
    Graph *g = s->g;
    for (int32_t j = 0; j < n->operand_count; j++) {
        ValueId v = n->operands[j];
        if (v == NONE || is_whole(&g->values[v]) || s->made[v] ||
            s->slice[v] != NULL)
            continue;
        for (int32_t k = 0; k < s->slices; k++) {
            ValueId slice = new_slice(s, v, k);
            NodeId id = graph_node(g, ops[OP_slice_batch], 0, FORWARD,
                                   g->values[slice].name, n->pos, 1, &v, 1,
                                   &slice);
            g->values[slice].marked = false;
            g->nodes[id].attr[0].i = first_sample(s, k);
            g->nodes[id].attr[1].i = g->values[slice].shape.dim[0];
        }
    }
}

static void split_node(Splitter *s, const Node *n, int32_t k)
{
    Graph *g = s->g;
    ValueId operands[MAX_SLOTS], results[MAX_SLOTS];
    for (int32_t j = 0; j < n->operand_count; j++) {
        ValueId v = n->operands[j];
        operands[j] = v == NONE || s->slice[v] == NULL ? v : s->slice[v][k];
    }
    for (int32_t r = 0; r < n->result_count; r++)
        results[r] = n->results[r] != NONE ? new_slice(s, n->results[r], k)
                                           : NONE;
    copy_node(g, n, arena_print(g->arena, "%s.slice_%d", n->name, (int)k + 1),
              operands, results, first_sample(s, k));
}

static void join_slices(Splitter *s, const Node *n)
{
    for (int32_t r = 0; r < n->result_count; r++) {
        ValueId v = n->results[r];
        if (v == NONE || !s->read_whole[v]) continue;
        graph_node(s->g, ops[OP_concat], 0, FORWARD,
                   s->g->values[v].name, n->pos, s->slices, s->slice[v], 1, &v);
    }
}

static void split_round(Splitter *s, int32_t round)
{
    for (NodeId i = 0; i < s->old_count; i++)
        if (s->inside[i] && s->round[i] == round) slice_batch(s, &s->old[i]);
    for (int32_t k = 0; k < s->slices; k++)
        for (NodeId i = 0; i < s->old_count; i++)
            if (s->inside[i] && s->round[i] == round)
                split_node(s, &s->old[i], k);
    for (NodeId i = 0; i < s->old_count; i++)
        if (s->inside[i] && s->round[i] == round) join_slices(s, &s->old[i]);
}

static void make_nodes(Splitter *s)
{
    Graph *g = s->g;
    g->nodes = NULL;
    g->node_count = g->node_capacity = 0;
    g->node_names = names_new(g->arena, s->old_count);
    for (int32_t round = 0; round < s->rounds; round++) {
        for (NodeId i = 0; i < s->old_count; i++) {
            const Node *n = &s->old[i];
            if (!s->inside[i] && s->round[i] == round)
                copy_node(g, n, n->name, n->operands, n->results, 0);
        }
        split_round(s, round);
    }
}

static Splitter new_splitter(Graph *g, int64_t pixels)
{
    Splitter s = {
        .g = g, .old = g->nodes, .old_count = g->node_count,
        .value_count = g->value_count, .pixels = pixels > 0 ? pixels : 1,
        .inside = NEW_ARRAY(g->arena, g->node_count, bool),
        .round = NEW_ARRAY(g->arena, g->node_count, int32_t),
    };
    find_rounds(&s);
    drop_idle_rounds(&s);
    return s;
}

SplitSize split_size(const Graph *g, int64_t pixels)
{
    return new_splitter((Graph *)g, pixels).size;
}

void pass_batch_split(Graph *g, const PassOptions *o)
{
    (void)o;
    if (g->decisions.split_samples == 0 ||
        g->decisions.split_samples >= g->batch) return;
    Splitter s = new_splitter(g, g->decisions.split_pixels);
    s.slices = (int32_t)ceil_div(g->batch, g->decisions.split_samples);
    if (s.slices > MOST_SLICES) bug("batch_split: %d slices", (int)s.slices);
    s.slice = NEW_ARRAY(g->arena, g->value_count, ValueId *);
    s.made = NEW_ARRAY(g->arena, g->value_count, bool);
    s.read_whole = NEW_ARRAY(g->arena, g->value_count, bool);
    find_borders(&s);
    make_nodes(&s);
    graph_compact(g);
}
