// The proof goes node by node, over the values of this very run.  An operator
// that is EXACT makes each element of a result a maximum of operands, or a sum
// of terms c * a * b. Here c is a number of the operator's, and a and b are
// elements of different operands. Terms of the same operands have c of one sign
// (LOSS: terms may be squares).  Then
//
//     every partial sum, in any order, is at most the sum of |terms|, and that
//     is what the reference gives for operands of equal magnitudes and some
//     choice of a sign for each operand;
//     every partial sum is a multiple of the unit of c times the units of a
//     and b, where the unit of numbers is the greatest power of two, 1 at most,
//     that divides them all.
//
// So where the greatest result over all choices of signs is below 2^24 units,
// all is exact.  It must be below 2^21 here. A fused launch adds up the results
// of a few nodes, and an update subtracts a weight's decay from that weight.
// The unit of c is read from results for random whole numbers. One sum may hide
// it, with a chance of a half; PROBES of them, over all elements, do not.
//
// The flag of an operator is trusted no further: a false flag shows as numbers
// that differ.
#include "exact.h"

#include <math.h>
#include <string.h>
#include "draw.h"

enum { PROBES = 12, MOST_SIGNED = 4, BITS = 21, LEAST_UNIT = -40 };

// One node with copies of its operands, which may be changed.
typedef struct Trial {
    const Graph *g;
    const Node  *n;
    Ref          ref;
    double     **from;          // the run's own operands
    double       header[HEADER_SLOTS];
    int          real[MAX_SLOTS], real_count;
} Trial;

static bool is_real(const Graph *g, ValueId v)
{
    return v != NONE && v != g->header &&
           (g->values[v].dtype == F32 || g->values[v].dtype == F64);
}

// The exponent of the greatest power of two that divides all, 0 at most.
static int unit_of(const double *x, int64_t count)
{
    int unit = 0;
    for (int64_t i = 0; i < count; i++) {
        if (x[i] == 0) continue;
        if (!isfinite(x[i])) return LEAST_UNIT;
        while (unit > LEAST_UNIT &&
               ldexp(x[i], -unit) != rint(ldexp(x[i], -unit)))
            unit--;
    }
    return unit;
}

static int64_t count_of(const Trial *t, ValueId v)
{
    return elements(t->g->values[v].shape);
}

// ---- a trial ----------------------------------------------------------------

static void begin_trial(Trial *t, const Graph *g, const Node *n,
                        const Tensors *all, int64_t samples)
{
    *t = (Trial){ .g = g, .n = n };
    t->ref = (Ref){ .g = g, .n = n, .samples = samples, .header = t->header };
    t->ref.in = NEW_ARRAY(g->arena, n->operand_count + 1, double *);
    t->ref.out = NEW_ARRAY(g->arena, n->result_count + 1, double *);
    t->from = NEW_ARRAY(g->arena, n->operand_count + 1, double *);
    for (int k = 0; k < n->operand_count; k++) {
        ValueId v = n->operands[k];
        if (v == NONE) continue;
        t->from[k] = all->data[v];
        t->ref.in[k] = v == g->header ? t->header
            : NEW_ARRAY(g->arena, count_of(t, v), double);
        if (is_real(g, v)) t->real[t->real_count++] = k;
    }
    for (int k = 0; k < n->result_count; k++)
        if (n->results[k] != NONE)
            t->ref.out[k] = NEW_ARRAY(g->arena, count_of(t, n->results[k]),
                                      double);
}

static void reset_trial(Trial *t, const Tensors *all)
{
    memcpy(t->header, all->data[t->g->header], sizeof t->header);
    for (int k = 0; k < t->n->operand_count; k++) {
        ValueId v = t->n->operands[k];
        if (v != NONE && v != t->g->header)
            memcpy(t->ref.in[k], t->from[k],
                   (size_t)count_of(t, v) * sizeof(double));
    }
}

