// Functions that losses and metrics share.
//
// The loss of a large sample would be a long sum for one block.  Several blocks
// then share it, depending only on the shape.  They store partial sums, and a
// second launch adds these in order and makes the rows.
//
//   %7 iou.sums = dice.sum(logits, target)
//   %8 rows = dice(logits, target, %7)
//
// This file depends on no operator.
#include <string.h>
#include "loss.h"
#include "../op/op_checks.h"

// ---- checks of operands -----------------------------------------------------

// True if scores and label have the same pixels.
static bool is_label_of(const Value *scores, const Value *label)
{
    Shape pixels = scores->shape;
    pixels.rank--;
    return label->classes > 0 && same_shape(pixels, label->shape);
}

bool build_wants_labels(Build *b)
{
    Graph *g = b->g;
    const Value *scores = &g->values[b->operand[0]];
    if (scores->shape.rank == 2) return build_wants_scores(b);
    if (!build_wants(b, 0, 4, "[classes] or [height, width, classes]"))
        return false;

    const Value *label = &g->values[b->operand[1]];
    int64_t classes = scores->shape.dim[3];
    if (!is_label_of(scores, label)) {
        error(g->diag, b->operand_pos[1],
              "%s needs an input of class%s here, but this is %s",
              b->op->name, operand_text(b, 0), operand_text(b, 1));
        return false;
    }
    if (label->classes != classes) {
        error(g->diag, b->operand_pos[0],
              "%s has %lld scores per pixel for a label of %lld classes",
              b->op->name, (long long)classes, (long long)label->classes);
        return false;
    }
    return true;
}

bool build_wants_targets(Build *b, const char *numbers)
{
    Graph *g = b->g;
    const Value *scores = &g->values[b->operand[0]];
    const Value *target = &g->values[b->operand[1]];
    if (!build_wants(b, 0, scores->shape.rank == 2 ? 2 : 4,
                     "[classes] or [height, width, classes]"))
        return false;
    if (!same_shape(scores->shape, target->shape)) {
        error(g->diag, b->operand_pos[1],
              "%s needs an input of class%s, or %s %s, here, but this is %s",
              b->op->name, operand_text(b, 0), numbers, operand_text(b, 0),
              operand_text(b, 1));
        return false;
    }
    return build_wants_real(b, 1);
}

bool build_wants_pair(Build *b)
{
    Graph *g = b->g;
    if (!build_wants_real(b, 0) || !build_wants_real(b, 1)) return false;
    if (same_shape(g->values[b->operand[0]].shape,
                   g->values[b->operand[1]].shape))
        return true;
    error(g->diag, b->operand_pos[1],
          "%s needs two values of one shape, but these are %s and %s",
          b->op->name, operand_text(b, 0), operand_text(b, 1));
    return false;
}

// ---- distribution over blocks -----------------------------------------------

// A block has at most as many threads as items.  A sample has several blocks if
// each of their threads still has 16 items, and all blocks together at most
// fill a large GPU.
static Deal deal_items(int64_t batch, int64_t items, int lanes)
{
    enum { EACH = 16, BLOCKS = 1024, MOST = 256 };
    Deal deal = { .batch = batch, .items = items, .lanes = lanes, .block = 32 };
    while (deal.block < MOST && deal.block / lanes < items) deal.block *= 2;
    int64_t useful = items / (EACH * (deal.block / lanes));
    int64_t room = ceil_div(BLOCKS, batch);
    int64_t splits = useful < room ? useful : room;
    deal.run = ceil_div(items, splits > 1 ? splits : 1);
    deal.splits = ceil_div(items, deal.run);
    return deal;
}

Deal deal_elements(Shape shape)
{
    return deal_items(shape.dim[0], elements(shape) / shape.dim[0], 1);
}

Deal deal_pixels(Shape scores)
{
    int64_t classes = scores.dim[scores.rank - 1];
    int lanes = 1;
    while (lanes < 32 && 4 * lanes < classes) lanes *= 2;
    return deal_items(scores.dim[0],
                      elements(scores) / scores.dim[0] / classes, lanes);
}

