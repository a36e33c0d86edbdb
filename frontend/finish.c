// Finishes the graph of a net, depending on the mode:
//
//     train   the metric sums of loss and metrics, the optimizer and its state
//     eval    the metric sums and outputs; the state too, since both modes
//             share it; averages of parameters, if any, replace parameters
//     infer   the outputs, and only the nodes that they need
#include <inttypes.h>
#include <string.h>
#include "resolve.h"

// Returns the set of values that a launch reads, directly or through views.
static bool *inputs_read(const Graph *g)
{
    bool *read = NEW_ARRAY(g->arena, (size_t)g->value_count, bool);
    for (NodeId i = g->node_count - 1; i >= 0; i--) {
        const Node *n = &g->nodes[i];
        bool is_view = n->op->flags & VIEW;
        for (int k = 0; k < n->operand_count; k++)
            if (n->operands[k] != NONE && (!is_view || read[n->results[0]]))
                read[n->operands[k]] = true;
    }
    return read;
}

// Checks that the net is complete, if it has no errors so far.
static void check_net(Resolver *r)
{
    Pos pos = r->ast->net->pos;
    Mode mode = r->options->mode;

    if (r->diag->error_count > 0) return;
    bool *read = inputs_read(r->g);
    for (int32_t i = 0; i < r->input_count; i++)
        if (r->inputs[i]->datum.kind != POISON &&
            (!r->inputs[i]->used ||
             (mode != INFER && !read[r->inputs[i]->datum.value])))
            error(r->diag, r->inputs[i]->pos, "the input '%s' is not used",
                  r->inputs[i]->name);
    if (r->diag->error_count > 0) return;
    if (mode == TRAIN && r->loss_count == 0)
        error(r->diag, pos, "a net without a loss can't be trained; --mode "
              "infer needs none");
    else if (r->metric_count > 0 && r->loss_count == 0)
        error(r->diag, pos, "a net with metrics needs a loss");
    else if (mode == INFER && r->output_count == 0)
        error(r->diag, pos, "the net has no output");
}

// Names the statistic for which node i needs all samples of a training step.
// NULL if it needs none, or if each slice may use its own.
static const char *mixed_by(const Resolver *r, NodeId i)
{
    const Node *n = &r->g->nodes[i];
    bool needs = (n->op->flags & LOSS) == 0;
    if (r->options->ghost || n->kernel != 0 || n->op->needs_whole_batch == NULL)
        return NULL;
    for (int k = 0; k < r->loss_count; k++)
        needs |= r->losses[k] == n->results[0];
    return needs ? n->op->needs_whole_batch(r->g, n) : NULL;
}

static void check_mixing(const Resolver *r)
{
    const Graph *g = r->g;
    NodeId first = NONE;
    int more = 0;

    for (NodeId i = 0; i < g->node_count; i++) {
        if (mixed_by(r, i) == NULL) continue;
        if (first == NONE) first = i;
        else more++;
    }
    if (g->mode != TRAIN) return;
    if (r->options->ghost && !is_accumulating(g))
        error(g->diag, r->ast->net->pos, "--ghost is for training steps in "
              "slices (--microbatch, accumulate)");
    if (first == NONE || !is_accumulating(g)) return;
    const Node *n = &g->nodes[first];
    error(g->diag, n->pos, "%s needs %s, but a training step comes in slices "
          "(--microbatch, accumulate)%s", n->op->name, mixed_by(r, first),
          more == 0 ? "" : arena_print(g->arena, "; %d more are like it",
                                       more));
    note(g->diag, n->pos, "--ghost lets each slice have its own; layers "
         "that normalise each sample, as groupnorm, need none");
}

// Slices of the caller's inputs are whole, and begin where launches may read a
// vector.  They read labels one by one.
static void check_slices(const Graph *g)
{
    int64_t batch = g->batch, all = g->training.step_batch;
    if (!is_accumulating(g) || all == batch) return;
    for (ValueId v = 0; v < g->value_count; v++) {
        const Value *value = &g->values[v];
        int64_t bytes = value_bytes(value);
        if (!is_given(value)) continue;
        if (all % batch != 0) {
            error(g->diag, value->pos, "--inputs caller wants a batch of whole "
                  "slices; %" PRId64 " samples are no multiple of %" PRId64,
                  all, batch);
            return;
        }
        if (value->classes == 0 && bytes % GIVEN_ALIGNMENT != 0)
            error(g->diag, value->pos, "--inputs caller wants slices of a "
                  "multiple of %d bytes; %" PRId64 " samples of %s have %"
                  PRId64, GIVEN_ALIGNMENT, batch, value->name, bytes);
    }
}

// Adds the node that sums losses and metrics, whose means a step reports.  All
// modes share the header, so inference has space for the sums too.
static void build_tally(Resolver *r)
{
    Graph *g = r->g;
    ValueId operands[1 + MAX_FIGURES] = { g->header };
    int count = r->loss_count + r->metric_count;
    int parts = r->loss_count > 1 ? r->loss_count : 0;

    if (count > 0) g->values[g->header].shape.dim[0] = header_bytes(count);
    if (count == 0 || g->mode == INFER) return;
    memcpy(operands + 1, r->losses, (size_t)r->loss_count * sizeof *operands);
    memcpy(operands + 1 + r->loss_count, r->metrics,
           (size_t)r->metric_count * sizeof *operands);
    ValueId figures =
        graph_value(g, "figures", SCALAR, g->real,
                    shape_of(1, (int64_t)1 + r->metric_count + parts),
                    r->loss_pos);
    g->values[figures].output = true;
    NodeId metrics = graph_node(g, ops[OP_accumulate_metrics], 0, FORWARD,
                                "accumulate_metrics", r->loss_pos, 1 + count,
                                operands, 1, &figures);
    g->nodes[metrics].attr[0].i = r->loss_count;
}

// Marks outputs.  A training step outputs only its loss and metrics, unless
// gradients are kept for inspection and the step has no slices.
static void mark_outputs(Resolver *r)
{
    bool wanted = r->g->mode != TRAIN ||
                  (r->options->keep_gradients && !is_accumulating(r->g));
    for (int32_t i = 0; wanted && i < r->output_count; i++) {
        r->g->values[r->outputs[i]].output = true;
        r->g->values[r->outputs[i]].output_number = i + 1;
    }
}

// Deletes all nodes that no output depends on: the loss and the nodes that only
// it reads.  Parameters stay.
static void drop_unneeded(Graph *g)
{
    bool *needed = NEW_ARRAY(g->arena, (size_t)g->value_count, bool);

    for (ValueId v = 0; v < g->value_count; v++)
        needed[v] = g->values[v].output;
    for (NodeId i = g->node_count - 1; i >= 0; i--) {
        Node *n = &g->nodes[i];
        bool any = false;
        for (int k = 0; k < n->result_count; k++)
            any = any || (n->results[k] != NONE && needed[n->results[k]]);
        for (int k = 0; any && k < n->operand_count; k++)
            if (n->operands[k] != NONE) needed[n->operands[k]] = true;
        if (!any) n->op = NULL;
    }
    graph_compact(g);
}

void finish_net(Resolver *r)
{
    check_net(r);
    check_globs(r);
    check_pruned(r);
    check_shared(r);
    check_mixing(r);
    check_slices(r->g);
    if (r->diag->error_count > 0) return;
    build_tally(r);
    mark_outputs(r);
    if (r->options->flat != NULL)
        flat_finish(r->options->flat, r->g, r->outputs, r->output_count);
    build_training(r);
    if (r->options->mode == INFER) drop_unneeded(r->g);
}
