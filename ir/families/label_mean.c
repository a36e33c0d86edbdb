// Means over labels: the operators' common arguments, the rows and their total.
//
// This file depends on no operator.
#include <string.h>
#include "label_mean.h"
#include "../dtype.h"
#include "../op/op_checks.h"

// ---- build ------------------------------------------------------------------

// Class weights are kernel arguments, which may take 4 KB in all.
bool build_wants_class_weights(Build *b, const ArgValue *weights,
                               int64_t classes)
{
    Graph *g = b->g;
    int count = weights->list->count, most = 4000 / dtype_bytes(g->real);
    if (count != 0 && count != classes) {
        error(g->diag, weights->pos, "class_weights has %d numbers for %lld "
              "classes", count, (long long)classes);
        return false;
    }
    if (count > most) {
        error(g->diag, weights->pos, "class_weights has %d numbers, and at "
              "most %d can be given", count, most);
        return false;
    }
    return true;
}

void take_label_attrs(const Build *b, int class_weights, int ignore,
                      int weight, Attr *attr)
{
    const List *weights = b->arg[class_weights].list;
    attr[LABEL_CLASS_WEIGHTS].list = weights->count > 0 ? weights : NULL;
    attr[LABEL_IGNORE].i = b->arg[ignore].i;
    attr[LABEL_WEIGHT].f = b->arg[weight].f;
}

// True if samples may have different weights.  Targets that are not labels all
// count 1.
static bool weighs(const Graph *g, ValueId label, const Attr *attr)
{
    return g->values[label].classes > 0 &&
           (attr[LABEL_CLASS_WEIGHTS].list != NULL ||
            attr[LABEL_IGNORE].i != NO_LABEL);
}

ValueId label_mean_total(Graph *g, NodeId n)
{
    const Node *of = &g->nodes[n];
    if (of->results[1] != NONE) return of->results[1];
    ValueId total = graph_value(g, arena_print(g->arena, "%s.total", of->name),
                                SCALAR, g->real, shape_of(1, (int64_t)1),
                                of->pos);
    g->nodes[n].results[1] = total;
    g->values[total].def = n;
    return total;
}

ValueId build_label_mean(Build *b, int sum, const Attr *attr)
{
    Graph *g = b->g;
    Deal deal = deal_pixels(g->values[b->operand[0]].shape);
    ValueId operands[] = {
        b->operand[0], b->operand[LABEL],
        build_before(b, sum, "sums", g->real,
                     shape_of(3, (int64_t)2, deal.splits, deal.batch), attr),
    };
    ValueId rows = build_node(b, 3, operands, attr,
                              weighs(g, operands[LABEL], attr)
                                  ? pair_rows_shape(g->batch)
                                  : shape_of(1, g->batch));
    if (g->mode == TRAIN) label_mean_total(g, g->values[rows].def);
    return rows;
}

static bool has_pairs(const Graph *g, const Node *n)
{
    return n->operand_count > LABEL_SUMS && n->operands[LABEL_SUMS] != NONE &&
           weighs(g, n->operands[LABEL], n->attr);
}

Shape shape_of_label_mean(const Graph *g, const Node *n)
{
    return has_pairs(g, n) ? shape_of_pairs(g, n) : shape_of_rows(g, n);
}

// With equal weights of samples, the mean over the batch is the mean of the
// samples' means.
const char *label_mean_needs_total(const Graph *g, const Node *n)
{
    return has_pairs(g, n) ? needs_total(g, n) : NULL;
}

// ---- labels -----------------------------------------------------------------

const List *class_weights_of(const Node *n)
{
    static const double one = 1;
    static const List ones = { 1, &one };
    const List *list = n->attr[LABEL_CLASS_WEIGHTS].list;
    return list != NULL ? list : &ones;
}

double class_weight(const Node *n, int64_t o)
{
    const List *list = class_weights_of(n);
    return list->at[list->count == 1 ? 0 : o];
}

bool label_counts(const Ref *r, double label, int64_t sample)
{
    return sample < r->samples && label != (double)r->n->attr[LABEL_IGNORE].i;
}

// ---- rows -------------------------------------------------------------------

// Only the sums are read.
void label_mean_cost(const Graph *g, const Node *n, Cost *cost)
{
    cost->flops = elements(g->values[n->operands[LABEL_SUMS]].shape);
    cost->bytes = value_bytes(&g->values[n->operands[LABEL_SUMS]]) +
                  value_bytes(&g->values[n->results[0]]);
}

void label_mean_launch(const Graph *g, const Node *n, Launch *l)
{
    Shape sums = g->values[n->operands[LABEL_SUMS]].shape;
    launch_kernel(l, "label_mean_rows", 1, 256);
    launch_type_int(l, is_weighted(g, n->results[0]));
    launch_value(l, n->results[0]);
    launch_value(l, n->results[1]);
    launch_value(l, n->operands[LABEL_SUMS]);
    launch_samples(l);
    launch_int(l, sums.dim[2], "batch");
    launch_int(l, sums.dim[1], "splits");
    launch_real(l, n->attr[LABEL_WEIGHT].f, "weight");
    launch_last(l);
}

void label_mean_reference(const Ref *r)
{
    Shape sums = ref_in(r, LABEL_SUMS);
    int64_t batch = sums.dim[2], count = sums.dim[1] * batch;
    bool pairs = is_weighted(r->g, r->n->results[0]);
    double total = 0;
    for (int64_t n = 0; n < batch; n++) {
        double sum = 0, weight = 0;
        for (int64_t i = n; i < count; i += batch) {
            sum += r->n->attr[LABEL_WEIGHT].f * r->in[LABEL_SUMS][i];
            weight += r->in[LABEL_SUMS][count + i];
        }
        total += weight;
        if (!pairs) r->out[0][n] = n < r->samples ? sum / weight : 0;
        else r->out[0][2 * n] = sum, r->out[0][2 * n + 1] = weight;
    }
    if (r->out[1] != NULL) r->out[1][0] = total;
}

double label_mean_scale(const Ref *r, double total)
{
    return total == 0 ? 0
        : r->n->attr[LABEL_WEIGHT].f * ref_loss_scale(r) / total;
}
