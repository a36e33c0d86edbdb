// Checks training: the preconditions of pass differentiate, and the order of
// facts.  The front end makes only valid graphs, but a graph that was read may
// contain anything.
#include <inttypes.h>
#include "../families/grad_accumulation.h"
#include "../families/loss_scale.h"
#include "../families/momentum.h"
#include "../dtype.h"
#include "../families/optimizer.h"
#include "../families/prune.h"
#include "verify.h"

// A gradient has the shape and type of its value.  Partial sums, which do not,
// are gradients of no value.
void check_gradient(const Check *c, ValueId id)
{
    const Graph *g = c->g;
    const Value *d = &g->values[id];

    if (d->gradient_of == NONE) return;
    if (d->gradient_of < 0 || d->gradient_of >= g->value_count)
        value_fault(c, id, "it is the gradient of %%%" PRId32, d->gradient_of);
    const Value *of = &g->values[d->gradient_of];
    if (!same_shape(d->shape, of->shape) || !is_real(d->dtype) ||
        (d->dtype != of->dtype && g->map == g->real))
        value_fault(c, id, "it has not the shape and type of %s, whose "
                    "gradient it is", of->name);
}

// The bits of a pruned parameter.
static void check_bits(const Check *c, ValueId id)
{
    const Graph *g = c->g;
    Shape weight = g->values[g->values[id].state_of].shape;
    if (!is_pruning(g))
        value_fault(c, id, "it has bits, but the net is not pruned");
    if (!same_shape(g->values[id].shape, shape_of_bits(weight)))
        value_fault(c, id, "it has not a bit for each weight");
}

void check_state(const Check *c, ValueId id)
{
    const Graph *g = c->g;
    const Value *state = &g->values[id];

    if (state->state_of == NONE) return;
    if (state->state_of < 0 || state->state_of >= g->value_count ||
        g->values[state->state_of].kind != PARAM)
        value_fault(c, id, "it is a state of %%%" PRId32 ", no parameter",
                    state->state_of);
    const Value *of = &g->values[state->state_of];
    if (of->frozen)
        value_fault(c, id, "it is a state of %s, which is frozen", of->name);
    if (is_pruned_bits(g, id)) {
        check_bits(c, id);
        return;
    }
    if (!same_shape(state->shape, of->shape) || state->dtype != of->dtype)
        value_fault(c, id, "it has not the shape and type of %s, whose state "
                    "it is", of->name);
}

// Each fact except the first requires the one before it.
static void check_order(const Check *c)
{
    for (int i = 1; i < FACT_COUNT; i++)
        if (c->g->facts & 1u << i && !(c->g->facts & 1u << (i - 1)))
            fault(c, "it %s, but not %s", fact_names[i], fact_names[i - 1]);
}

static void check_all_forward(const Check *c)
{
    for (NodeId i = 0; i < c->g->node_count; i++)
        if (c->g->nodes[i].phase != FORWARD)
            node_fault(c, i, "phase %s in a graph without gradients",
                       phase_names[c->g->nodes[i].phase]);
}

static void check_called(const Check *c, const Op *op, unsigned flag,
                         const char *what)
{
    if (op != NULL && !(op->flags & flag))
        fault(c, "%s is no %s", op->name, what);
}

// The row's slots are weight, gradient, required states, optional states, the
// header, and the bits of a pruned weight.
static void check_states(const Check *c)
{
    const Op *op = c->g->training.optimizer;
    Slot slot[MAX_SLOTS];
    int slots = kernel_slots(op->operands, slot, MAX_SLOTS) - 1, fewest = -3;
    int states = c->g->training.optimizer_states;

    for (int k = 0; k < slots; k++) fewest += !slot[k].optional;
    if (states < fewest || states > slots - 3)
        fault(c, "%s keeps from %d to %d states, not %d", op->name, fewest,
              slots - 3, states);
}

static void check_states_of_params(const Check *c)
{
    const Graph *g = c->g;
    int *count = NEW_ARRAY(g->arena, (size_t)g->value_count, int);

    for (ValueId v = 0; v < g->value_count; v++)
        if (g->values[v].state_of != NONE && !is_pruned_bits(g, v))
            count[g->values[v].state_of]++;
    for (ValueId v = 0; v < g->value_count; v++)
        if (is_trained(&g->values[v]) &&
            count[v] < g->training.optimizer_states)
            value_fault(c, v, "it has %d states of %d", count[v],
                        g->training.optimizer_states);
}

