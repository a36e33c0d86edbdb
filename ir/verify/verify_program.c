// Checks a plan against its graph.  verify_plan.c trusts the steps; this file
// compares them with the program, so that both together trust no pass from
// schedule on.  The rules are:
//
//   - there is a buffer for each value, and the state is laid out as in its
//     files (verify_buffers.c);
//   - there is one step for each launch or group, with its reads and writes; no
//     node of a group touches a value that another changes; and a step
//     overwrites only operands that its operator may;
//   - values updated in place are read and updated in source order: their bytes
//     hold one value throughout, so a map of bytes can't show it;
//   - offloaded values come back unchanged (verify_offload.c);
//   - with gradient accumulation, a batch ends at the right step.
#include <inttypes.h>
#include <string.h>
#include "../families/grad_accumulation.h"
#include "../families/loss.h"
#include "../base/unique_names.h"
#include "../gpu/offload.h"
#include "../op/op.h"
#include "../plan/plan.h"
#include "verify_program.h"
#include "program_order.h"

// ---- steps ------------------------------------------------------------------

static bool is_among(const int32_t *list, int count, int32_t k)
{
    for (int i = 0; i < count; i++)
        if (list[i] == k) return true;
    return false;
}

// Sets by[id] to at + 1 for each id except NONE; false if one is not in the
// list.  Counts the ids set for the first time.
static bool all_listed(const int32_t *ids, int count, const int32_t *list,
                       int length, int32_t *by, int32_t at, int *met)
{
    for (int k = 0; k < count; k++) {
        if (ids[k] == NONE) continue;
        if (!is_among(list, length, ids[k])) return false;
        *met += by[ids[k]] != at + 1;
        by[ids[k]] = at + 1;
    }
    return true;
}

// Lists the operands that n updates, each once; returns their number.
static int updated_by(const Node *n, ValueId *updated)
{
    Slot slots[MAX_SLOTS];
    int count =
        kernel_slots(kernel_operands(n->op, n->kernel), slots, MAX_SLOTS);
    int found = 0;
    for (int k = 0; k < n->operand_count && k < count; k++)
        if (slots[k].updated && n->operands[k] != NONE &&
            !is_among(updated, found, n->operands[k]))
            updated[found++] = n->operands[k];
    return found;
}

// True if a node of the launch of step `at` makes v.
static bool makes_at(const Against *a, int32_t at, ValueId v)
{
    for (int32_t i = a->node_of[at]; i != NONE; i = a->beside[i])
        if (is_among(a->nodes[i].results, a->nodes[i].result_count, v))
            return true;
    return false;
}

// True if step `at` reads and writes the values of node n of its launch.  An
// operation of the last block also reads results of the other nodes.
static bool does_node(Against *a, int32_t at, const Node *n, int *reads,
                      int *writes)
{
    const PlanStep *step = &a->plan->steps[at];
    ValueId updated[MAX_SLOTS], read[MAX_READS];
    int count = updated_by(n, updated), read_count = node_reads(a->g, n, read);
    for (int k = 0; k < read_count && is_last(n); k++)
        if (makes_at(a, at, read[k])) read[k] = NONE;
    return all_listed(read, read_count, step->reads, step->read_count,
                      a->read_by, at, reads) &&
           all_listed(n->results, n->result_count, step->writes,
                      step->write_count, a->written_by, at, writes) &&
           all_listed(updated, count, step->writes, step->write_count,
                      a->written_by, at, writes) &&
           (step->phase == n->phase || n->grouped) &&
           n->grouped == (strcmp(step->name, n->name) != 0) &&
           step->host == (begins_copy(n) ? n->attr[COPY_PLACE].i : -1);
}

// The step reads and writes the values of all of its nodes, and no others.
static const char *check_step(Against *a, int32_t at)
{
    const PlanStep *step = &a->plan->steps[at];
    int reads = 0, writes = 0;
    int32_t i = a->node_of[at], last = i;
    for (; i != NONE; i = a->beside[i]) {
        last = i;
        if (!does_node(a, at, &a->nodes[i], &reads, &writes)) break;
    }
    if (i == NONE && reads == step->read_count && writes == step->write_count)
        return NULL;
    return arena_print(a->arena, "step %s differs from the reads and writes "
                       "of %s", step->name, a->nodes[last].name);
}