void launch_deal(Launch *l, const Deal *deal)
{
    launch_constant(l, "BATCH", deal->batch);
    launch_constant(l, "ITEMS", deal->items);
    launch_constant(l, "SPLITS", deal->splits);
    launch_constant(l, "RUN", deal->run);
    launch_constant(l, "LANES", deal->lanes);
}

Launch *launch_score_rows(const Graph *g, const Node *n, Launch *l,
                          const char *score)
{
    enum { BLOCK = 256, ROWS = BLOCK / 32 };    // a warp a row
    Shape scores = g->values[n->operands[0]].shape;
    launch_kernel(l, "score_rows", ceil_div(scores.dim[0], ROWS), BLOCK);
    launch_slots(l, n, 0, 2);
    launch_samples(l);
    launch_int(l, scores.dim[0], "batch");
    launch_int(l, scores.dim[1], "classes");
    launch_nothing_last(l);
    return launch_own(l, score);
}

// The result is a SCALAR, so that an inference without scores omits it, as it
// does the rows.
ValueId build_before(Build *b, int kernel, const char *name, DType dtype,
                     Shape shape, const Attr *attr)
{
    Graph *g = b->g;
    ValueId result = graph_value(
        g, arena_print(g->arena, "%s.%s", b->name, name), SCALAR, dtype, shape,
        b->pos);
    build_kernel(b, kernel, attr, 2, b->operand, 1, &result);
    return result;
}

// ---- weighted rows ----------------------------------------------------------

Shape pair_rows_shape(int64_t batch)
{
    return shape_of(2, batch, (int64_t)2);
}

Shape shape_of_pairs(const Graph *g, const Node *n)
{
    Shape rows = shape_of_rows(g, n);
    return rows.rank == 1 ? pair_rows_shape(rows.dim[0]) : rows;
}

bool is_weighted(const Graph *g, ValueId rows)
{
    return g->values[rows].shape.rank == 2;
}

void launch_pairs(const Graph *g, const Node *n, Launch *l, int k)
{
    Shape sums = g->values[n->operands[k]].shape;
    launch_elements(l, "sum_pairs", sums.dim[2]);
    launch_value(l, n->results[0]);
    launch_value(l, n->operands[k]);
    launch_int(l, sums.dim[2], "batch");
    launch_int(l, sums.dim[1], "splits");
    launch_last(l);
}

void pairs_reference(const Ref *r, int k)
{
    Shape sums = ref_in(r, k);
    int64_t splits = sums.dim[1], batch = sums.dim[2];
    for (int64_t i = 0; i < 2 * batch; i++) {
        const double *from = r->in[k] + i % 2 * splits * batch + i / 2;
        r->out[0][i] = 0;
        for (int64_t s = 0; s < splits; s++)
            r->out[0][i] += from[s * batch];
    }
}

// ---- rows that are quotients ------------------------------------------------

void launch_ratio(const Graph *g, const Node *n, Launch *l, int k,
                  double offset, double factor, double smooth)
{
    Shape sums = g->values[n->operands[k]].shape;
    launch_elements(l, "ratio_rows", sums.dim[2]);
    launch_value(l, n->results[0]);
    launch_value(l, n->operands[k]);
    launch_samples(l);
    launch_int(l, sums.dim[2], "batch");
    launch_int(l, sums.dim[1], "splits");
    launch_real(l, offset, "offset");
    launch_real(l, factor, "factor");
    launch_real(l, smooth, "smooth");
    launch_last(l);
}

