// Appends the end of a training step, by the train section:
//
//   cosine                    schedule: cosine(header!)
//   d.w clipped               clip_value: one launch a gradient
//   the header's scale        clip_norm: sums of each gradient, then of all
//   w.sgd                     optimizer: one launch a parameter
//   w.average                 average: likewise, after it
//   w.prune                   prune: a new mask for the next step, likewise
//   advance_step              the step is counted
//
// A setting that is absent has no nodes.
#include <string.h>

#include "../../ir/families/grad_accumulation.h"
#include "../../ir/families/prune.h"
#include "update.h"

static NodeId append(Graph *g, const Op *op, int kernel, const char *name,
                     int operand_count, const ValueId *operands,
                     ValueId result)
{
    return graph_node(g, op, kernel, UPDATE, name, g->training.optimizer_pos,
                      operand_count, operands, result != NONE, &result);
}

static void schedule_rate(Graph *g)
{
    if (g->training.schedule == NULL) return;
    NodeId id = append(g, g->training.schedule, 0, g->training.schedule->name,
                       1, &g->header,
                       NONE);
    g->nodes[id].pos = g->training.schedule_pos;
    memcpy(g->nodes[id].attr, g->training.schedule_attr,
           sizeof g->training.schedule_attr);
}

// ---- clipping ---------------------------------------------------------------

static void clip_elements(Graph *g, ValueId *d)
{
    ValueId operands[] = {*d, is_scaled(g) ? g->header : NONE};
    const char *name = arena_print(g->arena, "clip.%s", g->values[*d].name);
    ValueId clipped = graph_value(g, name, GRADIENT, g->real,
                                  g->values[*d].shape,
                                      g->training.optimizer_pos);
    NodeId id = append(g, ops[OP_clip], 0, name, 2, operands, clipped);
    g->nodes[id].attr[0].f = g->training.clip_value;
    *d = clipped;
}

// Appends a node of clip_norm that makes sums.
static ValueId append_sums(Graph *g, const char *kernel, const char *name,
                           int operand_count, const ValueId *operands)
{
    const Op *op = ops[OP_clip_norm];
    int number = 0;
    while (strcmp(op->kernels[number].name, kernel) != 0) number++;
    const Node like = { .op = op };
    ValueId sums = graph_value(g, name, WORKSPACE, F64, op->shape(g, &like),
                               g->training.optimizer_pos);
    append(g, op, number, name, operand_count, operands, sums);
    return sums;
}

// Joins sums, in groups that one node can read, until one node can read all.
static int join_sums(Graph *g, ValueId *sums, int count)
{
    enum { MOST = MAX_SLOTS - 1 };
    while (count > MOST) {
        int joined = 0;
        for (int i = 0; i < count; i += MOST) {
            int some = count - i < MOST ? count - i : MOST;
            sums[joined++] = append_sums(g, "join", "norm.join", some,
                                         sums + i);
        }
        count = joined;
    }
    return count;
}

static void clip_norm(Graph *g, const ValueId *d, int32_t value_count)
{
    ValueId *operands = NEW_ARRAY(g->arena, value_count + 1, ValueId);
    int count = 0, scale = 0;
    for (ValueId v = 0; v < value_count; v++) {
        if (g->values[v].kind != PARAM || d[v] == NONE) continue;
        const char *name =
            arena_print(g->arena, "norm.%s", g->values[d[v]].name);
        operands[++count] = append_sums(g, "", name, 1, &d[v]);
    }
    if (count == 0) return;
    count = join_sums(g, operands + 1, count);
    operands[0] = g->header;
    while (strcmp(ops[OP_clip_norm]->kernels[scale].name, "scale") != 0)
        scale++;
    NodeId id = append(g, ops[OP_clip_norm], scale, "norm.scale", 1 + count,
                       operands, NONE);
    g->nodes[id].attr[0].f = g->training.clip_norm;
}

static void clip_gradients(Graph *g, ValueId *d, int32_t value_count)
{
    for (ValueId v = 0; v < value_count && g->training.clip_value != 0; v++)
        if (g->values[v].kind == PARAM && d[v] != NONE)
            clip_elements(g, &d[v]);
    if (g->training.clip_norm != 0) clip_norm(g, d, value_count);
}

// ---- the optimizer ----------------------------------------------------------

// Lists a parameter's states in the order in which they were made: the
// optimizer's, by Op.state, then its average; not its bits.  Returns their
// number.
static int states_of(ValueId param, const int32_t *next, ValueId *states)
{
    int count = 0;
    for (int32_t v = next[param]; v != NONE && count < MAX_SLOTS; v = next[v])
        states[count++] = v;
    return count;
}

// Returns a linked list of states for each parameter.
static int32_t *list_states(const Graph *g)
{
    int32_t *next = NEW_ARRAY(g->arena, g->value_count, int32_t);
    for (ValueId v = 0; v < g->value_count; v++) next[v] = NONE;
    for (ValueId v = g->value_count - 1; v >= 0; v--) {
        ValueId param = g->values[v].state_of;
        if (param == NONE || is_pruned_bits(g, v)) continue;
        next[v] = next[param];
        next[param] = v;
    }
    return next;
}

