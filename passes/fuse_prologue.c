// fuse_prologue: computes cheap values where they are read instead of storing
// them.
//
//   %5 z = conv(%4, %1)
//   %9 y = batchnorm(%5, ...) act=relu          fused_load
//   %12 = conv(%9, %2)                          loads %5, normalises, activates
//   ...
//   %40 d.w = conv.wgrad(%39, %9)               and so does this one
//
// The batch norm's gradient needs z anyway, so storing y costs 4 bytes an
// element for nothing.  A node is computed on load if
//
//   - its operator has a rule for that (Kernel.load);
//   - every reader of its result can compute it: a slot marked ~;
//   - operands that it keeps alive longer have fewer bytes than it (saves);
//   - at most one operand has as many elements as its result;
//   - it ends a short chain: each reader recomputes the whole chain;
//   - it is no join, or one of its operands is computed on load (refuse_joins).
//
// A decision may store values (decide/decide_prologue.c), for the backward
// readers by a second node.  Chains are fused link by link.  A value
// made of two maps of its size (a residual sum) is stored, because reading both
// doubles the traffic.  Recomputation for a price is checkpoint's task.
#include <string.h>
#include "pass.h"
#include "../ir/dtype.h"

// The longest chain of nodes computed on load.  Sign bits may add as many, up
// to MOST_ON_LOAD.
enum { LONGEST = MOST_ON_LOAD / 2 };

typedef struct Loading {
    Graph  *g;
    Uses    uses;
    bool   *refused;            // joins that must be stored
} Loading;

// True if every reader of v can compute it on load.
static bool all_load(const Loading *l, ValueId v)
{
    const Graph *g = l->g;
    for (int32_t i = l->uses.start[v]; i < l->uses.start[v + 1]; i++) {
        const Node *n = &g->nodes[l->uses.list[i]];
        Slot slot[MAX_SLOTS];
        int slots =
            kernel_slots(kernel_operands(n->op, n->kernel), slot, MAX_SLOTS);
        for (int32_t k = 0; k < n->operand_count; k++)
            if (n->operands[k] == v && (!slot_at(slot, slots, k)->loads ||
                                        l->refused[l->uses.list[i]]))
                return false;
    }
    return true;
}

// Returns the last launch that reads v, directly or through nodes computed on
// load, ignoring node `apart`.
static NodeId last_reader(const Loading *l, ValueId v, NodeId apart)
{
    NodeId last = NONE;
    for (int32_t i = l->uses.start[v]; i < l->uses.start[v + 1]; i++) {
        NodeId reader = l->uses.list[i];
        const Node *n = &l->g->nodes[reader];
        if (reader == apart) continue;
        if (n->fused_load) reader = last_reader(l, n->results[0], apart);
        if (reader > last) last = reader;
    }
    return last;
}

// True if n reads each element of operand k about once, and not as the mask of
// an activation's gradient.
static bool reads_once(const Node *n, int k)
{
    Slot slot[MAX_SLOTS];
    int slots =
        kernel_slots(kernel_operands(n->op, n->kernel), slot, MAX_SLOTS);
    bool tells = slot_is(slot_at(slot, slots, k), "mask") ||
                 (n->op->flags & ACT && n->kernel == 1 && k == 1);
    if (tells) return false;
    if (n->op->flags & (LOSS | METRIC)) return true;
    for (int r = 0; r < n->result_count; r++)
        if (n->results[r] != NONE && may_write_over(n, r, k)) return true;
    return false;
}

