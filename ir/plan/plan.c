// Makes the plan of a placed graph.  It has one step for each launch (grouped
// nodes are one) and one buffer for each value (without bytes for inlined
// values).
//
//   flat = flatten pool2        no step; buffer flat: alias_of pool2, view
//   c = concat a b, in place    no step; a, b: alias_of c, view, rows, stride
//   relu1 = relu conv1          step: reads conv1, writes relu1,
//                               in place [relu1, conv1] if they share bytes
//
// An operand updated in place is both read and written.  A view is another name
// of its operand.  It is an input if its operand is one, and its operand is an
// output if the view is one, since the bytes must survive.  Fields first and
// last count steps that touch the buffer.  A buffer with aliases lives as long
// as any of them.  max_live_bytes is the maximum over steps of the sum of live
// root buffers, padded.
#include <string.h>
#include "../gpu/gpu_model.h"
#include "../gpu/offload.h"
#include "../op/op.h"
#include "plan.h"
#include "../gpu/precision.h"
#include "../launch_group.h"

typedef struct Builder {
    Graph        scratch;       // of launches, which are freed after the plan
    const Graph *g;
    Plan        *plan;
    int32_t     *root;          // the end of a buffer's chain of aliases
    int32_t     *value;         // the end of its chain of views
} Builder;

// ---- buffers ----------------------------------------------------------------

// Returns the end of each value's chain of aliases, or of views.
static int32_t *chain_ends(const Graph *g, bool views_only)
{
    int32_t *ends = NEW_ARRAY(g->arena, g->value_count, int32_t);
    for (ValueId v = 0; v < g->value_count; v++) ends[v] = NONE;
    for (ValueId v = 0; v < g->value_count; v++) {
        ValueId end = v;
        while (ends[end] == NONE && g->values[end].alias_of != NONE &&
               (g->values[end].view || !views_only))
            end = g->values[end].alias_of;
        if (ends[end] != NONE) end = ends[end];
        for (ValueId k = v; ends[k] == NONE; k = g->values[k].alias_of) {
            ends[k] = end;
            if (k == end) break;
        }
    }
    return ends;
}

static void make_buffers(Builder *b)
{
    const Graph *g = b->g;
    b->plan->buffers = NEW_ARRAY(g->arena, g->value_count, PlanBuffer);
    b->plan->buffer_count = g->value_count;
    for (ValueId v = 0; v < g->value_count; v++) {
        const Value *value = &g->values[v];
        if (value_bytes(value) <= 0) bug("plan: %s has no bytes", value->name);
        b->plan->buffers[v] = (PlanBuffer){
            .name = value->name, .kind = value->kind, .dtype = value->dtype,
            .shape = value->shape, .bytes = value_bytes(value),
            .offset = value->offset, .first = NONE, .last = NONE,
            .persistent = value->persistent, .output = value->output,
            .view = value->view, .fused_load = !is_stored(g, v),
            .alias_of = value->alias_of, .rows = value->view_rows,
            .stride = value->view_stride,
            .line = value->pos.line};
    }
    for (ValueId v = 0; v < g->value_count; v++) {
        PlanBuffer *view = &b->plan->buffers[v];
        PlanBuffer *whole = &b->plan->buffers[b->value[v]];
        if (whole->kind == INPUT) view->kind = INPUT;
        if (view->output) whole->output = true;
    }
}

// ---- steps ------------------------------------------------------------------

static bool contains(const int32_t *list, int count, int32_t k)
{
    for (int i = 0; i < count; i++)
        if (list[i] == k) return true;
    return false;
}

static void add_once(int32_t *list, int *count, int32_t k)
{
    if (k != NONE && !contains(list, *count, k)) list[(*count)++] = k;
}