// Finds the launches of step `at`, which no other step has.
static const char *find_launches(Against *a, int32_t at, const Names *names,
                                 bool *found)
{
    const PlanStep *step = &a->plan->steps[at];
    a->node_of[at] = NONE;
    for (int k = step->more_count; k >= 0; k--) {
        const char *name = k > 0 ? step->more[k - 1] : step->name;
        int32_t i = names_find(names, name, strlen(name));
        if (i == NONE || found[i])
            return arena_print(a->arena, "step %s launches %s, which is no "
                               "launch or has a step", step->name, name);
        found[i] = true;
        a->beside[i] = a->node_of[at];
        a->node_of[at] = i;
    }
    return NULL;
}

// Each launch has one step, alone or grouped.
static const char *find_steps(Against *a)
{
    Names *names = names_new(a->arena, a->count);
    bool *found = NEW_ARRAY(a->arena, a->count, bool);
    const char *wrong = NULL;
    for (int32_t i = 0; i < a->count; i++)
        if (is_launch(&a->nodes[i])) names_take(names, a->nodes[i].name, i);
    for (int32_t at = 0; at < a->plan->step_count && !wrong; at++)
        wrong = find_launches(a, at, names, found);
    for (int32_t i = 0; i < a->count && !wrong; i++)
        if (is_launch(&a->nodes[i]) && !found[i])
            wrong = arena_print(a->arena, "no step launches %s",
                                a->nodes[i].name);
    return wrong;
}

static const char *check_steps(Against *a)
{
    const char *wrong = find_steps(a);
    for (int32_t i = 0; i < a->plan->step_count && !wrong; i++)
        wrong = check_step(a, i);
    return wrong;
}

// True if a node of step `at` makes `written` and may overwrite `read` with it.
static bool permits(const Against *a, int32_t at, ValueId written, ValueId read)
{
    for (int32_t i = a->node_of[at]; i != NONE; i = a->beside[i])
        for (int r = 0; r < a->nodes[i].result_count; r++)
            if (a->nodes[i].results[r] == written &&
                may_lie_over(a->g, &a->nodes[i], r, read))
                return true;
    return false;
}

// The operators permit all overwrites that steps declare.
static const char *check_in_place(Against *a)
{
    for (int32_t at = 0; at < a->plan->step_count; at++) {
        const PlanStep *step = &a->plan->steps[at];
        for (int k = 0; k < step->in_place_count; k++)
            if (!permits(a, at, step->in_place[k][0], step->in_place[k][1]))
                return arena_print(a->arena, "%s may not overwrite as it "
                                   "declares", step->name);
    }
    return NULL;
}

// Checks copies to host memory and back, in the order of steps.
static const char *check_host(Against *a)
{
    int32_t count = a->plan->step_count;
    const Node **nodes = NEW_ARRAY(a->arena, count, const Node *);
    int64_t end = 0;
    for (int32_t i = 0; i < count; i++) {
        nodes[i] = &a->nodes[a->node_of[i]];
        if (!begins_copy(nodes[i])) continue;
        int64_t bytes = value_bytes(&a->g->values[copied_by(nodes[i])]);
        if (a->plan->steps[i].host + bytes > end)
            end = a->plan->steps[i].host + bytes;
    }
    if (end != a->plan->host_bytes)
        return arena_print(a->arena, "copies end at %" PRId64 " of host "
                           "memory, not at %" PRId64, end, a->plan->host_bytes);
    return check_copies(a->arena, a->g, nodes, count);
}

// A batch ends where the program says, if steps run more than once.
static const char *check_batch(Against *a)
{
    int32_t count = a->plan->batch_steps;
    bool any = is_accumulating(a->g) && a->g->mode == TRAIN;
    if (!any && count == 0) return NULL;
    if (!any || count < 1 || count > a->plan->step_count)
        return "batches end where the program has no end";
    const Node *n = &a->nodes[a->node_of[count - 1]];
    if (ends_batch(n)) return NULL;
    return arena_print(a->arena, "a batch ends with %s", n->name);
}

// ---- the order of updates ---------------------------------------------------

// Returns the value that each value views.
static ValueId *find_viewed(const Against *a)
{
    ValueId *viewed = NEW_ARRAY(a->arena, a->g->value_count, ValueId);
    for (ValueId v = 0; v < a->g->value_count; v++) viewed[v] = v;
    for (int32_t i = 0; i < a->count; i++) {
        const Node *n = &a->nodes[i];
        if (n->op->flags & VIEW ||
            (n->in_place && !n->op->kernels[n->kernel].joins))
            viewed[n->results[0]] = viewed[n->operands[0]];
    }
    return viewed;
}