// An update reads and writes the states of its own parameter.
static void check_update(const Check *c, NodeId id)
{
    const Graph *g = c->g;
    const Node *n = &g->nodes[id];

    if (!(n->op->flags & OPTIMIZER)) return;
    ValueId param = n->operands[UPDATED_WEIGHT];
    for (int k = UPDATED_WEIGHT + 1; k < n->operand_count; k++) {
        ValueId v = n->operands[k];
        if (v != NONE && v != g->header && g->values[v].kind == STATE &&
            g->values[v].state_of != param)
            node_fault(c, id, "%s is no state of %s", g->values[v].name,
                       g->values[param].name);
    }
}

// A node that accumulates adds to the momentum of each parameter, as the
// optimizer's update begins.
static void check_momenta(const Check *c, NodeId id)
{
    const Graph *g = c->g;
    const Node *n = &g->nodes[id];
    Momentum m;

    if (!accumulates(n)) return;
    if (g->training.optimizer == NULL ||
        g->training.optimizer->momentum == NULL ||
        !g->training.optimizer->momentum(g, &m))
        node_fault(c, id, "it accumulates, which the optimizer does not");
    for (int k = ACCUMULATED; k + 1 < n->operand_count; k += 2) {
        ValueId param = n->operands[k], state = n->operands[k + 1];
        if (param == NONE && state == NONE) continue;
        if (param == NONE || state == NONE || g->values[param].kind != PARAM ||
            g->values[state].state_of != param)
            node_fault(c, id, "operand %d is no state of operand %d", k + 1, k);
    }
    if (n->operands[n->operand_count - 1] != g->header)
        node_fault(c, id, "its last operand is not the header");
}

// ---- gradient accumulation --------------------------------------------------

// Each parameter has a sum, and each running statistic as many as there are
// nodes that move it.
static void check_sums(const Check *c)
{
    const Graph *g = c->g;
    int *sums = NEW_ARRAY(g->arena, (size_t)g->value_count, int);

    for (ValueId v = 0; v < g->value_count; v++)
        if (is_sum(g, v)) sums[g->values[v].gradient_of]++;
    for (ValueId v = 0; v < g->value_count; v++)
        if (is_trained(&g->values[v]) && sums[v] == 0)
            value_fault(c, v, "it has no sum over batches");
    for (NodeId i = 0; i < g->node_count && g->mode == TRAIN; i++) {
        const Node *n = &g->nodes[i];
        bool moves = n->phase == FORWARD && has_update(n);
        for (int k = 0; moves && k < n->operand_count; k++)
            if (n->operands[k] != NONE &&
                g->values[n->operands[k]].kind == STATISTIC &&
                !g->values[n->operands[k]].frozen &&
                sums[n->operands[k]]-- <= 0)
                node_fault(c, i, "%s has no sum over batches",
                           g->values[n->operands[k]].name);
    }
}

// Before differentiate each parameter has a sum.  After it, the last node of a
// batch precedes the whole update, which reads only sums.
static void check_accumulation(const Check *c)
{
    const Graph *g = c->g;
    NodeId end = find_batch_end(g);

    if (g->training.step_batch < g->batch || g->mode == INFER)
        fault(c, "no training step has batches of %" PRId64 " in %" PRId64,
              g->batch, g->training.step_batch);
    check_sums(c);
    if (!(g->facts & HAS_GRADIENTS) || g->mode != TRAIN) return;
    if (end == NONE) fault(c, "no batch ends");
    for (NodeId i = 0; i < g->node_count; i++) {
        const Node *n = &g->nodes[i];
        if ((n->phase == UPDATE) != (i > end))
            node_fault(c, i, "phase %s, but a batch ends with [%" PRId32 "]",
                       phase_names[n->phase], end);
        for (int k = 0; k < n->operand_count && i > end; k++) {
            NodeId def = n->operands[k] == NONE
                             ? NONE : g->values[n->operands[k]].def;
            if (def != NONE && def <= end)
                node_fault(c, i, "reads %s of the last batch alone",
                           g->values[n->operands[k]].name);
        }
    }
}

