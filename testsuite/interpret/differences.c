// Gradients against differences of the loss.
//
// Up to SAMPLED elements of every parameter are moved, one at a time. There are
// fewer where parameters are many, about ALL together. Every sixth of them
// counts, because PyTorch's gradients are compared whole. The loss is taken on
// either side, at two distances, which together are exact to the fourth order.
// A wide step may cross a kink (relu, maxpool) and a narrow one drowns in
// rounding. So the best of three widths counts: a gradient that is wrong agrees
// with none.
#include "interpret.h"

#include <math.h>
#include <string.h>
#include "../../ir/families/prune.h"

enum { SAMPLED = 6, ALL = 240, EVERY = 6, WIDTHS = 3 };

static const double widths[WIDTHS] = { 1e-4, 1e-5, 1e-6 };
static const double tolerance = 1e-6;

// The forward nodes of the training step: those that mask weights, or all
// others, which compute the loss.
static Graph forward_part(const Graph *g, bool masks)
{
    Graph forward = *g;

    forward.nodes = NEW_ARRAY(g->arena, g->node_count, Node);
    forward.node_count = 0;
    for (NodeId n = 0; n < g->node_count; n++)
        if (g->nodes[n].op != NULL && g->nodes[n].phase == FORWARD &&
            makes_mask(&g->nodes[n]) == masks)
            forward.nodes[forward.node_count++] = g->nodes[n];
    return forward;
}

static bool is_read(const Node *n, const bool *values)
{
    for (int32_t k = 0; k < n->operand_count; k++)
        if (n->operands[k] != NONE && values[n->operands[k]]) return true;
    return false;
}

// The nodes of forward that compute something else if v changes.
static Graph dependents(const Graph *forward, ValueId v)
{
    Graph part = *forward;
    bool *changes = NEW_ARRAY(part.arena, part.value_count, bool);

    changes[v] = true;
    part.nodes = NEW_ARRAY(part.arena, forward->node_count, Node);
    part.node_count = 0;
    for (NodeId i = 0; i < forward->node_count; i++) {
        const Node *n = &forward->nodes[i];
        if (!is_read(n, changes)) continue;
        part.nodes[part.node_count++] = *n;
        for (int32_t k = 0; k < n->result_count; k++)
            if (n->results[k] != NONE) changes[n->results[k]] = true;
    }
    return part;
}

// The loss with *x, an element of a parameter, at value; *x itself stays.  Part
// contains the nodes that depend on that parameter; the others have run.
static double loss_at(Run *r, const Graph *part, double *x, double value)
{
    double was = *x, *header = r->t.data[r->g->header];

    // Sets the counts that an update would have cleared.
    for (int k = HEADER_ACCUMULATED; k < HEADER_SLOTS; k++)
        header[k] = 0;
    *x = value;
    interpret(part, &r->t, r->samples);
    *x = was;
    return r->t.data[r->figures][0];
}

// The error of either difference is of the second order in its width; this sum
// of the two has none of that order.
static double slope(Run *r, const Graph *part, double *x, double width)
{
    double near = loss_at(r, part, x, *x + width / 2) -
                  loss_at(r, part, x, *x - width / 2);
    double far = loss_at(r, part, x, *x + width) -
                 loss_at(r, part, x, *x - width);
    return (8 * near - far) / (6 * width);
}

// How far gradient is from the nearest of the slopes at x, or from the first
// that is near enough.
static double distance(Run *r, const Graph *part, double *x, double gradient,
                       double enough)
{
    double least = INFINITY;
    for (int k = 0; k < WIDTHS; k++) {
        double apart = fabs(slope(r, part, x, widths[k]) - gradient);
        if (apart < least) least = apart;
        if (least <= enough) break;
    }
    return least;
}

static double norm(const double *x, int64_t count)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++) sum += x[i] * x[i];
    return sqrt(sum);
}

// The gradient of each parameter, copied before any further run, without
// the first step's scale of the loss.
static double **copy_gradients(Run *r, double *total)
{
    const Graph *g = r->g;
    double **gradients = NEW_ARRAY(r->arena, g->value_count, double *);

    double scale = is_scaled(g) ? g->training.loss_scale : 1;
    *total = 0;
    for (ValueId v = 0; v < g->value_count; v++) {
        ValueId param = g->values[v].gradient_of;
        if (!g->values[v].output || param == NONE ||
            g->values[param].kind != PARAM)
            continue;
        int64_t count = elements(g->values[v].shape);
        gradients[param] = NEW_ARRAY(r->arena, count, double);
        for (int64_t i = 0; i < count; i++)
            gradients[param][i] = r->t.data[v][i] / scale;
        *total = hypot(*total, norm(r->t.data[v], count));
    }
    return gradients;
}

// True if the gradient of parameter v holds; *worst is the greatest distance so
// far as a part of the norm.
static bool check_param(Run *r, const Graph *forward, ValueId v, int most,
                        const double *gradient, double total, double *worst)
{
    int64_t count = elements(r->g->values[v].shape), taken = 0;
    Graph part = dependents(forward, v);
    int64_t stride = count > most ? count / most : 1;
    double scale = fmax(norm(gradient, count), 1e-3 * total), sum = 0;

    for (int64_t i = stride / 2; i < count && taken < most;
         i += stride, taken++) {
        if (taken % EVERY != 0) continue;
        double apart = distance(r, &part, &r->t.data[v][i], gradient[i],
                                tolerance / 20 * scale);
        sum = hypot(sum, apart);
    }
    interpret(&part, &r->t, r->samples);    // as it was
    if (sum > *worst * scale) *worst = sum / scale;
    if (sum <= tolerance * scale) return true;
    printf("%s: the gradient differs from differences of the loss by %.3g of "
           "its norm, %.6g\n", r->g->values[v].name, sum / scale, scale);
    return false;
}

bool check_gradients(Run *r)
{
    double total, worst = 0;
    bool good = true;
    int checked = 0, params = 0;

    if (!run_reset(r)) return false;
    interpret(r->g, &r->t, r->samples);
    double **gradients = copy_gradients(r, &total);
    Graph forward = forward_part(r->g, false), masks = forward_part(r->g, true);
    if (!run_reset(r)) return false;
    interpret(&masks, &r->t, r->samples);
    interpret(&forward, &r->t, r->samples);
    for (ValueId v = 0; v < r->g->value_count; v++)
        params += gradients[v] != NULL;
    int most = params > 0 ? ALL / params : 0;
    if (most < 1) most = 1;
    if (most > SAMPLED) most = SAMPLED;
    for (ValueId v = 0; v < r->g->value_count; v++) {
        if (gradients[v] == NULL) continue;
        good &= check_param(r, &forward, v, most, gradients[v], total, &worst);
        checked++;
    }
    printf("gradients of %d parameters: worst %.3g of the norm\n", checked,
           worst);
    return good && checked > 0;
}
