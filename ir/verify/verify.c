// The verifier: defines the invariants of every graph and of each fact, and
// runs after every pass.  The first fault ends the compiler, since it is a
// pass's and not the user's.  Faults of a graph read from text are reported as
// errors.  verify_plan checks in the final plan that live buffers do not
// overlap.
//
//   always         ids in range; a value is made once, by the node it names,
//                  and before it is read; slots as the kernel lists them;
//                  shapes and types; what is updated is persistent
//   not scheduled  phases follow each other
//   no gradients   nodes are forward; states for updates   verify_training.c
//   HAS_GRADIENTS  parameters are read before they are updated
//   HAS_LIFETIMES  a value lives wherever it is made or read
//   IS_SHARED      an overwritten value is not read later     verify_memory.c
//   IS_PLACED      offsets are aligned and inside the arena   verify_memory.c
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>
#include "../base/unique_names.h"
#include "../families/prune.h"
#include "../launch_group.h"
#include "verify.h"

// Reports a fault: as an error at pos for a graph that was read, or by bug().
static _Noreturn void refuse(const Check *c, Pos pos, const char *text)
{
    if (c->refuse == NULL || c->g->places == NULL)
        bug("after %s: %s", c->after, text);
    error(c->g->diag, pos.line > 0 ? pos : c->g->places->net,
          "this graph is not sound: %s", text);
    longjmp(*c->refuse, 1);
}

_Noreturn void fault(const Check *c, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char text[512];
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    refuse(c, (Pos){ .line = 0 }, text);
}

// Reports a fault of the value or node id; place is NULL if the graph was made.
static _Noreturn void fault_at(const Check *c, const Pos *place,
                               const char *id, const char *name, Pos source,
                               const char *what)
{
    char text[512];
    snprintf(text, sizeof text, "%s %.40s (line %" PRId32 "): %s", id, name,
             source.line, what);
    refuse(c, place != NULL ? *place : (Pos){ .line = 0 }, text);
}

_Noreturn void node_fault(const Check *c, NodeId id, const char *format, ...)
{
    const Node *n = &c->g->nodes[id];
    const Places *p = c->g->places;
    char text[16], what[400];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    snprintf(text, sizeof text, "[%" PRId32 "]", id);
    fault_at(c, p != NULL && id < p->node_capacity ? &p->node[id] : NULL, text,
             n->name, n->pos, what);
}

_Noreturn void value_fault(const Check *c, ValueId id, const char *format, ...)
{
    const Value *value = &c->g->values[id];
    const Places *p = c->g->places;
    char text[16], what[400];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    snprintf(text, sizeof text, "%%%" PRId32, id);
    fault_at(c, p != NULL && id < p->value_capacity ? &p->value[id] : NULL,
             text, value->name, value->pos, what);
}

// ---- nodes ------------------------------------------------------------------

// Checks the fields that all other checks depend on.
static void check_op(const Check *c, NodeId id)
{
    const Node *n = &c->g->nodes[id];
    int parts = 0;

    if (n->op == NULL)
        fault(c, "[%" PRId32 "] is deleted, but still there", id);
    while (n->op->kernels[parts].results != NULL) parts++;
    if (n->kernel < 0 || n->kernel >= parts)
        node_fault(c, id, "%s has no kernel %d", n->op->name, n->kernel);
    if (n->phase < FORWARD || n->phase >= PHASE_COUNT)
        node_fault(c, id, "no phase is numbered %d", (int)n->phase);
    if (n->act != NULL && !(n->act->flags & ACT))
        node_fault(c, id, "%s is no activation", n->act->name);
}

// Checks ids against the slots; `what` names the list.
static void check_slots(const Check *c, NodeId id, const char *list, int count,
                        const ValueId *ids, const char *what)
{
    const Graph *g = c->g;
    Slot slot[MAX_SLOTS];
    int slots = kernel_slots(list, slot, MAX_SLOTS);
    // A variadic slot is the last one and may be empty.
    bool any_number = slots > 0 && slot[slots - 1].variadic;

    if (any_number ? count < slots - 1 : count != slots)
        node_fault(c, id, "%d %ss for \"%s\"", count, what, list);
    for (int k = 0; k < count; k++) {
        const Slot *s = slot_at(slot, slots, k);
        if (ids[k] < NONE || ids[k] >= g->value_count)
            node_fault(c, id, "%s %d is %%%" PRId32, what, k, ids[k]);
        if (ids[k] == NONE && !s->optional)
            node_fault(c, id, "%s %.*s is missing", what, s->length, s->name);
        if (s->updated && ids[k] != NONE && !g->values[ids[k]].persistent)
            node_fault(c, id, "%s is updated, but not persistent",
                       g->values[ids[k]].name);
    }
}

