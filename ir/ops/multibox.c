// multibox: the loss of a single-shot detector (Liu et al. 2016, arXiv
// 1512.02325, 2.2).  It is divided by the number of matched anchors of the
// whole batch, as in torchvision.  Rows are pairs: the loss of a sample, and
// the number of its matched anchors.
//
// Forward has four launches, since each needs the whole result of the one
// before:
//
//   match             matches anchors to boxes
//   entropy           the cross entropy of each anchor's scores
//   chosen, positives the background that counts: of the highest entropy
//   rows              one number per sample
//
// The two gradients start from chosen and positives.
#include <math.h>
#include "../families/anchors.h"
#include "../families/loss.h"
#include "../op/op_row.h"
#include "../op/op_checks.h"

enum { LOCATIONS, SCORES, BOXES, LABELS, CHOSEN, POSITIVES, ENTROPY };
enum { FORWARD_KERNEL, MATCH, ENTROPIES, CHOOSE, DSCORES, DLOCATIONS };
enum { OVERLAP_AT = ANCHOR_ARG_COUNT, NEGATIVES_AT, WEIGHT_AT };
enum { OVERLAP = ANCHOR_ATTR_COUNT, NEGATIVES, WEIGHT, CLASSES };

static const ArgSpec args[] = {
    ANCHOR_ARGS,
    { "overlap", ARG_FLOAT, "0.5", 0, 1, "the least intersection over union "
      "at which an anchor is matched to a box" },
    { "negatives", ARG_FLOAT, "3", 0, 1e6, "background anchors that count "
      "for each matched anchor" },
    WEIGHT_ARG, { .name = NULL },
};
static const AttrSpec attrs[] = {
    ANCHOR_ATTRS, { "overlap", ATTR_FLOAT, 0, 0 },
    { "negatives", ATTR_FLOAT, 0, 0 }, { "weight", ATTR_FLOAT, 0, 0 },
    { "classes", ATTR_INT, 1, INT32_MAX }, { .name = NULL },
};

// ---- from a call to nodes ---------------------------------------------------

static bool build_wants_shapes(Build *b, int64_t anchors)
{
    const Graph *g = b->g;
    if (!build_wants(b, LOCATIONS, 3, "[anchors, 4]") ||
        !build_wants(b, SCORES, 3, "[anchors, classes]") ||
        !build_wants(b, BOXES, 3, "[boxes, 4]"))
        return false;
    const Value *labels = &g->values[b->operand[LABELS]];
    Shape locations = g->values[b->operand[LOCATIONS]].shape;
    Shape scores = g->values[b->operand[SCORES]].shape;
    Shape boxes = g->values[b->operand[BOXES]].shape;
    const char *wants =
        locations.dim[1] != anchors || locations.dim[2] != 4 ||
        scores.dim[1] != anchors ? "a row per anchor in locations, of 4, and "
                                   "in scores" :
        boxes.dim[2] != 4 ? "boxes of 4 numbers" :
        labels->classes != scores.dim[2] || labels->shape.rank != 2 ||
        labels->shape.dim[1] != boxes.dim[1] ? "labels of class[boxes, "
                                               "classes], as many as boxes and "
                                               "scores have" : NULL;
    if (wants == NULL) return true;
    error(g->diag, b->pos, "multibox needs %s; there are %lld anchors, and "
          "these are %s, %s, %s and %s of %lld classes", wants,
          (long long)anchors, operand_text(b, LOCATIONS),
          operand_text(b, SCORES), operand_text(b, BOXES),
          operand_text(b, LABELS), (long long)labels->classes);
    return false;
}

static ValueId new_value(Build *b, const char *name, DType dtype, int rank)
{
    Graph *g = b->g;
    Shape scores = g->values[b->operand[SCORES]].shape;
    Kind kind = dtype == I32 ? MASK : ACTIVATION;
    scores.rank = rank;
    return graph_value(g, arena_print(g->arena, "%s.%s", b->name, name), kind,
                       dtype, scores, b->pos);
}