// Lists each id once, though an operator may read a value in two slots.  In the
// launch of nodes first to before end, the operation of the last block reads
// the others' results.  That is no read of the step.
static void list_reads_and_writes(const Graph *g, const Node *n, NodeId first,
                                  NodeId end, PlanStep *step)
{
    Slot slots[MAX_SLOTS];
    int count =
        kernel_slots(kernel_operands(n->op, n->kernel), slots, MAX_SLOTS);
    ValueId reads[MAX_READS];
    int read_count = node_reads(g, n, reads);
    for (int k = 0; k < read_count; k++)
        if (!makes(g, first, end, reads[k]))
            add_once(step->reads, &step->read_count, reads[k]);
    for (int32_t r = 0; r < n->result_count; r++)
        add_once(step->writes, &step->write_count, n->results[r]);
    for (int32_t k = 0; k < n->operand_count && k < count; k++)
        if (slots[k].updated)
            add_once(step->writes, &step->write_count, n->operands[k]);
}

// True if two buffers of one root overlap.  A buffer that is no slice covers
// all.
static bool overlap(const PlanBuffer *a, const PlanBuffer *b)
{
    if (a->rows == 0 || b->rows == 0) return true;
    return a->offset < b->offset + b->bytes / b->rows &&
           b->offset < a->offset + a->bytes / a->rows;
}

// True if two buffers share bytes but hold different values.
static bool lies_over(const Builder *b, int32_t written, int32_t read)
{
    return b->root[written] == b->root[read] &&
           b->value[written] != b->value[read] &&
           overlap(&b->plan->buffers[written], &b->plan->buffers[read]);
}

static void list_in_place(const Builder *b, PlanStep *step)
{
    size_t most = (size_t)step->write_count * (size_t)step->read_count;
    step->in_place = arena_alloc(b->g->arena, most, sizeof *step->in_place);
    for (int i = 0; i < step->write_count; i++) {
        for (int j = 0; j < step->read_count; j++) {
            if (!lies_over(b, step->writes[i], step->reads[j])) continue;
            int32_t *pair = step->in_place[step->in_place_count++];
            pair[0] = step->writes[i];
            pair[1] = step->reads[j];
        }
    }
}

// Allocates the lists of these nodes, and the names of those after the first.
static void list_group(const Graph *g, NodeId i, NodeId end, PlanStep *step)
{
    size_t reads = 0, writes = 0;
    step->more = NEW_ARRAY(g->arena, end - i - 1, const char *);
    for (NodeId k = i; k < end; k++) {
        const Node *n = &g->nodes[k];
        ValueId list[MAX_READS];
        reads += (size_t)node_reads(g, n, list);
        writes += (size_t)n->operand_count + (size_t)n->result_count;
        if (k > i) step->more[step->more_count++] = n->name;
    }
    step->reads = NEW_ARRAY(g->arena, reads, int32_t);
    step->writes = NEW_ARRAY(g->arena, writes, int32_t);
    for (NodeId k = i; k < end; k++)
        list_reads_and_writes(g, &g->nodes[k], i, end, step);
}

// Makes the step of node i with all nodes grouped with it.
static void make_step(Builder *b, NodeId i)
{
    const Graph *g = b->g;
    const Node *n = &g->nodes[i];
    const Kernel *kernel = &n->op->kernels[n->kernel];
    Cost cost;
    Launch launch = {.g = &b->scratch};
    group_cost(g, i, &cost);
    if (kernel->launch) kernel->launch(&b->scratch, n, &launch);
    PlanStep *step = &b->plan->steps[b->plan->step_count++];
    step->op = n->op->name;
    if (kernel->name[0])
        step->op = arena_print(g->arena, "%s.%s", n->op->name, kernel->name);
    step->name = n->name;
    if (!launch.library && launch.kernel != NULL)
        step->kernel = arena_copy(g->arena, launch.kernel,
                                  strlen(launch.kernel));
    step->phase = n->phase;
    step->line = n->pos.line;
    step->flops = cost.flops;
    step->moved = cost.bytes;
    step->time = is_copy(n) ? 0 : cost_time(&cost, g, graph_gpu(g));
    step->host = begins_copy(n) ? n->attr[COPY_PLACE].i : -1;
    list_group(g, i, group_end(g, i), step);
    list_in_place(b, step);
}

// ---- lives ------------------------------------------------------------------

// An input that no step writes is staged before the first step.
static void touch(PlanBuffer *buffer, int step, bool read)
{
    if (buffer->persistent) return;
    if (buffer->first == NONE)
        buffer->first = buffer->kind == INPUT && read ? 0 : step;
    buffer->last = step;
}