// Appends one update: the row's slots are weight, gradient, states, header, and
// bits if the parameter is pruned.
static void update(Graph *g, ValueId param, ValueId d, const ValueId *states,
                   ValueId bits)
{
    const Op *op = g->training.optimizer;
    Slot slots[MAX_SLOTS];
    ValueId operands[MAX_SLOTS];
    int count = kernel_slots(kernel_operands(op, 0), slots, MAX_SLOTS);
    int state = 0;
    if (bits == NONE) count--;
    for (int k = 0; k < count; k++) {
        if (slot_is(&slots[k], "weight")) operands[k] = param;
        else if (slot_is(&slots[k], "gradient")) operands[k] = d;
        else if (slot_is(&slots[k], "header")) operands[k] = g->header;
        else if (slot_is(&slots[k], "pruned")) operands[k] = bits;
        else if (state < g->training.optimizer_states)
            operands[k] = states[state++];
        else operands[k] = NONE;
    }
    const char *name =
        arena_print(g->arena, "%s.%s", g->values[param].name, op->name);
    NodeId id = append(g, op, 0, name, count, operands, NONE);
    memcpy(g->nodes[id].attr, g->training.optimizer_attr,
           sizeof g->training.optimizer_attr);
}

static void average(Graph *g, ValueId param, ValueId state)
{
    if (g->values[state].init.kind != INIT_COPY) return;
    const char *name =
        arena_print(g->arena, "%s.average", g->values[param].name);
    ValueId operands[] = {state, param, g->header};
    NodeId id = append(g, ops[OP_average], 0, name, 3, operands, NONE);
    g->nodes[id].attr[0].f = g->training.average;
}

// Appends a new mask for a parameter that has bits.  It is the next step's in
// the update phase, and that of step 0 in the forward phase.
static void prune(Graph *g, ValueId param, Phase phase, ValueId bits,
                  ValueId average)
{
    ValueId operands[] = {param, bits, average, g->header};
    if (bits == NONE) return;
    const char *name =
        arena_print(g->arena, phase == UPDATE ? "%s.prune" : "%s.prune_first",
                    g->values[param].name);
    NodeId id = graph_node(g, g->training.prune, 0, phase, name,
                           g->training.prune_pos, 4, operands, 0, NULL);
    memcpy(g->nodes[id].attr, g->training.prune_attr,
           sizeof g->training.prune_attr);
    g->nodes[id].attr[PRUNE_AHEAD].i = phase == UPDATE;
}

// Returns the average among a parameter's states, or NONE.
static ValueId average_of(const Graph *g, ValueId param, const int32_t *next)
{
    ValueId states[MAX_SLOTS];
    for (int k = states_of(param, next, states) - 1; k >= 0; k--)
        if (g->values[states[k]].init.kind == INIT_COPY) return states[k];
    return NONE;
}

void prepend_first_masks(Graph *g)
{
    const int32_t *next = list_states(g);
    const ValueId *bits = list_bits(g);
    NodeId forward = g->node_count;
    for (ValueId v = 0; v < g->value_count && prunes_first_step(g); v++)
        prune(g, v, FORWARD, bits[v], average_of(g, v, next));
    graph_move_last(g, forward, 0);
}

// Appends what changes a parameter: its update, if it has a gradient, and a new
// mask, if it is pruned.
static void end_step(Graph *g, ValueId param, ValueId d, const int32_t *next,
                     ValueId bits)
{
    ValueId states[MAX_SLOTS];
    int count = states_of(param, next, states);
    if (d != NONE) {
        if (count < g->training.optimizer_states)
            bug("%s has %d states", g->values[param].name, count);
        update(g, param, d, states, bits);
        for (int k = g->training.optimizer_states; k < count; k++)
            average(g, param, states[k]);
    }
    prune(g, param, UPDATE, bits, average_of(g, param, next));
}

void append_updates(Graph *g, ValueId *d, int32_t value_count)
{
    const int32_t *next = list_states(g);
    const ValueId *bits = list_bits(g);
    for (ValueId v = 0; v < value_count && g->training.keep_gradients; v++)
        if (g->values[v].kind == PARAM && d[v] != NONE)
            g->values[d[v]].output = true;
    schedule_rate(g);
    clip_gradients(g, d, value_count);
    for (ValueId v = 0; v < value_count; v++)
        if (g->values[v].kind == PARAM) end_step(g, v, d[v], next, bits[v]);
    if (is_accumulating(g))
        append(g, ops[OP_accumulate_grad], ACCUMULATE_CLEAR, "clear", 1,
               &g->header, NONE);
    append(g, ops[OP_advance_step], 0, "advance_step", 1, &g->header, NONE);
}