static ValueId build(Build *b)
{
    Attr attr[MAX_ATTRS] = { { 0 } };
    const ValueId *of = b->operand;
    if (!anchor_attrs(b, attr) || !build_wants_shapes(b, anchor_count(attr)))
        return NONE;
    attr[OVERLAP].f = b->arg[OVERLAP_AT].f;
    attr[NEGATIVES].f = b->arg[NEGATIVES_AT].f;
    attr[WEIGHT].f = b->arg[WEIGHT_AT].f;
    attr[CLASSES].i = b->g->values[of[SCORES]].shape.dim[2];

    ValueId match = new_value(b, "match", I32, 2);
    ValueId entropy = new_value(b, "entropy", b->g->real, 2);
    ValueId chosen = new_value(b, "chosen", I32, 2);
    ValueId positives = new_value(b, "positives", I32, 1);
    build_kernel(b, MATCH, attr, 3,
             (ValueId[]){ of[BOXES], of[LABELS], of[SCORES] }, 1, &match);
    build_kernel(b, ENTROPIES, attr, 4,
             (ValueId[]){ of[SCORES], match, of[LABELS], of[BOXES] }, 1,
             &entropy);
    build_kernel(b, CHOOSE, attr, 2, (ValueId[]){ match, entropy }, 2,
             (ValueId[]){ chosen, positives });
    ValueId operands[] = { of[LOCATIONS], of[SCORES], of[BOXES], of[LABELS],
                           chosen, positives, entropy };
    return build_node(b, 7, operands, attr, pair_rows_shape(b->g->batch));
}

static void gradient(Gradient *c)
{
    Node n = c->g->nodes[c->node];
    const ValueId *of = n.operands;
    if (gradient_wanted(c, SCORES)) {
        ValueId operands[] = { of[SCORES], of[CHOSEN], of[LABELS],
                               of[POSITIVES], of[BOXES], loss_header(c->g) };
        ValueId d = gradient_value(c, SCORES);
        gradient_node(c, &op_multibox, DSCORES, 6, operands, 1, &d);
        gradient_add(c, SCORES, d);
    }
    if (gradient_wanted(c, LOCATIONS)) {
        ValueId operands[] = { of[LOCATIONS], of[BOXES], of[CHOSEN],
                               of[POSITIVES], loss_header(c->g) };
        ValueId d = gradient_value(c, LOCATIONS);
        gradient_node(c, &op_multibox, DLOCATIONS, 5, operands, 1, &d);
        gradient_add(c, LOCATIONS, d);
    }
}

// ---- launches ---------------------------------------------------------------

// Counts a few operations for each anchor and box, or score.
static void cost(const Graph *g, const Node *n, Cost *cost)
{
    int64_t most = 1;
    for (int k = 0; k < n->operand_count; k++) {
        if (n->operands[k] == NONE) continue;
        int64_t count = elements(g->values[n->operands[k]].shape);
        if (count > most) most = count;
    }
    cost->flops = capped_product(8, most);
    cost->bytes = cost_bytes(g, n);
    int unread = n->kernel == FORWARD_KERNEL ? SCORES : NONE;
    if (n->kernel == MATCH) unread = 2;
    if (unread != NONE)
        cost->bytes -= value_bytes(&g->values[n->operands[unread]]);
}

enum { BLOCK = 256 };

// anchors and boxes: the slots with a row for each; boxes is NONE if the launch
// does not need their number.
static void launch_start(const Graph *g, const Node *n, Launch *l,
                         const char *kernel, int64_t grid, int anchors,
                         int boxes)
{
    Shape rows = g->values[n->operands[anchors]].shape;
    launch_kernel(l, kernel, grid, BLOCK);
    launch_constant(l, "N", rows.dim[0]);
    launch_constant(l, "ANCHORS", rows.dim[1]);
    if (boxes != NONE)
        launch_constant(l, "BOXES",
                        g->values[n->operands[boxes]].shape.dim[1]);
    if (operand_called(n, "header") != NONE) launch_loss_type(n, l);
}

static void match_launch(const Graph *g, const Node *n, Launch *l)
{
    launch_start(g, n, l, "multibox_match", g->batch, 2, 0);
    launch_slots(l, n, 1, 2);
    launch_real(l, n->attr[OVERLAP].f, "overlap");
    launch_anchors(l, n->attr);
}

// A warp processes a row of scores.
static int64_t warps(const Graph *g, ValueId scores)
{
    Shape shape = g->values[scores].shape;
    int64_t grid = ceil_div(32 * shape.dim[0] * shape.dim[1], BLOCK);
    return grid < INT32_MAX ? grid : INT32_MAX;
}

static void entropy_launch(const Graph *g, const Node *n, Launch *l)
{
    launch_start(g, n, l, "multibox_entropy", warps(g, n->operands[0]), 0, 3);
    launch_constant(l, "CLASSES", n->attr[CLASSES].i);
    launch_slots(l, n, 1, 3);
}

static void choose_launch(const Graph *g, const Node *n, Launch *l)
{
    launch_start(g, n, l, "multibox_choose", g->batch, 0, NONE);
    launch_slots(l, n, n->result_count, n->operand_count);
    launch_real(l, n->attr[NEGATIVES].f, "negatives");
}

