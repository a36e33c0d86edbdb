// Finds dependences from the graph's order: a reader waits for the maker of its
// operand.  A value computed on load is read where it is loaded.  If a value is
// updated in place, the updater waits for all readers since the update before,
// and later readers wait for the updater.  So a weight's update waits for the
// data gradient, and a node that draws random numbers stays before the step
// counter advances.  A scaled loss's gradient and accumulate_metrics touch
// different parts of the header.  Before share_buffers only views alias.  If
// gradients are summed over batches, all nodes of a batch precede its end, and
// that precedes the update.
#include "../../ir/families/grad_accumulation.h"
#include "../../ir/families/loss.h"
#include "dependences.h"

// The nodes that have touched each class of values so far.
typedef struct Touched {
    NodeId  *updater;           // the last, or NONE
    NodeId   metrics;           // or NONE
    NodeId   before_metrics;    // the header's updater at that time
    int32_t *readers;           // since the last update, lists in cells
    Edge    *cells;
    int32_t  count, capacity;
} Touched;

static void add_edge(Dependences *d, NodeId before, NodeId after)
{
    if (before == NONE || before == after) return;
    d->edges = arena_grow(d->g->arena, d->edges, &d->capacity,
                          (int64_t)d->count + 1, sizeof(Edge));
    d->edges[d->count] = (Edge){after, d->first[before]};
    d->first[before] = d->count++;
    d->needed[after]++;
}

// Returns the node whose update of the class node i waits for, or NONE.
static NodeId updater_for(const Dependences *d, const Touched *touched,
                          NodeId i, ValueId class)
{
    NodeId updater = touched->updater[class];
    bool apart = updater != NONE && updater == touched->metrics &&
                 reads_scale_alone(&d->g->nodes[i]);
    return apart ? touched->before_metrics : updater;
}

static void read_value(Dependences *d, Touched *touched, NodeId i, ValueId v,
                       ValueId class)
{
    add_edge(d, d->g->values[v].def, i);
    add_edge(d, updater_for(d, touched, i, class), i);
    touched->cells = arena_grow(d->g->arena, touched->cells,
                                &touched->capacity,
                                (int64_t)touched->count + 1, sizeof(Edge));
    touched->cells[touched->count] = (Edge){i, touched->readers[class]};
    touched->readers[class] = touched->count++;
}

static void update_value(Dependences *d, Touched *touched, NodeId i,
                         ValueId class)
{
    int32_t k = touched->readers[class];
    for (; k != NONE; k = touched->cells[k].next)
        // There are cells where there is a reader.
        // NOLINTNEXTLINE(clang-analyzer-core.NullDereference)
        add_edge(d, touched->cells[k].to, i);
    touched->readers[class] = NONE;
    if (i == touched->metrics)
        touched->before_metrics = touched->updater[class];
    touched->updater[class] = i;
}

static void visit(Dependences *d, Touched *touched, NodeId i,
                  const ValueId *class_of)
{
    const Node *n = &d->g->nodes[i];
    Slot slots[MAX_SLOTS];
    int count =
        kernel_slots(kernel_operands(n->op, n->kernel), slots, MAX_SLOTS);
    ValueId reads[MAX_READS];
    for (int32_t k = 0; k < n->operand_count; k++) {
        ValueId v = n->operands[k];
        if (v != NONE && (n->fused_load || !is_stored(d->g, v)))
            add_edge(d, d->g->values[v].def, i);
    }
    for (int k = node_reads(d->g, n, reads) - 1; k >= 0; k--)
        read_value(d, touched, i, reads[k], class_of[reads[k]]);
    for (int32_t k = 0; k < n->operand_count && k < count; k++)
        if (n->operands[k] != NONE && slots[k].updated)
            update_value(d, touched, i, class_of[n->operands[k]]);
}

static int32_t *new_lists(Arena *arena, int32_t count)
{
    int32_t *lists = NEW_ARRAY(arena, count, int32_t);
    for (int32_t i = 0; i < count; i++) lists[i] = NONE;
    return lists;
}

static void part_batch_from_update(Dependences *d)
{
    NodeId end = is_accumulating(d->g) ? find_batch_end(d->g) : NONE;
    for (NodeId i = 0; i < d->g->node_count && end != NONE; i++)
        if (d->g->nodes[i].phase == UPDATE) add_edge(d, end, i);
        else add_edge(d, i, end);
}

Dependences find_dependences(Graph *g, const ValueId *class_of)
{
    Dependences d = {.g = g, .first = new_lists(g->arena, g->node_count),
                     .needed = NEW_ARRAY(g->arena, g->node_count, int32_t)};
    const Node *metrics = find_metric_sums(g);
    Touched touched = {.updater = new_lists(g->arena, g->value_count),
                       .metrics = metrics ? (NodeId)(metrics - g->nodes) : NONE,
                       .readers = new_lists(g->arena, g->value_count)};
    for (NodeId i = 0; i < g->node_count; i++)
        visit(&d, &touched, i, class_of);
    part_batch_from_update(&d);
    return d;
}
