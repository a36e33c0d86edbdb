// Metrics of counts of classes: class_counts.h.
#include "class_counts.h"
#include "../op/op_checks.h"
#include "../graph.h"

enum { MOST_COUNTS = 12288 };   // integers that fill 48 KB, a block's limit

int64_t score_classes(Shape scores)
{
    return scores.dim[scores.rank - 1];
}

bool is_counted_class(double label, int64_t classes, int64_t ignore)
{
    return label >= 0 && label < (double)classes && label != (double)ignore;
}

ValueId build_class_counts(Build *b, int kernel, int64_t runs, int64_t numbers,
                           int64_t classes, const Attr *attr)
{
    Graph *g = b->g;
    ValueId operands[] = {
        b->operand[CLASS_LOGITS], b->operand[CLASS_LABEL],
        build_before(b, kernel, "partials", I32,
                     shape_of(3, runs, numbers, classes), attr),
        build_state(b, "counts", F64,
                    shape_of(3, (int64_t)2, numbers, classes)),
        g->header,
    };
    return build_node(b, 5, operands, attr, pair_rows_shape(g->batch));
}

// ---- rows -------------------------------------------------------------------

void class_rows_cost(const Graph *g, const Node *n, Cost *cost)
{
    cost->flops = elements(g->values[n->operands[CLASS_PARTIALS]].shape);
    cost->bytes = value_bytes(&g->values[n->operands[CLASS_PARTIALS]]) +
                  2 * value_bytes(&g->values[n->operands[CLASS_COUNTS]]);
}

static bool is_partial(const Graph *g)
{
    return is_accumulating(g) && g->mode == TRAIN;
}

void launch_class_rows(const Graph *g, const Node *n, Launch *l,
                       const char *type)
{
    enum { BLOCK = 256 };
    Shape partials = g->values[n->operands[CLASS_PARTIALS]].shape;
    launch_kernel(
        l, is_partial(g) ? "class_rows_accumulated" : "class_rows", 1, BLOCK);
    launch_type(l, type);
    launch_value(l, n->results[0]);
    launch_value(l, n->operands[CLASS_COUNTS]);
    launch_value(l, n->operands[CLASS_PARTIALS]);
    launch_header(l);
    launch_samples(l);
    launch_int(l, g->batch, "batch");
    launch_int(l, partials.dim[0], "runs");
    launch_int(l, partials.dim[1], "numbers");
    launch_int(l, partials.dim[2], "classes");
    launch_int(l, figure_of(g, n->results[0]), "figure");
}

// Moves the counts of the last step into those of the steps before, and sets
// the last to this step's.  Returns count i since the reset.
static double count_since_reset(const Ref *r, int64_t i)
{
    Shape partials = ref_in(r, CLASS_PARTIALS);
    int64_t each = partials.dim[1] * partials.dim[2];
    double *all = r->in[CLASS_COUNTS] + i, *last = all + each, now = 0;
    for (int64_t run = 0; run < partials.dim[0]; run++)
        now += r->in[CLASS_PARTIALS][run * each + i];
    if (is_partial(r->g) && r->header[HEADER_ACCUMULATED] != 0)
        return *all + (*last += now);
    if (r->header[HEADER_SKIP] == 0) *all += *last;
    if (r->header[HEADER_SAMPLES] == 0) *all = 0;
    *last = now;
    return *all + now;
}

void class_rows_reference(const Ref *r, AddClass *add, const void *context)
{
    Shape partials = ref_in(r, CLASS_PARTIALS);
    int64_t classes = partials.dim[2], each = partials.dim[1] * classes;
    double *counts = NEW_ARRAY(r->g->arena, (size_t)each, double);
    for (int64_t i = 0; i < each; i++) counts[i] = count_since_reset(r, i);
    ClassMean mean = { 0 };
    for (int64_t c = 0; c < classes; c++)
        add(r->n, c, counts + c, classes, &mean, context);
    arena_release(r->g->arena, counts);

    double samples = (double)r->samples;
    double all = r->header[HEADER_SAMPLES] + samples;
    if (is_partial(r->g)) all += r->header[HEADER_ACCUMULATED];
    if (mean.weight == 0) all = 0;
    double value = mean.weight > 0 ? mean.sum / mean.weight : 0;
    double row[] = { value * all, all };
    int figure = 2 * figure_of(r->g, r->n->results[0]);
    for (int k = 0; k < 2; k++) {
        row[k] -= r->header[HEADER_SUM_0 + figure + k];
        if (is_partial(r->g))
            row[k] -= r->header[HEADER_ACCUMULATED_SUM_0 + figure + k];
    }
    for (int64_t i = 0; i < 2 * r->g->batch; i++)
        r->out[0][i] = i < 2 * r->samples ? row[i % 2] / samples : 0;
}