// Checks results in order, and sets made[v].
static void check_results(const Check *c, NodeId id, bool *made)
{
    const Node *n = &c->g->nodes[id];

    for (int k = 0; k < n->result_count; k++) {
        ValueId v = n->results[k];
        if (v == NONE) continue;
        const Value *value = &c->g->values[v];
        if (made[v]) node_fault(c, id, "%s is made twice", value->name);
        if (value->def != id)
            node_fault(c, id, "makes %s, which says it is made by [%" PRId32
                       "]", value->name, value->def);
        if (value->persistent || value->kind == INPUT)
            node_fault(c, id, "%s is %s, but made", value->name,
                       value->persistent ? "persistent" : "an input");
        made[v] = true;
    }
}

static void check_operands(const Check *c, NodeId id, const bool *made)
{
    const Node *n = &c->g->nodes[id];

    for (int k = 0; k < n->operand_count; k++) {
        if (n->operands[k] == NONE) continue;
        const Value *value = &c->g->values[n->operands[k]];
        bool given = value->persistent || value->kind == INPUT;
        if (value->def == NONE && !given)
            node_fault(c, id, "reads %s, which nothing makes", value->name);
        if (value->def != NONE && !made[n->operands[k]])
            node_fault(c, id, "reads %s before it is made", value->name);
    }
}

// Checks the forward result against the operator's shape rule.
static void check_shape(const Check *c, NodeId id)
{
    Graph *g = (Graph *)c->g;   // only for shape_text's arena
    const Node *n = &g->nodes[id];

    if (n->kernel != 0 || n->result_count == 0 || n->results[0] == NONE) return;
    if (n->op->shape == NULL && n->operands[0] == NONE) return;
    Shape wanted = n->op->shape != NULL ? n->op->shape(g, n)
                                        : g->values[n->operands[0]].shape;
    const Value *result = &g->values[n->results[0]];
    if (!same_shape(wanted, result->shape))
        node_fault(c, id, "%s should have the shape %s, but has %s",
                   result->name, shape_text(g, wanted),
                   shape_text(g, result->shape));
}

// Checks the shape of the partial sums of a launch that also makes a map.
static void check_partials(const Check *c, NodeId id)
{
    Graph *g = (Graph *)c->g;   // only for shape_text's arena
    const Node *n = &g->nodes[id];
    const Kernel *kernel = &n->op->kernels[n->kernel];

    if (kernel->partials == NULL) return;
    Shape wanted = kernel->partials(g, n);
    const Value *partials = &g->values[n->results[n->result_count - 1]];
    if (!same_shape(wanted, partials->shape))
        node_fault(c, id, "%s should have the shape %s, but has %s",
                   partials->name, shape_text(g, wanted),
                   shape_text(g, partials->shape));
}

// Walks nodes in order.  Operands are checked before results are marked, so a
// node that reads its own result is a fault.
static void check_nodes(const Check *c)
{
    const Graph *g = c->g;
    bool *made = NEW_ARRAY(g->arena, (size_t)g->value_count, bool);

    for (NodeId i = 0; i < g->node_count; i++) {
        const Node *n = &g->nodes[i];
        check_op(c, i);
        check_slots(c, i, kernel_operands(n->op, n->kernel), n->operand_count,
                    n->operands, "operand");
        check_slots(c, i, n->op->kernels[n->kernel].results, n->result_count,
                    n->results, "result");
        check_operands(c, i, made);
        check_results(c, i, made);
        check_shape(c, i);
        check_partials(c, i);
        check_fused_load(c, i);
        check_in_place(c, i);
        check_again(c, i);
        check_types(c, i);
    }
    for (ValueId v = 0; v < g->value_count; v++)
        if (g->values[v].def != NONE && !made[v])
            value_fault(c, v, "[%" PRId32 "] does not make it",
                        g->values[v].def);
}

// ---- values -----------------------------------------------------------------