static void launch(const Graph *g, const Node *n, Launch *l)
{
    static const int slots[] = { ENTROPY, LOCATIONS, BOXES, CHOSEN, POSITIVES };
    launch_start(g, n, l, "multibox_forward", g->batch, LOCATIONS, BOXES);
    launch_value(l, n->results[0]);
    for (int k = 0; k < 5; k++)
        if (slots[k] == LOCATIONS) launch_load(l, n, LOCATIONS);
        else launch_value(l, n->operands[slots[k]]);
    launch_samples(l);
    launch_real(l, n->attr[WEIGHT].f, "weight");
    launch_anchors(l, n->attr);
}

static void dscores_launch(const Graph *g, const Node *n, Launch *l)
{
    launch_start(g, n, l, "multibox_scores", warps(g, n->operands[0]), 0, 4);
    launch_constant(l, "CLASSES", n->attr[CLASSES].i);
    launch_slots(l, n, 1, 4);
    launch_samples(l);
    launch_loss_weight(n, l, n->attr[WEIGHT].f, "weight");
}

static void dlocations_launch(const Graph *g, const Node *n, Launch *l)
{
    Shape x = g->values[n->operands[0]].shape;
    int64_t grid = ceil_div(x.dim[0] * x.dim[1], BLOCK);
    launch_start(g, n, l, "multibox_locations",
                 grid < INT32_MAX ? grid : INT32_MAX, 0, 1);
    launch_slots(l, n, 1, 4);
    launch_samples(l);
    launch_loss_weight(n, l, n->attr[WEIGHT].f, "weight");
    launch_anchors(l, n->attr);
}

// ---- references -------------------------------------------------------------

enum { NOT_COUNTED = -2 };

static void match_reference(const Ref *r)
{
    int64_t anchors = ref_out(r, 0).dim[1], boxes = ref_in(r, 1).dim[1];
    for (int64_t n = 0; n < ref_out(r, 0).dim[0]; n++)
        match_anchors(r->n->attr, r->n->attr[OVERLAP].f,
                      r->in[0] + 4 * n * boxes, r->in[1] + n * boxes, boxes,
                      r->out[0] + n * anchors, anchors);
}

// Returns the target class of an anchor, from its box's number.
static int64_t class_of(const double *labels, int64_t boxes, int64_t n,
                        double box)
{
    return box < 0 ? 0 : (int64_t)labels[n * boxes + (int64_t)box];
}

static double log_sum(const double *row, int64_t classes)
{
    double largest = largest_of(row, classes);
    return largest + log(exp_sum_of(row, classes, largest));
}

static void entropy_reference(const Ref *r)
{
    Shape scores = ref_in(r, 0);
    int64_t classes = scores.dim[2], boxes = ref_in(r, 2).dim[1];
    for (int64_t i = 0; i < scores.dim[0] * scores.dim[1]; i++) {
        const double *row = r->in[0] + i * classes;
        int64_t class = class_of(r->in[2], boxes, i / scores.dim[1],
                                 r->in[1][i]);
        r->out[0][i] =
            class < classes ? log_sum(row, classes) - row[class] : (double)NAN;
    }
}

// Returns the number of background anchors with a higher entropy, or an equal
// one and a lower index.
static int64_t rank_of(const double *match, const double *entropy,
                       int64_t anchors, int64_t a)
{
    int64_t rank = 0;
    for (int64_t b = 0; b < anchors; b++)
        rank += match[b] < 0 && (entropy[b] > entropy[a] ||
                                 (entropy[b] == entropy[a] && b < a));
    return rank;
}

static void choose_reference(const Ref *r)
{
    Shape shape = ref_in(r, 0);
    int64_t anchors = shape.dim[1];
    for (int64_t n = 0; n < shape.dim[0]; n++) {
        const double *match = r->in[0] + n * anchors;
        const double *entropy = r->in[1] + n * anchors;
        double *chosen = r->out[0] + n * anchors, count = 0;
        for (int64_t a = 0; a < anchors; a++) count += match[a] >= 0;
        for (int64_t a = 0; a < anchors; a++) {
            bool counts = match[a] >= 0 ||
                (double)rank_of(match, entropy, anchors, a) <
                    r->n->attr[NEGATIVES].f * count;
            chosen[a] = counts ? match[a] : NOT_COUNTED;
        }
        r->out[1][n] = count;
    }
}

static double share_of(const Ref *r, const double *positives)
{
    double total = 0;
    for (int64_t n = 0; n < r->samples; n++) total += positives[n];
    return r->n->attr[WEIGHT].f / fmax(total, 1);
}