// The greatest magnitude and the unit of all that the node has made: results,
// and operands that it updates.
static void measure(const Trial *t, double *most, int *unit)
{
    const Node *n = t->n;
    Slot slots[MAX_SLOTS];
    int slot_count =
        kernel_slots(kernel_operands(n->op, n->kernel), slots, MAX_SLOTS);

    for (int k = 0; k < n->result_count + n->operand_count; k++) {
        bool result = k < n->result_count;
        int slot = k - n->result_count;
        ValueId v = result ? n->results[k] : n->operands[slot];
        if (!is_real(t->g, v)) continue;
        if (!result && (slot >= slot_count || !slots[slot].updated)) continue;
        const double *x = result ? t->ref.out[k] : t->ref.in[slot];
        int of = unit_of(x, count_of(t, v));
        if (of < *unit) *unit = of;
        for (int64_t i = 0; i < count_of(t, v); i++)
            if (!(fabs(x[i]) <= *most)) *most = fabs(x[i]);
    }
}

static void run_trial(Trial *t)
{
    t->n->op->kernels[t->n->kernel].reference(&t->ref);
}

// Operands of one sign each: that of bit k of signs is that of real operand k.
static double bound_of(Trial *t, const Tensors *all, unsigned signs)
{
    double most = 0;
    int unit = 0;

    reset_trial(t, all);
    for (int k = 0; k < t->real_count; k++) {
        double *x = t->ref.in[t->real[k]];
        double sign = signs >> (k < MOST_SIGNED ? k : MOST_SIGNED) & 1 ? -1 : 1;
        int64_t count = count_of(t, t->n->operands[t->real[k]]);
        for (int64_t i = 0; i < count; i++) x[i] = sign * fabs(x[i]);
    }
    run_trial(t);
    measure(t, &most, &unit);
    return most;
}

static int unit_of_numbers(Trial *t, const Tensors *all, Draw *d)
{
    double most = 0;
    int unit = 0;

    for (int i = 0; i < PROBES; i++) {
        reset_trial(t, all);
        for (int k = 0; k < t->real_count; k++) {
            double *x = t->ref.in[t->real[k]];
            int64_t count = count_of(t, t->n->operands[t->real[k]]);
            for (int64_t j = 0; j < count; j++)
                x[j] = (double)draw_int(d, -3, 3);
        }
        run_trial(t);
        measure(t, &most, &unit);
    }
    return unit;
}

// ---- the node, the graph ----------------------------------------------------

static bool is_exact(const Graph *g, const Node *n, const Tensors *all,
                     int64_t samples, Draw *d)
{
    Trial t;
    double most = 0;

    if (!(n->op->flags & EXACT)) return false;
    begin_trial(&t, g, n, all, samples);
    int unit = unit_of_numbers(&t, all, d);
    int times = n->op->flags & LOSS ? 2 : 1;
    for (int k = 0; k < t.real_count; k++)
        unit += times * unit_of(t.from[t.real[k]],
                                count_of(&t, n->operands[t.real[k]]));
    // A quotient may be a whole number in all probes.
    int own = 0;
    reset_trial(&t, all);
    run_trial(&t);
    measure(&t, &most, &own);
    if (own < unit) return false;
    int choices = t.real_count < MOST_SIGNED ? t.real_count : MOST_SIGNED;
    if (t.real_count > MOST_SIGNED) choices++;
    for (unsigned signs = 0; signs < 1u << choices; signs++)
        most = fmax(most, bound_of(&t, all, signs));
    return most < ldexp(1, BITS + unit);
}

bool interpret_exactly(const Graph *g, Tensors *t, int64_t samples)
{
    bool exact = true;
    Draw d = draw_named(1, "probes");

    for (NodeId i = 0; i < g->node_count; i++) {
        const Node *n = &g->nodes[i];
        Graph one = *g;
        if (n->op == NULL) continue;
        if (exact && !(n->op->flags & VIEW) &&
            !is_exact(g, n, t, samples, &d))
            exact = false;
        one.nodes = &g->nodes[i];
        one.node_count = 1;
        interpret(&one, t, samples);
    }
    return exact;
}