// Inputs must be read by a launch, views do not count, and they begin with the
// batch.  The front end makes no other nets, so this checks graphs that were
// read.
static void check_inputs(const Check *c)
{
    const Graph *g = c->g;
    bool *read = NEW_ARRAY(g->arena, (size_t)g->value_count, bool);

    for (NodeId i = g->node_count - 1; i >= 0; i--) {
        const Node *n = &g->nodes[i];
        bool counts = !(n->op->flags & VIEW) || read[n->results[0]];
        for (int k = 0; counts && k < n->operand_count; k++)
            if (n->operands[k] != NONE) read[n->operands[k]] = true;
    }
    for (ValueId v = 0; v < g->value_count; v++) {
        const Value *value = &g->values[v];
        bool is_used = read[v] || (value->persistent && !is_given(value));
        if (value->def == NONE && !is_used)
            value_fault(c, v, value->kind == INPUT
                        ? "no launch reads this input" : "nothing makes it");
        if (value->kind == INPUT &&
            (value->shape.rank == 0 || value->shape.dim[0] != g->batch))
            value_fault(c, v, "an input begins with the batch, %" PRId64,
                        g->batch);
    }
}

static void check_value(const Check *c, ValueId id)
{
    const Graph *g = c->g;
    const Value *value = &g->values[id];

    if (value->name == NULL || value->name[0] == '\0')
        fault(c, "%%%" PRId32 " has no name", id);
    if (value->dtype < 0 || value->dtype >= DTYPE_COUNT || value->kind < 0 ||
        value->kind >= KIND_COUNT)
        value_fault(c, id, "no such type or kind");
    if (!is_addressable(value->shape, value->dtype))
        value_fault(c, id, "its shape is no shape");
    bool may_be_sum = is_accumulating(g) && value->kind == GRADIENT &&
                      value->gradient_of != NONE;
    if (is_persistent(value->kind) != value->persistent && !may_be_sum &&
        !is_given(value))
        value_fault(c, id, "it is a %s, but %spersistent",
                    kind_names[value->kind], value->persistent ? "" : "not ");
    check_type(c, id);
    if (value->def < NONE || value->def >= g->node_count)
        value_fault(c, id, "it is made by [%" PRId32 "]", value->def);
    if (value->def == NONE && value->recompute_of != NONE)
        value_fault(c, id, "it is a copy, but no copy makes it");
    check_gradient(c, id);
    check_state(c, id);
    if (!(value->rate_factor > 0 && isfinite(value->rate_factor)) ||
        (value->rate_factor != 1 && value->kind != PARAM))
        value_fault(c, id, "its rate has the factor %g", value->rate_factor);
}

// Does not use the graph's tables of names, which may be wrong.
static void check_unique(const Check *c, const char *const *names,
                         int32_t count)
{
    const char *twice = names_repeated(c->g->arena, names, count);
    if (twice != NULL) fault(c, "two values or two nodes are called %s", twice);
}

static void check_names(const Check *c)
{
    const Graph *g = c->g;
    const char **value = NEW_ARRAY(g->arena, (size_t)g->value_count,
                                   const char *);
    const char **node = NEW_ARRAY(g->arena, (size_t)g->node_count,
                                  const char *);

    for (ValueId v = 0; v < g->value_count; v++) value[v] = g->values[v].name;
    for (NodeId i = 0; i < g->node_count; i++) node[i] = g->nodes[i].name;
    check_unique(c, value, g->value_count);
    check_unique(c, node, g->node_count);
}

// ---- facts ------------------------------------------------------------------

// Passes before schedule depend on phases in sequence.
static void check_phases(const Check *c)
{
    const Graph *g = c->g;
    for (NodeId i = 1; i < g->node_count; i++)
        if (g->nodes[i].phase < g->nodes[i - 1].phase)
            node_fault(c, i, "phase %s after %s",
                       phase_names[g->nodes[i].phase],
                       phase_names[g->nodes[i - 1].phase]);
}