// ---- a scaled loss ----------------------------------------------------------

// The gradient of a loss reads the header exactly if the loss is scaled.
static void check_loss(const Check *c, NodeId id)
{
    const Graph *g = c->g;
    const Node *n = &g->nodes[id];
    int slot = n->op->flags & LOSS ? operand_called(n, "header") : NONE;

    if (slot == NONE) return;
    ValueId wanted = is_scaled(g) ? g->header : NONE;
    if (n->operands[slot] != wanted)
        node_fault(c, id, wanted == NONE ? "its loss is not to be scaled"
                                         : "its loss is to be scaled");
}

// The gradient of an update, before or after clipping, was checked for
// overflow.
static void check_looked_at(const Check *c, NodeId id, const bool *seen)
{
    const Graph *g = c->g;
    ValueId d = g->nodes[id].operands[UPDATE_GRADIENT];

    if (seen[d]) return;
    const Node *def = g->values[d].def == NONE
                          ? NULL : &g->nodes[g->values[d].def];
    if (def == NULL || def->phase != UPDATE || def->operand_count == 0 ||
        def->operands[0] == NONE || !seen[def->operands[0]])
        node_fault(c, id, "nothing has checked %s", g->values[d].name);
}

// True if n changes values that the next training step reads.
static bool changes_state(const Graph *g, const Node *n)
{
    Slot slot[MAX_SLOTS];
    int slots =
        kernel_slots(kernel_operands(n->op, n->kernel), slot, MAX_SLOTS);

    for (int k = 0; k < n->operand_count && k < slots; k++)
        if (slot[k].updated && n->operands[k] != NONE &&
            n->operands[k] != g->header &&
            is_persistent(g->values[n->operands[k]].kind))
            return true;
    return false;
}

// The order is: checks of gradients, the beginning of the update, the updates.
static void check_scaled(const Check *c)
{
    const Graph *g = c->g;
    bool *seen = NEW_ARRAY(g->arena, (size_t)g->value_count, bool);
    bool begun = false;

    for (NodeId i = 0; i < g->node_count; i++) {
        const Node *n = &g->nodes[i];
        for (int k = 0; k < n->operand_count && finds_overflow(n); k++)
            if (n->operands[k] != NONE) seen[n->operands[k]] = true;
        if (begun && (finds_overflow(n) || begins_scaled_update(n)))
            node_fault(c, i, "the update has begun");
        begun |= begins_scaled_update(n);
        if (n->phase != UPDATE) continue;
        if (!begun && changes_state(g, n))
            node_fault(c, i, "the update has not begun");
        if (n->op == g->training.optimizer) check_looked_at(c, i, seen);
    }
    if (!begun) fault(c, "no update of a scaled loss begins");
}

// The mask of a gated gradient has the shape of its result.
static void check_gated(const Check *c, NodeId id)
{
    const Node *n = &c->g->nodes[id];
    int mask = operand_called(n, "mask");

    if (n->kernel == 0 || n->op->kernels[0].gated != n->kernel) return;
    if (n->act == NULL || !(n->act->flags & BY_SIGN))
        node_fault(c, id, "no sign says where its gradient is 0");
    if (elements(c->g->values[n->operands[mask]].shape) !=
        elements(c->g->values[n->results[0]].shape))
        node_fault(c, id, "%s is not the gradient's value",
                   c->g->values[n->operands[mask]].name);
}

static void check_scale(const Check *c)
{
    enum { MOST_STEPS = 1000000000 };
    const Graph *g = c->g;

    if (g->training.loss_scale != 0 && !is_loss_scale(g->training.loss_scale))
        fault(c, "no loss is scaled by %.15g", g->training.loss_scale);
    if (g->training.loss_scale_interval < 0 ||
        g->training.loss_scale_interval > MOST_STEPS ||
        (g->training.loss_scale_interval > 0 && g->training.loss_scale == 0))
        fault(c, "no scale moves after %" PRId64 " steps",
              g->training.loss_scale_interval);
    if (!(g->facts & HAS_GRADIENTS) || g->mode != TRAIN) return;
    for (NodeId i = 0; i < g->node_count; i++) check_loss(c, i);
    if (is_scaled(g)) check_scaled(c);
}