void ratio_reference(const Ref *r, int k, double offset, double factor,
                     double smooth)
{
    Shape sums = ref_in(r, k);
    int64_t splits = sums.dim[1], batch = sums.dim[2];
    for (int64_t n = 0; n < batch; n++) {
        double a = smooth, b = smooth;
        for (int64_t s = 0; s < splits; s++) {
            a += r->in[k][s * batch + n];
            b += r->in[k][(splits + s) * batch + n];
        }
        r->out[0][n] = n < r->samples
            ? offset + factor * (b == 0 ? 0 : a / b) : 0;
    }
}

// ---- the scale --------------------------------------------------------------

bool is_scaled(const Graph *g)
{
    return g->training.loss_scale != 0 && g->mode == TRAIN;
}

ValueId loss_header(const Graph *g)
{
    return is_scaled(g) ? g->header : NONE;
}

static bool is_scaled_loss(const Node *n)
{
    return operand_named(n, "header") != NONE;
}

bool reads_scale_alone(const Node *n)
{
    return (n->op->flags & LOSS) != 0 && is_scaled_loss(n);
}

// True if a node's loss has a dynamic scale, which is in the header.
static bool has_moving_scale(const Graph *g, const Node *n)
{
    return is_scaled_loss(n) && g->training.loss_scale_interval != 0;
}

void launch_loss_type(const Node *n, Launch *l)
{
    launch_type(l, has_moving_scale(l->g, n) ? "ScaledLoss" : "real");
}

void launch_loss_weight(const Node *n, Launch *l, double weight,
                        const char *label)
{
    if (!has_moving_scale(l->g, n)) {
        double scale = is_scaled_loss(n) ? l->g->training.loss_scale : 1;
        launch_real(l, weight * scale, label);
        return;
    }
    Launch *to = launch_members(l, "ScaledLoss");
    launch_header(to);
    launch_real(to, weight, label);
    launch_real(to, l->g->training.loss_scale, "first");
}

double ref_loss_scale(const Ref *r)
{
    double now = r->header[HEADER_LOSS_SCALE];
    if (!is_scaled_loss(r->n)) return 1;
    return has_moving_scale(r->g, r->n) && now > 0
        ? now : r->g->training.loss_scale;
}

// ---- the header -------------------------------------------------------------

const Node *find_metric_sums(const Graph *g)
{
    for (NodeId i = g->node_count - 1; i >= 0; i--)
        if (g->nodes[i].op == ops[OP_accumulate_metrics]) return &g->nodes[i];
    return NULL;
}

bool makes_loss(const Graph *g, const Node *n)
{
    const Node *metrics =
        (n->op->flags & LOSS) != 0 ? find_metric_sums(g) : NULL;
    for (int k = 1; metrics != NULL && k <= metrics->attr[0].i; k++)
        if (metrics->operands[k] == n->results[0]) return n->kernel == 0;
    return false;
}

// Returns the label that a loss ignores, or NO_LABEL.  A plain loss, in which
// each label counts, has no attributes and lacks its last operand.
static int64_t ignored_by(const Node *n)
{
    if (n->operands[n->operand_count - 1] == NONE) return NO_LABEL;
    for (int i = 0; n->op->attrs && n->op->attrs[i].name; i++)
        if (!strcmp(n->op->attrs[i].name, "ignore")) return n->attr[i].i;
    return NO_LABEL;
}

int64_t ignored_label(const Graph *g, ValueId v)
{
    int64_t ignored = NO_LABEL;
    bool is_read = false;
    for (NodeId i = 0; i < g->node_count; i++) {
        const Node *n = &g->nodes[i];
        if (!n->op || !makes_loss(g, n) || !is_operand(n, v)) continue;
        if (is_read && ignored_by(n) != ignored) return NO_LABEL;
        ignored = ignored_by(n);
        is_read = true;
    }
    return g->values[v].classes ? ignored : NO_LABEL;
}

int figure_of(const Graph *g, ValueId rows)
{
    const Node *metrics = find_metric_sums(g);
    for (int k = 1; metrics != NULL && k < metrics->operand_count; k++)
        if (metrics->operands[k] == rows) return k - 1;
    bug("%s is no figure", g->values[rows].name);
}