// ---- the largest score ------------------------------------------------------

// The blocks that count: each has a run of the batch's pixels, and each warp
// has its own counts.
typedef struct Counting {
    int64_t pixels, run, blocks;
    int     lanes, warps;
} Counting;

static Counting counting_of(Shape scores, int64_t numbers)
{
    enum { EACH = 16, BLOCKS = 512 };
    int64_t classes = score_classes(scores);
    Counting c = { .pixels = elements(scores) / classes,
                   .lanes = deal_pixels(scores).lanes, .warps = 8 };
    while (c.warps * numbers * classes > MOST_COUNTS) c.warps /= 2;
    int64_t blocks = c.pixels * c.lanes / (EACH * 32 * c.warps);
    if (blocks > BLOCKS) blocks = BLOCKS;
    c.run = ceil_div(c.pixels, blocks > 1 ? blocks : 1);
    c.blocks = ceil_div(c.pixels, c.run);
    return c;
}

ValueId build_predicted(Build *b, int64_t numbers, const Attr *attr)
{
    enum { MOST = 4096 };
    if (!build_wants_labels(b)) return NONE;
    Shape scores = b->g->values[b->operand[CLASS_LOGITS]].shape;
    int64_t classes = score_classes(scores);
    if (classes > MOST) {
        error(b->g->diag, b->operand_pos[CLASS_LOGITS], "%s counts at most %d "
              "classes, and these are %lld", b->op->name, MOST,
              (long long)classes);
        return NONE;
    }
    return build_class_counts(b, CLASS_COUNT,
                              counting_of(scores, numbers).blocks, numbers,
                              classes, attr);
}

void predicted_cost(const Graph *g, const Node *n, Cost *cost)
{
    cost->flops = elements(g->values[n->operands[CLASS_LOGITS]].shape);
    cost->bytes = cost_bytes(g, n);
}

void launch_predicted(const Graph *g, const Node *n, Launch *l, int64_t ignore,
                      const char *type)
{
    Shape scores = g->values[n->operands[CLASS_LOGITS]].shape;
    int64_t numbers = g->values[n->results[0]].shape.dim[1];
    Counting c = counting_of(scores, numbers);
    launch_kernel(l, "count_predicted", c.blocks, 32 * c.warps);
    launch_constant(l, "RUN", c.run);
    launch_constant(l, "ITEMS", c.pixels / g->batch);
    launch_constant(l, "CLASSES", score_classes(scores));
    launch_constant(l, "IGNORE", ignore);
    launch_constant(l, "LANES", c.lanes);
    launch_constant(l, "WARPS", c.warps);
    launch_type(l, type);
    launch_slots(l, n, 1, CLASS_LABEL + 1);
    launch_samples(l);
}

// Returns the first maximum, which is never a NaN.
static int64_t prediction(const double *row, int64_t classes)
{
    int64_t best = -1;
    for (int64_t o = 0; o < classes; o++)
        if (row[o] == row[o] && (best < 0 || row[o] > row[best])) best = o;
    return best < 0 ? 0 : best;
}

// The reference counts all pixels in the first run.
void predicted_reference(const Ref *r, int64_t ignore, CountPixel *count)
{
    int64_t classes = score_classes(ref_in(r, CLASS_LOGITS));
    int64_t pixels =
        elements(ref_in(r, CLASS_LABEL)) / r->g->batch * r->samples;
    for (int64_t i = 0; i < elements(ref_out(r, 0)); i++) r->out[0][i] = 0;
    for (int64_t i = 0; i < pixels; i++) {
        double label = r->in[CLASS_LABEL][i];
        if (!is_counted_class(label, classes, ignore)) continue;
        count(r->out[0], classes,
              prediction(r->in[CLASS_LOGITS] + i * classes, classes),
              (int64_t)label);
    }
}