void check_batch(const Check *c)
{
    const Graph *g = c->g;

    if (g->batch < 1 || g->batch > MAX_BATCH)
        fault(c, "a batch has from 1 to %d samples, not %" PRId64, MAX_BATCH,
              g->batch);
    if (g->training.step_batch < 0 || g->training.step_batch > MAX_BATCH ||
        g->training.accumulate < 0 || g->training.accumulate > MAX_BATCH)
        fault(c, "no training step has this number of samples");
}

// ---- pruning ----------------------------------------------------------------

static void check_schedule_of_masks(const Check *c)
{
    const Attr *attr = c->g->training.prune_attr;
    const Node node = { .op = c->g->training.prune };
    int64_t begin = attr[PRUNE_BEGIN].i, end = attr[PRUNE_END].i;
    bool is_constant = attr[PRUNE_INITIAL].f == attr[PRUNE_FINAL].f;
    bool is_part = attr[PRUNE_INITIAL].f >= 0 && attr[PRUNE_INITIAL].f < 1 &&
                   attr[PRUNE_FINAL].f >= 0 && attr[PRUNE_FINAL].f < 1;
    if (!makes_mask(&node) || attr[PRUNE_EVERY].i < 1 || begin < 0 ||
        attr[PRUNE_AHEAD].i != 0 || !is_part || !(attr[PRUNE_POWER].f >= 0) ||
        (is_constant ? end != -1 && end < begin : end <= begin))
        fault(c, "no weights are pruned like this");
}

// An optimizer has the bits of the weight that it updates, and a new mask
// changes a weight, its bits and its average after that.
static void check_masks(const Check *c)
{
    const Graph *g = c->g;
    bool *masked = NEW_ARRAY(g->arena, (size_t)g->value_count, bool);
    const ValueId *bits = list_bits(g);
    for (NodeId i = 0; i < g->node_count; i++) {
        const Node *n = &g->nodes[i];
        ValueId v = n->operand_count > 0 ? n->operands[0] : NONE;
        bool updates = n->op == g->training.optimizer;
        if (updates && operand_named(n, "pruned") != bits[v])
            node_fault(c, i, "it has not the bits of %s", g->values[v].name);
        if (updates && masked[v])
            node_fault(c, i, "%s has its new mask", g->values[v].name);
        if (!makes_mask(n)) continue;
        ValueId average = n->operands[PRUNED_AVERAGE];
        if (n->operands[PRUNED_BITS] != bits[v])
            node_fault(c, i, "it has not the bits of %s", g->values[v].name);
        if (average != NONE && g->values[average].state_of != v)
            node_fault(c, i, "it has not the average of %s", g->values[v].name);
        if ((n->phase == UPDATE) != (n->attr[PRUNE_AHEAD].i == 1))
            node_fault(c, i, "its mask is of another step");
        if (n->phase == UPDATE) masked[v] = true;
    }
    for (ValueId v = 0; v < g->value_count; v++)
        if (bits[v] != NONE && !masked[v])
            value_fault(c, bits[v], "no node makes a mask");
}

static void check_pruning(const Check *c)
{
    const Graph *g = c->g;
    if (!is_pruning(g)) return;
    check_schedule_of_masks(c);
    const ValueId *bits = list_bits(g);
    for (ValueId v = 0; v < g->value_count; v++)
        if (is_pruned_bits(g, v) && bits[g->values[v].state_of] != v)
            value_fault(c, v, "its parameter has other bits");
    if (g->facts & HAS_GRADIENTS && g->mode == TRAIN) check_masks(c);
}

void check_training(const Check *c)
{
    const Graph *g = c->g;

    check_order(c);
    check_called(c, g->training.optimizer, OPTIMIZER, "optimizer");
    check_called(c, g->training.schedule, SCHEDULE, "schedule");
    if (is_accumulating(g)) check_accumulation(c);
    check_scale(c);
    check_pruning(c);
    for (NodeId i = 0; i < g->node_count; i++) {
        check_update(c, i);
        check_momenta(c, i);
        check_gated(c, i);
    }
    if (g->facts & HAS_GRADIENTS) return;
    check_all_forward(c);
    if (g->mode != TRAIN) return;
    if (g->training.optimizer == NULL) fault(c,
                                             "mode train without an optimizer");
    check_states(c);
    check_states_of_params(c);
}