// True if computing node i on load costs only its arithmetic, provided its
// result has as many bytes as the operands that live longer.  All readers then
// read an element about once: elementwise operators, losses and metrics (a bias
// after a library's GEMM, an activation).  This saves only a launch, so it must
// cost no bytes.  The result could overwrite an operand, and its readers'
// results can overwrite that operand instead.  No activation's gradient, for
// which sign bits might be kept, reads it.
static bool costs_nothing(const Loading *l, NodeId i)
{
    const Graph *g = l->g;
    ValueId v = g->nodes[i].results[0];
    bool over = false;
    for (int k = 0; k < g->nodes[i].operand_count; k++)
        over |= may_write_over(&g->nodes[i], 0, k);
    if (!over || g->values[v].marked || keeps_f32(g, v)) return false;
    for (int32_t j = l->uses.start[v]; j < l->uses.start[v + 1]; j++) {
        const Node *n = &g->nodes[l->uses.list[j]];
        for (int k = 0; k < n->operand_count; k++)
            if (n->operands[k] == v && !reads_once(n, k)) return false;
    }
    return true;
}

// True if computing node i on load saves bytes.  The operands whose lives it
// extends are then smaller than its result, or equal at no other cost.
static bool saves(const Loading *l, NodeId i)
{
    const Graph *g = l->g;
    const Value *made = &g->values[g->nodes[i].results[0]];
    NodeId until = last_reader(l, g->nodes[i].results[0], NONE);
    ValueId reads[MAX_READS];
    int64_t bytes = 0, maps = 0;
    for (int k = node_reads(g, &g->nodes[i], reads) - 1; k >= 0; k--) {
        const Value *read = &g->values[reads[k]];
        maps += elements(read->shape) >= elements(made->shape);
        bool stays = read->persistent || read->output ||
                     last_reader(l, reads[k], i) >= until;
        if (!stays) bytes += padded(value_bytes(read));
    }
    if (maps > 1) return false;
    return bytes < value_bytes(made) ||
           (bytes == padded(value_bytes(made)) && costs_nothing(l, i));
}

static bool joins(const Node *n)
{
    return n->op->kernels[n->kernel].joins;
}

static bool any_fused_load(const Graph *g, const Node *n)
{
    for (int32_t k = 0; k < n->operand_count; k++)
        if (n->operands[k] != NONE && !is_stored(g, n->operands[k]))
            return true;
    return false;
}

static bool may_fuse(const Loading *l, NodeId i)
{
    const Graph *g = l->g;
    const Node *n = &g->nodes[i];
    if (n->fused_load || n->stored || n->op->flags & VIEW ||
        nodes_on_load(g, n, LONGEST) > LONGEST || !can_load(g, n))
        return false;
    ValueId v = n->results[0];
    if (g->values[v].output || l->uses.start[v] == l->uses.start[v + 1])
        return false;
    if (joins(n) && !any_fused_load(g, n)) return false;
    return all_load(l, v) && saves(l, i);
}

// Refuses joins whose readers can't load, or are joins that are refused.
//
//   %20 a = batchnorm(%4, ...) act=relu             fused_load
//   %21 b = upsample(%19)                           fused_load
//   %22 = concat(%20, %21) axis=3                   fused_load
//   %23 = conv(%22, %3)                             loads %4 or %19 by channel
//
// A stored operand can alias a part of the join for free (pass elide_copies).
// An operand computed on load would be stored for the join alone.  So a join
// loads its operands only if it is computed on load itself.
static void refuse_joins(Loading *l)
{
    for (NodeId i = l->g->node_count - 1; i >= 0; i--) {
        const Node *n = &l->g->nodes[i];
        if (joins(n) && !all_load(l, n->results[0])) l->refused[i] = true;
    }
}

// Fuses all nodes that may be, assuming that every join not refused is fused
// too.  False if one of them could not be fused; it is refused from then on.
static bool all_fused_load(Loading *l, const bool *before)
{
    Graph *g = l->g;
    bool all = true;
    for (NodeId i = 0; i < g->node_count; i++)
        g->nodes[i].fused_load = before[i];
    for (NodeId i = 0; i < g->node_count; i++) {
        Node *n = &g->nodes[i];
        if (l->refused[i]) continue;
        if (may_fuse(l, i)) n->fused_load = true;
        else if (joins(n) && any_fused_load(g, n)) {
            l->refused[i] = true;
            all = false;
        }
    }
    return all;
}

// ---- stored values ----------------------------------------------------------