// Computes the differences of the predicted numbers from the code of the box,
// for anchor i of all.
static void distances(const Ref *r, const double *told, const double *boxes,
                      int64_t box_count, int64_t anchors, int64_t i,
                      double box, double *distance)
{
    double code[4];
    anchor_code(r->n->attr, i % anchors,
                boxes + 4 * (i / anchors * box_count + (int64_t)box), code);
    for (int j = 0; j < 4; j++) distance[j] = told[4 * i + j] - code[j];
}

static double smooth_l1(double x)
{
    return fabs(x) < 1 ? x * x / 2 : fabs(x) - 0.5;
}

static void reference(const Ref *r)
{
    Shape locations = ref_in(r, LOCATIONS);
    int64_t anchors = locations.dim[1], boxes = ref_in(r, BOXES).dim[1];

    for (int64_t n = 0; n < locations.dim[0]; n++) {
        r->out[0][2 * n] = 0;
        r->out[0][2 * n + 1] = n < r->samples ? r->in[POSITIVES][n] : 0;
    }
    for (int64_t i = 0; i < r->samples * anchors; i++) {
        double box = r->in[CHOSEN][i], sum = 0;
        if (box != NOT_COUNTED) sum += r->in[ENTROPY][i];
        if (box >= 0) {
            double off[4];
            distances(r, r->in[LOCATIONS], r->in[BOXES], boxes, anchors, i, box,
                      off);
            for (int j = 0; j < 4; j++) sum += smooth_l1(off[j]);
        }
        r->out[0][2 * (i / anchors)] += r->n->attr[WEIGHT].f * sum;
    }
}

static void dscores_reference(const Ref *r)
{
    Shape scores = ref_in(r, 0);
    int64_t classes = scores.dim[2], boxes = ref_in(r, 4).dim[1];
    double share = share_of(r, r->in[3]) * ref_loss_scale(r);

    for (int64_t i = 0; i < scores.dim[0] * scores.dim[1]; i++) {
        int64_t n = i / scores.dim[1];
        int64_t class = class_of(r->in[2], boxes, n, r->in[1][i]);
        bool counts = r->in[1][i] != NOT_COUNTED && n < r->samples;
        const double *row = r->in[0] + i * classes;
        double sum = log_sum(row, classes);
        for (int64_t c = 0; c < classes; c++)
            r->out[0][i * classes + c] =
                counts ? share * (exp(row[c] - sum) - (c == class)) : 0;
    }
}

static void dlocations_reference(const Ref *r)
{
    Shape locations = ref_in(r, 0);
    int64_t anchors = locations.dim[1], boxes = ref_in(r, 1).dim[1];
    double share = share_of(r, r->in[3]) * ref_loss_scale(r);

    for (int64_t i = 0; i < locations.dim[0] * anchors; i++) {
        double box = r->in[2][i], off[4] = { 0 };
        if (box >= 0 && i / anchors < r->samples)
            distances(r, r->in[0], r->in[1], boxes, anchors, i, box, off);
        for (int j = 0; j < 4; j++)
            r->out[0][4 * i + j] = share * fmax(-1, fmin(1, off[j]));
    }
}

// ---- the operator -----------------------------------------------------------

static const Kernel kernels[] = {
    { .name = "", .results = "rows", .cost = cost, .launch = launch,
      .reference = reference },
    { .name = "match", .operands = "boxes labels scores^", .results = "match",
      .cost = cost, .launch = match_launch, .reference = match_reference },
    { .name = "entropy", .operands = "scores^ match labels boxes",
      .results = "entropy", .cost = cost, .launch = entropy_launch,
      .reference = entropy_reference },
    { .name = "choose", .operands = "match entropy", .cost = cost,
      .results = "chosen positives", .launch = choose_launch,
      .reference = choose_reference },
    { .name = "dscores", .results = "dscores^", .in_place = "dscores/scores",
      .operands = "scores^ chosen labels positives boxes header?", .cost = cost,
      .launch = dscores_launch, .reference = dscores_reference },
    { .name = "dlocations", .results = "dlocations^", .cost = cost,
      .operands = "locations^ boxes chosen positives header?",
      .in_place = "dlocations/locations", .launch = dlocations_launch,
      .reference = dlocations_reference },
    { .results = NULL },
};

const Op op_multibox = {
    ROW(multibox), .applies = &op_softmax, .logits = SCORES,
    .args = args, .attrs = attrs, .build = build,
    .fits = "3 4, 3 c, !b 4, b:c; [1] | 12 4, 12 c, !b 4, b:c; [2] | "
            "18 4, 18 c, !b 4, b:c; [2, 1]", .shape = shape_of_pairs,
    .gradient = gradient, .needs_whole_batch = needs_total, .kernels = kernels,
};