// A parameter keeps its value until its update; afterwards only nodes of the
// update phase may read it.  A mask may change it once more, or before all.
static void check_updates(const Check *c)
{
    const Graph *g = c->g;
    bool *updated = NEW_ARRAY(g->arena, (size_t)g->value_count, bool);

    for (NodeId i = 0; i < g->node_count; i++) {
        const Node *n = &g->nodes[i];
        Slot slot[MAX_SLOTS];
        int slots =
            kernel_slots(kernel_operands(n->op, n->kernel), slot, MAX_SLOTS);
        for (int k = 0; k < n->operand_count; k++) {
            ValueId v = n->operands[k];
            if (v == NONE || g->values[v].kind != PARAM) continue;
            bool masks = makes_mask(n);
            bool updates = slot_at(slot, slots, k)->updated;
            if (updated[v] && ((updates && !masks) || n->phase != UPDATE))
                node_fault(c, i, "reads %s after its update",
                           g->values[v].name);
            if (updates && g->values[v].frozen)
                node_fault(c, i, "updates %s, which is frozen",
                           g->values[v].name);
            updated[v] |= updates && n->phase == UPDATE;
        }
        ValueId reads[MAX_READS];
        for (int k = node_reads(g, n, reads) - 1; k >= 0; k--)
            if (updated[reads[k]] && n->phase != UPDATE)
                node_fault(c, i, "reads %s after its update",
                           g->values[reads[k]].name);
    }
}

static void check_life(const Check *c, NodeId at, ValueId v)
{
    const Value *value = &c->g->values[v];
    if (value->first > at || value->last < at)
        value_fault(c, v, "it lives from [%" PRId32 "] to [%" PRId32
                    "], but [%" PRId32 "] %s needs it", value->first,
                    value->last, at, c->g->nodes[at].name);
}

// Inputs are staged before the first node, outputs are read after the last, and
// persistent values by the next step.
static void check_lifetimes(const Check *c)
{
    const Graph *g = c->g;
    bool several = false;
    for (NodeId i = 0, first = 0, end = 0; i < g->node_count; i++) {
        const Node *n = &g->nodes[i];
        ValueId reads[MAX_READS];
        if (i == end) {
            first = i, end = group_end(g, i);
            several = begins_several(g, i);
        }
        for (int k = node_reads(g, n, reads) - 1; k >= 0; k--) {
            check_life(c, i, reads[k]);
            if (!several) check_life(c, end - 1, reads[k]);
        }
        for (int k = 0; k < n->result_count; k++) {
            if (n->results[k] == NONE) continue;
            if (several) check_life(c, first, n->results[k]);
            check_life(c, i, n->results[k]);
        }
    }
    if (g->node_count == 0) return;
    for (ValueId v = 0; v < g->value_count; v++) {
        const Value *value = &g->values[v];
        if (value->persistent || value->kind == INPUT) check_life(c, 0, v);
        if (value->persistent || value->output)
            check_life(c, g->node_count - 1, v);
    }
}

// All inputs are in the caller's memory, or none.
static void check_given(const Check *c)
{
    const Graph *g = c->g;
    ValueId first = NONE;
    for (ValueId v = 0; v < g->value_count; v++) {
        if (g->values[v].kind != INPUT) continue;
        if (first == NONE) first = v;
        if (g->values[v].persistent != g->values[first].persistent)
            value_fault(c, v, "one input of it and %s is persistent",
                        g->values[first].name);
    }
}

static void check_graph(const Check *c)
{
    const Graph *g = c->g;
    check_batch(c);
    for (ValueId v = 0; v < g->value_count; v++) check_value(c, v);
    check_given(c);
    if (g->header < 0 || g->header >= g->value_count ||
        g->values[g->header].kind != STATE)
        fault(c, "the header is no state");
    check_nodes(c);
    check_names(c);
    if (!(g->facts & IS_SCHEDULED)) check_phases(c);
    check_training(c);
    if (g->facts & HAS_GRADIENTS) check_updates(c);
    if (g->facts & HAS_LIFETIMES) check_lifetimes(c);
    if (g->facts & IS_SHARED) check_sharing(c);
    check_host_copies(c);
    check_grouped(c);
    if (g->facts & IS_PLACED) check_places(c);
}

void verify(const Graph *g, const char *after)
{
    // The tables of a check are in a temporary arena.
    Graph scratch = graph_with_new_arena(g);
    const Check check = { .g = &scratch, .after = after };
    check_graph(&check);
    arena_free(scratch.arena);
}

bool is_sound(const Graph *g)
{
    jmp_buf refused;
    const Check check = { .g = g, .refuse = &refused };

    if (setjmp(refused) != 0) return false;
    check_graph(&check);
    check_inputs(&check);
    return true;
}
