// Programs are held to the interpreter, and the interpreter runs the graph that
// differentiation made: were that wrong, all would agree on it.  So the loss is
// taken on both sides of its point, along one random direction of all trained
// parameters together, at several widths. The best width counts: a wide one may
// cross a kink, a narrow one drowns in rounding, and a wrong gradient agrees
// with none.
#include "slopes.h"

#include <math.h>
#include <string.h>
#include "../../ir/families/prune.h"
#include "../../ir/families/quantize.h"
#include "draw.h"

enum { WIDTHS = 4, DIRECTIONS = 2 };
static const double widths[WIDTHS] = { 1e-4, 1e-5, 1e-6, 1e-7 };
#define TOLERANCE 1e-5          // of the norm of all gradients, or of this:
#define LEAST_GRADIENTS 1e-12   // the rounding of numbers around 1

typedef struct Walk {
    Arena           *arena;
    const Reference *ref;
    const Case      *of;
    Graph            masks;     // the masks of the first step
    Graph            forward;   // the loss alone
    Tensors          t;
    ValueId          figures;
    double         **way;       // of every trained parameter
} Walk;

static bool is_changed(const Graph *g, ValueId v)
{
    return v != NONE && is_trained(&g->values[v]);
}

// The forward nodes; false where a parameter goes through one that has no
// gradient to a result that something else reads.
static bool find_forward(Walk *w)
{
    const Graph *g = w->ref->train;
    bool *trained = NEW_ARRAY(w->arena, g->value_count, bool), good = true;

    w->forward = *g;
    w->forward.nodes = NEW_ARRAY(w->arena, g->node_count + 1, Node);
    w->forward.node_count = 0;
    w->masks = w->forward;
    w->masks.nodes = NEW_ARRAY(w->arena, g->node_count + 1, Node);
    for (NodeId i = 0; i < g->node_count; i++) {
        const Node *n = &g->nodes[i];
        bool any = false;
        if (n->op == NULL || n->phase != FORWARD) continue;
        if (makes_mask(n)) {
            w->masks.nodes[w->masks.node_count++] = *n;
            continue;
        }
        w->forward.nodes[w->forward.node_count++] = *n;
        for (int k = 0; k < n->operand_count; k++)
            any |= is_changed(g, n->operands[k]) ||
                   (n->operands[k] != NONE && trained[n->operands[k]]);
        if (any && n->op->gradient == NULL &&
            n->op->flags & LAYER)
            good = false;
        for (int k = 0; k < n->result_count; k++)
            if (n->results[k] != NONE) trained[n->results[k]] = any;
    }
    return good;
}

static double draw_way(Walk *w, const Graph *g, Draw *d)
{
    double gradient = 0;
    const Moment *m = &w->ref->moment[0];

    for (ValueId v = 0; v < g->value_count; v++)
        if (is_changed(g, v)) {
            w->way[v] = NEW_ARRAY(w->arena, elements(g->values[v].shape),
                                  double);
            for (int64_t i = 0; i < elements(g->values[v].shape); i++)
                w->way[v][i] = draw_real(d, -1, 1);
        }
    for (int k = 0; k < m->count; k++) {
        const Expected *e = &m->tensor[k];
        ValueId of = g->values[case_value(g, e->name)].gradient_of;
        for (int64_t i = 0; is_changed(g, of) && i < e->count; i++)
            gradient += e->data[i] * w->way[of][i];
    }
    return gradient;
}

static double loss_at(Walk *w, double far)
{
    const Graph *g = w->ref->train;
    reference_begin(w->ref, w->of, &w->t);
    interpret(&w->masks, &w->t, w->ref->samples);
    for (ValueId v = 0; v < g->value_count; v++)
        for (int64_t i = 0; is_changed(g, v) && i < elements(g->values[v].shape);
             i++)
            w->t.data[v][i] += far * w->way[v][i];
    interpret(&w->forward, &w->t, w->ref->samples);
    return w->t.data[w->figures][0];
}

static double slope_of(Walk *w, double width)
{
    return (loss_at(w, width) - loss_at(w, -width)) / (2 * width);
}

static bool rounds_first_step(const Graph *g)
{
    return g->training.quantize != NULL && g->training.quantize->delay == 0;
}

bool slopes_agree(Arena *arena, const Reference *ref, const Case *of,
                  double *slope, double *gradient)
{
    Walk w = { .arena = arena, .ref = ref, .of = of };

    if (!ref->trains || of->exact || !find_forward(&w)) return true;
    const Graph *g = ref->train;
    // Limits and scales change gradients, not the loss.
    if (g->training.clip_value != 0 || is_scaled(g)) return true;
    // A loss of rounded numbers is flat.
    if (rounds_first_step(g)) return true;
    w.figures = case_value(g, "figures");
    w.t = tensors_new(g);
    w.way = NEW_ARRAY(arena, g->value_count, double *);
    double sized = fmax(ref->moment[0].gradients, LEAST_GRADIENTS);
    for (int i = 0; i < DIRECTIONS; i++) {
        Draw d = draw_named(of->seed + (uint64_t)i, "way");
        *gradient = draw_way(&w, g, &d);
        double at = loss_at(&w, 0), least = INFINITY;
        if (!isfinite(at) || !isfinite(*gradient)) return true;
        for (int k = 0; k < WIDTHS; k++) {
            double here = slope_of(&w, widths[k]);
            double apart = fabs(here - *gradient);
            // The effect of rounding alone on the difference of two losses.  A
            // loss may be much smaller than the terms that it is a sum of.
            double noise = 1e-14 * fmax(fabs(at), 1) / widths[k];
            if (apart < least) *slope = here;
            if (apart < least) least = apart;
            if (apart <= TOLERANCE * sized + noise) least = 0;
        }
        if (least > 0) return false;
    }
    return true;
}
