// fuse_last_block: the last block of the launch that makes partial sums
// finishes the reduction.
//
//   p = a.statistics(x)                   m, v, p = a.whole(x, w, header)
//   m, v = a.moments(p, x, w)         ->
//
// Applies if the operator has a kernel that does both (Kernel.ending), and no
// other node reads the partial sums.  It needs the header, which counts the
// blocks that have ended.  Sums keep their order, so no bit changes.  The new
// node replaces the second one, so the second one's other operands exist when
// it runs.
#include <string.h>
#include "../ir/op/op.h"
#include "pass.h"

// Finds the operand of n in the slot of this name; false: n has no such slot.
static bool find_operand(const Node *n, const Slot *slot, ValueId *found)
{
    Slot slots[MAX_SLOTS];
    int count =
        kernel_slots(kernel_operands(n->op, n->kernel), slots, MAX_SLOTS);
    for (int k = 0; k < count && k < n->operand_count; k++) {
        if (slots[k].length != slot->length ||
            strncmp(slots[k].name, slot->name, (size_t)slot->length) != 0)
            continue;
        *found = n->operands[k];
        return true;
    }
    return false;
}

// Finds the operands of the kernel that does both nodes, by slot names; false
// if the two nodes have different operands of one name.
static bool find_operands(const Graph *g, const Node *n, const Node *reader,
                          int kernel, ValueId *operands, int *count)
{
    Slot slots[MAX_SLOTS];
    *count = kernel_slots(kernel_operands(n->op, kernel), slots, MAX_SLOTS);
    for (int k = 0; k < *count; k++) {
        ValueId others = NONE;
        operands[k] = NONE;
        bool own = find_operand(n, &slots[k], &operands[k]);
        bool theirs = find_operand(reader, &slots[k], &others);
        if (own && theirs && operands[k] != others) return false;
        if (!own) operands[k] = others;
        if (slot_is(&slots[k], "header")) operands[k] = g->header;
    }
    return true;
}

static ValueId *copy_ids(Arena *arena, const ValueId *ids, int count)
{
    ValueId *copy = NEW_ARRAY(arena, count, ValueId);
    for (int k = 0; k < count; k++) copy[k] = ids[k];
    return copy;
}

static void end(Graph *g, NodeId i, NodeId at)
{
    Node *n = &g->nodes[i], *reader = &g->nodes[at];
    int kernel = n->op->kernels[n->kernel].ending, count = 0, results = 0;
    ValueId operands[MAX_SLOTS], made[MAX_SLOTS];
    if (reader->op != n->op || reader->phase != n->phase ||
        reader->operands[0] != n->results[0] || !is_launch(reader) ||
        !same_attributes(n, reader) ||
        !find_operands(g, n, reader, kernel, operands, &count))
        return;
    for (; results < reader->result_count; results++)
        made[results] = reader->results[results];
    made[results++] = n->results[0];
    g->values[n->results[0]].def = at;
    reader->kernel = (int8_t)kernel;
    reader->operands = copy_ids(g->arena, operands, count);
    reader->results = copy_ids(g->arena, made, results);
    reader->operand_count = count;
    reader->result_count = results;
    n->op = NULL;
}

void pass_fuse_last_block(Graph *g, const PassOptions *o)
{
    (void)o;
    Uses uses = graph_uses(g);
    for (NodeId i = 0; i < g->node_count; i++) {
        const Node *n = &g->nodes[i];
        if (n->op == NULL || n->op->kernels[n->kernel].ending == 0) continue;
        NodeId reader = only_reader(g, &uses, n->results[0]);
        if (reader != NONE) end(g, i, reader);
    }
    graph_compact(g);
}