// True if v has a reader in the backward phase, or one in another.
static bool has_reader(const Graph *g, const Uses *uses, ValueId v,
                       bool backward)
{
    for (int32_t k = uses->start[v]; k < uses->start[v + 1]; k++)
        if ((g->nodes[uses->list[k]].phase == BACKWARD) == backward)
            return true;
    return false;
}

// Appends a copy of node i for its backward readers; returns it.
static NodeId make_again(Graph *g, const Uses *uses, NodeId i)
{
    Node n = g->nodes[i];
    ValueId v = n.results[0];
    Value made = g->values[v];
    const char *name = g->nameless
                           ? made.name
                           : arena_print(g->arena, "%s.backward", made.name);
    ValueId again = graph_value_like(g, v, name, made.kind, made.shape,
                                     made.pos);
    const char *node_name =
        g->nameless ? n.name : arena_print(g->arena, "%s.backward", n.name);
    NodeId copy = graph_node(g, n.op, n.kernel, BACKWARD, node_name, n.pos,
                             n.operand_count, n.operands, 1, &again);
    memcpy(g->nodes[copy].attr, n.attr, sizeof n.attr);
    g->nodes[copy].act = n.act;
    for (int32_t k = uses->start[v]; k < uses->start[v + 1]; k++) {
        Node *reader = &g->nodes[uses->list[k]];
        for (int32_t j = 0; reader->phase == BACKWARD &&
             j < reader->operand_count; j++)
            if (reader->operands[j] == v) reader->operands[j] = again;
    }
    return copy;
}

// Moves nodes from `count` on, which are copies, before their first readers.
static void put_copies_in_place(Graph *g, NodeId count)
{
    Uses uses = graph_uses(g);
    NodeId *order = NEW_ARRAY(g->arena, g->node_count, NodeId), at = 0;
    // The first copy of each reader, and the next one of the same reader.
    NodeId *head = NEW_ARRAY(g->arena, count, NodeId);
    NodeId *next = NEW_ARRAY(g->arena, g->node_count, NodeId);
    for (NodeId i = 0; i < count; i++) head[i] = NONE;
    for (NodeId k = g->node_count - 1; k >= count; k--) {
        NodeId first = uses.list[uses.start[g->nodes[k].results[0]]];
        next[k] = head[first];
        head[first] = k;
    }
    for (NodeId i = 0; i < count; i++) {
        for (NodeId k = head[i]; k != NONE; k = next[k]) order[at++] = k;
        order[at++] = i;
    }
    graph_reorder(g, order);
}

// Follows the decision: marks nodes that are stored, and makes copies.
static void make_stored(Graph *g)
{
    const uint8_t *how = g->decisions.prologue;
    NodeId count = g->node_count;
    if (how == NULL) return;
    Uses uses = graph_uses(g);
    for (NodeId i = 0; i < count; i++) {
        if (how[i] == ALL_ON_LOAD) continue;
        ValueId v = g->nodes[i].results[0];
        bool forward = has_reader(g, &uses, v, false);
        bool backward = has_reader(g, &uses, v, true);
        g->nodes[i].stored = how[i] & (forward ? STORE_FORWARD | STORE_SHARED
                                               : STORE_BACKWARD | STORE_SHARED);
        if (how[i] & STORE_SHARED || !forward || !backward) continue;
        NodeId copy = make_again(g, &uses, i);
        g->nodes[copy].stored = how[i] & STORE_BACKWARD;
    }
    if (g->node_count > count) put_copies_in_place(g, count);
}

void pass_fuse_prologue(Graph *g, const PassOptions *o)
{
    (void)o;
    make_stored(g);
    Loading l = {.g = g, .uses = graph_uses(g),
                 .refused = NEW_ARRAY(g->arena, g->node_count, bool)};
    bool *before = NEW_ARRAY(g->arena, g->node_count, bool);
    for (NodeId i = 0; i < g->node_count; i++)
        before[i] = g->nodes[i].fused_load;
    do refuse_joins(&l);
    while (!all_fused_load(&l, before));
}