// Returns the last place of a launch in source order.
static int32_t last_place(const Against *a)
{
    int32_t last = NONE;
    for (int32_t i = 0; i < a->count; i++)
        if (is_launch(&a->nodes[i]) && a->place[i] > last) last = a->place[i];
    return last;
}

// The last node, in source order, that touched or updated each value so far.
// Places count from 1; 0 is none.
typedef struct Order {
    const ValueId *viewed;
    int32_t       *touch, *update;
    int32_t       *touched_at, *updated_at; // likewise by step, from one
    int32_t        end;
} Order;

// Checks source order: node i runs after every earlier node that touches a
// value i updates or updates a value i touches.
static const char *check_place(Against *a, Order *o, int32_t at, int32_t i)
{
    const Node *n = &a->nodes[i];
    ValueId updated[MAX_SLOTS], reads[MAX_READS];
    int count = updated_by(n, updated), place = a->place[i] + 1;
    int read_count = node_reads(a->g, n, reads);
    for (int k = 0; k < read_count; k++) {
        ValueId v = o->viewed[reads[k]];
        bool updates = is_among(updated, count, reads[k]);
        bool late = place < (updates ? o->touch[v] : o->update[v]);
        // A recomputed node reads three numbers of the header.  The seed is
        // constant; only the last launch changes the number of the step; the
        // batch's last step changes its start in the step.
        if (n->phase == RECOMPUTE && v == a->g->header)
            late = o->update[v] == o->end;
        if (late)
            return arena_print(a->arena, "%s comes too late for %s", n->name,
                               a->g->values[v].name);
        if ((updates ? o->touched_at[v] : o->updated_at[v]) == at &&
            !is_last(n))
            return arena_print(a->arena, "%s is launched with others that "
                               "touch %s", n->name, a->g->values[v].name);
    }
    for (int k = 0; k < read_count; k++) {
        ValueId v = o->viewed[reads[k]];
        o->touched_at[v] = at;
        // tally changes other parts of the header; the loss scale is changed
        // after gradients are checked.
        if (v == a->g->header && reads_scale_alone(n)) continue;
        if (place > o->touch[v]) o->touch[v] = place;
    }
    for (int k = 0; k < count; k++) {
        o->update[o->viewed[updated[k]]] = place;
        o->updated_at[o->viewed[updated[k]]] = at;
    }
    return NULL;
}

static const char *check_order(Against *a)
{
    int32_t values = a->g->value_count;
    Order o = {.viewed = find_viewed(a), .end = last_place(a) + 1,
               .touch = NEW_ARRAY(a->arena, values, int32_t),
               .update = NEW_ARRAY(a->arena, values, int32_t),
               .touched_at = NEW_ARRAY(a->arena, values, int32_t),
               .updated_at = NEW_ARRAY(a->arena, values, int32_t)};
    const char *wrong = NULL;
    for (int32_t s = 0; s < a->plan->step_count; s++)
        for (int32_t i = a->node_of[s]; i != NONE && !wrong; i = a->beside[i])
            wrong = check_place(a, &o, s + 1, i);
    return wrong;
}

const char *verify_program(Arena *arena, const Graph *g, const Plan *plan)
{
    static const char *(*const checks[])(Against *) = {
        check_buffers, check_steps, check_in_place, check_host, check_batch,
        check_order,
    };
    Against a = {.arena = arena, .g = g, .plan = plan, .count = g->node_count,
                 .node_of = NEW_ARRAY(arena, plan->step_count, int32_t),
                 .beside = NEW_ARRAY(arena, g->node_count, int32_t),
                 .read_by = NEW_ARRAY(arena, g->value_count, int32_t),
                 .written_by = NEW_ARRAY(arena, g->value_count, int32_t)};
    const char *wrong = nodes_as_written(arena, g, &a.nodes, &a.place);
    if (wrong) return wrong;
    a.within = values_within(g, a.nodes, a.count);
    for (size_t i = 0; i < sizeof checks / sizeof *checks && !wrong; i++)
        wrong = checks[i](&a);
    return wrong ? wrong : verify_plan(arena, plan);
}
