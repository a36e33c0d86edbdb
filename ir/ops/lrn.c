// lrn: local response normalization over neighbouring channels (Krizhevsky et
// al. 2012).  The result is y[c] = x[c] / s[c]^beta with
//
//   s[c] = k + alpha / size * sum over the `size` channels around c of x^2.
//
// The gradient needs x alone:
//
//   dx[c] = dy[c] * s[c]^-beta - 2 * beta * alpha / size * x[c] * sum over the
//           channels o around c of dy[o] * x[o] * s[o]^(-beta - 1).
#include <math.h>
#include "../op/op_row.h"
#include "../op/op_checks.h"
#include "../families/unary.h"

enum { SIZE, ALPHA, BETA, K };
enum { LARGEST = 255 };

static const ArgSpec args[] = {
    { "size", ARG_INT, NULL, 1, LARGEST, "channels of a sum, an odd number" },
    { "alpha", ARG_FLOAT, "0.0001", 0, 1e30, "factor of the mean square" },
    { "beta", ARG_FLOAT, "0.75", 0, 1e30, "exponent" },
    { "k", ARG_FLOAT, "1", 1e-30, 1e30, "number added to it" },
    { .name = NULL },
};
static const AttrSpec attrs[] = {
    { "size", ATTR_INT, 0, 0 }, { "alpha", ATTR_FLOAT, 0, 0 },
    { "beta", ATTR_FLOAT, 0, 0 }, { "k", ATTR_FLOAT, 0, 0 }, { .name = NULL },
};

// Frameworks differ in the channels around c if their number is even.
static ValueId build(Build *b)
{
    if (b->arg[SIZE].i % 2 == 1) return build_unary(b);
    error(b->g->diag, b->arg[SIZE].pos, "size is odd, so that as many channels "
          "come before as after, and this is %lld", (long long)b->arg[SIZE].i);
    return NONE;
}

static int64_t channels_of(Shape x)
{
    return x.dim[x.rank - 1];
}

static void cost(const Graph *g, const Node *n, Cost *cost)
{
    int64_t size = n->attr[SIZE].i, each = n->kernel == 0 ? size : size * size;
    cost->flops = capped_product(elements(g->values[n->results[0]].shape),
                                 2 * each + 8);
    cost->bytes = cost_bytes(g, n);
}

static void launch(const Graph *g, const Node *n, Launch *l)
{
    static const char *const kernel[] = { "lrn_forward", "lrn_gradient" };
    Shape x = g->values[n->results[0]].shape;
    launch_elements(l, kernel[n->kernel], elements(x));
    launch_slots(l, n, 1, n->operand_count);
    launch_int(l, elements(x), "count");
    launch_int(l, channels_of(x), "channels");
    launch_int(l, n->attr[SIZE].i / 2, "around");
    launch_real(l, n->attr[ALPHA].f / (double)n->attr[SIZE].i, "share");
    launch_real(l, n->attr[BETA].f, "beta");
    launch_real(l, n->attr[K].f, "k");
}

// ---- references -------------------------------------------------------------

// The channels around element i, from *first to below the result.
static int64_t around(const Ref *r, int64_t i, int64_t *first)
{
    int64_t channels = channels_of(ref_out(r, 0)), c = i % channels;
    int64_t reach = r->n->attr[SIZE].i / 2, row = i - c;
    *first = row + (c > reach ? c - reach : 0);
    return row + (c + reach < channels ? c + reach + 1 : channels);
}

static double scale_at(const Ref *r, const double *x, int64_t i)
{
    int64_t first, end = around(r, i, &first);
    double sum = 0;
    for (int64_t o = first; o < end; o++) sum += x[o] * x[o];
    return r->n->attr[K].f +
           r->n->attr[ALPHA].f / (double)r->n->attr[SIZE].i * sum;
}

static void reference(const Ref *r)
{
    const double *x = r->in[0];
    for (int64_t i = 0; i < elements(ref_out(r, 0)); i++)
        r->out[0][i] = x[i] * pow(scale_at(r, x, i), -r->n->attr[BETA].f);
}

static void grad_reference(const Ref *r)
{
    const double *dy = r->in[0], *x = r->in[1];
    double beta = r->n->attr[BETA].f;
    double share = r->n->attr[ALPHA].f / (double)r->n->attr[SIZE].i;
    for (int64_t i = 0; i < elements(ref_out(r, 0)); i++) {
        int64_t first, end = around(r, i, &first);
        double sum = 0;
        for (int64_t o = first; o < end; o++)
            sum += dy[o] * x[o] * pow(scale_at(r, x, o), -beta - 1);
        r->out[0][i] = dy[i] * pow(scale_at(r, x, i), -beta) -
                       2 * beta * share * x[i] * sum;
    }
}

static const Kernel kernels[] = {
    { .name = "", .results = "y^%", .cost = cost, .launch = launch,
      .reference = reference },
    { .name = "grad", .operands = "dy^ x^", .results = "dx^", .cost = cost,
      .launch = launch, .reference = grad_reference },
    { .results = NULL },
};

const Op op_lrn = {
    ROW(lrn), .args = args, .attrs = attrs, .build = build,
    .gradient = gradient_from_operand, .fits = "a b 9; 3 | 6; 5 | a b c; 1",
    .kernels = kernels,
};