static void find_own_lives(Plan *plan)
{
    int last = plan->step_count - 1;
    for (int i = 0; i < plan->step_count; i++) {
        const PlanStep *step = &plan->steps[i];
        for (int k = 0; k < step->read_count; k++)
            touch(&plan->buffers[step->reads[k]], i, true);
        for (int k = 0; k < step->write_count; k++)
            touch(&plan->buffers[step->writes[k]], i, false);
    }
    for (int k = 0; k < plan->buffer_count; k++) {
        PlanBuffer *buffer = &plan->buffers[k];
        if (buffer->persistent) buffer->first = 0;
        if (buffer->persistent || (buffer->output && buffer->first != NONE))
            buffer->last = last;
    }
}

// A view that no step touches is only a name: one that is only viewed again, or
// an output that nothing reads.  It is not printed, nor are inlined values.
static void number_buffers(Builder *b)
{
    int32_t count = 0;
    for (int k = 0; k < b->plan->buffer_count; k++) {
        PlanBuffer *buffer = &b->plan->buffers[k];
        bool named_only = buffer->alias_of != NONE && buffer->first == NONE;
        bool left_out = named_only || buffer->fused_load;
        buffer->printed_id = left_out ? NONE : count++;
    }
}

// A root lives as long as its aliases; a buffer that no step touches, as long
// as its root.
static void widen_roots(Builder *b)
{
    PlanBuffer *buffers = b->plan->buffers;
    for (int k = 0; k < b->plan->buffer_count; k++) {
        PlanBuffer *root = &buffers[b->root[k]];
        if (buffers[k].first == NONE) continue;
        if (root->first == NONE || buffers[k].first < root->first)
            root->first = buffers[k].first;
        if (buffers[k].last > root->last) root->last = buffers[k].last;
    }
    for (int k = 0; k < b->plan->buffer_count; k++) {
        if (buffers[k].first != NONE) continue;
        buffers[k].first = buffers[b->root[k]].first;
        buffers[k].last = buffers[b->root[k]].last;
    }
}

// Sums the changes at each step; aliases add nothing.
static int64_t count_max_live(const Graph *g, const Plan *plan)
{
    size_t steps = (size_t)plan->step_count + 1;
    int64_t *change = NEW_ARRAY(g->arena, steps, int64_t);
    for (int k = 0; k < plan->buffer_count; k++) {
        const PlanBuffer *buffer = &plan->buffers[k];
        if (buffer->alias_of != NONE || buffer->first == NONE ||
            buffer_is_given(buffer))
            continue;
        int64_t size = padded(buffer->bytes);
        change[buffer->first] += size;
        change[buffer->last + 1] -= size;
    }
    int64_t live = 0, most = 0;
    for (int i = 0; i < plan->step_count; i++) {
        live += change[i];
        if (live > most) most = live;
    }
    return most;
}

Plan *plan_of(const Graph *g)
{
    Builder b = {.g = g, .scratch = graph_with_new_arena(g),
                 .plan = NEW(g->arena, Plan),
                 .root = chain_ends(g, false), .value = chain_ends(g, true)};
    *b.plan = (Plan){.net = g->name, .mode = g->mode, .batch = g->batch,
                     .precision = precision_name(g),
                     .gpu = graph_gpu(g)->name,
                     .waiting = host_use(g).waiting,
                     .arena_bytes = g->arena_bytes,
                     .state_bytes = g->state_bytes,
                     .host_bytes = host_use(g).bytes};
    make_buffers(&b);
    b.plan->steps = NEW_ARRAY(g->arena, g->node_count, PlanStep);
    for (NodeId i = 0; i < g->node_count; i = group_end(g, i))
        if (is_launch(&g->nodes[i])) make_step(&b, i);
    arena_free(b.scratch.arena);
    bool in_batches = is_accumulating(g) && g->mode == TRAIN;
    for (int i = 0; i < b.plan->step_count && in_batches; i++)
        b.plan->batch_steps += b.plan->steps[i].phase != UPDATE;
    find_own_lives(b.plan);
    number_buffers(&b);
    widen_roots(&b);
    b.plan->max_live_bytes = count_max_live(g, b.plan);
    return b.plan;
}
