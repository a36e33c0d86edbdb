// Appends the end of a training step, by the train section:
//
//   cosine                    schedule: cosine(header!)
//   d.w clipped               clip_value: one launch a gradient
//   the header's scale        clip_norm: sums of each gradient, then of all
//   w.sgd                     optimizer: one launch a parameter
//   w.average                 average: likewise, after it
//   advance_step              the step is counted
//
// A setting that is absent has no nodes.
#include <string.h>

#include "../../ir/families/grad_accumulation.h"
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
// optimizer's, by Op.state, then its average.  Returns their number.
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
        if (param == NONE) continue;
        next[v] = next[param];
        next[param] = v;
    }
    return next;
}

// Appends one update: the row's slots are weight, gradient, states, header.
static void update(Graph *g, ValueId param, ValueId d, const ValueId *states)
{
    const Op *op = g->training.optimizer;
    Slot slots[MAX_SLOTS];
    ValueId operands[MAX_SLOTS];
    int count = kernel_slots(kernel_operands(op, 0), slots, MAX_SLOTS);
    int state = 0;
    for (int k = 0; k < count; k++) {
        if (slot_is(&slots[k], "weight")) operands[k] = param;
        else if (slot_is(&slots[k], "gradient")) operands[k] = d;
        else if (slot_is(&slots[k], "header")) operands[k] = g->header;
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

void append_updates(Graph *g, ValueId *d, int32_t value_count)
{
    const int32_t *next = list_states(g);
    for (ValueId v = 0; v < value_count && g->training.keep_gradients; v++)
        if (g->values[v].kind == PARAM && d[v] != NONE)
            g->values[d[v]].output = true;
    schedule_rate(g);
    clip_gradients(g, d, value_count);
    for (ValueId v = 0; v < value_count; v++) {
        ValueId states[MAX_SLOTS];
        if (g->values[v].kind != PARAM || d[v] == NONE) continue;
        int count = states_of(v, next, states);
        if (count < g->training.optimizer_states)
            bug("%s has %d states", g->values[v].name, count);
        update(g, v, d[v], states);
        for (int k = g->training.optimizer_states; k < count; k++)
            average(g, v, states[k]);
    }
    if (is_accumulating(g))
        append(g, ops[OP_accumulate_grad], ACCUMULATE_CLEAR, "clear", 1,
               &g->header, NONE);
    append(g, ops[OP_advance_step], 0, "advance_step", 1, &g->header, NONE);
}
