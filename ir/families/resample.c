// Maps resampled to another height and width.
#include "resample.h"
#include "../op/activation_grad.h"
#include "../op/op_checks.h"

void gradient_resample(Gradient *c)
{
    if (!gradient_wanted(c, 0)) return;
    ValueId operands[] = { gradient_of_result(c, 0), NONE };
    ValueId dx = gradient_value(c, 0);
    gradient_node(c, c->g->nodes[c->node].op, 1, 2, operands, 1, &dx);
    gradient_add(c, 0, dx);
}

// ---- launches ---------------------------------------------------------------

// Counts four weights for each element of the result, or one copy; a gradient
// has as many for each element of dy, or of dx if that is larger.
void cost_resample(const Graph *g, const Node *n, Cost *cost, Resampling how)
{
    int64_t x = elements(g->values[n->operands[0]].shape);
    int64_t y = elements(g->values[n->results[0]].shape);
    int64_t count = n->kernel == 1 && x > y ? x : y;
    cost->flops = count * (how >= BILINEAR ? 8 : 1);
    cost->bytes = cost_bytes(g, n);
}

void launch_resized(const Graph *g, const Node *n, Launch *l,
                    const char *forward, const char *backward)
{
    bool is_forward = n->kernel == 0;
    Shape first = g->values[n->operands[0]].shape;
    Shape result = g->values[n->results[0]].shape;
    Shape x = is_forward ? first : result, y = is_forward ? result : first;
    int64_t vec = vec_width(g, n, x.dim[3]);
    const Constant constants[] = {
        { "N", x.dim[0] }, { "H", x.dim[1] }, { "W", x.dim[2] },
        { "C", x.dim[3] }, { "P", y.dim[1] }, { "Q", y.dim[2] }, { "VEC", vec },
    };

    launch_elements(l, is_forward ? forward : backward, elements(result) / vec);
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
        launch_constant(l, constants[i].name, constants[i].value);
}

void launch_resample(const Graph *g, const Node *n, Launch *l, Resampling how)
{
    static const char *const modes[RESAMPLINGS] = {
        "Nearest", "NearestExact", "Bilinear", "AlignCorners",
    };
    bool forward = n->kernel == 0;

    launch_resized(g, n, l, "resample_forward", "resample_gradient");
    launch_type(l, modes[how]);
    if (!forward) launch_act(l, n);
    launch_slots(l, n, 1, forward ? 1 : 2);
}

// ---- references -------------------------------------------------------------

// The sources of result pixel p along an axis: pixels low and high, the second
// with weight `share`.
typedef struct Between {
    int64_t low, high;
    double  share;
} Between;

// Pixel p of `to`, of `from` pixels.
static Between between(Resampling how, int64_t p, int64_t from, int64_t to)
{
    double at = 0;
    if (how == NEAREST || how == NEAREST_EXACT) {
        int64_t low = how == NEAREST ? p * from / to
                                     : (2 * p + 1) * from / (2 * to);
        return (Between){ low, low, 0 };
    }
    if (how == BILINEAR)
        at = ((double)p + 0.5) * (double)from / (double)to - 0.5;
    else if (to > 1)
        at = (double)(p * (from - 1)) / (double)(to - 1);
    if (at < 0) at = 0;
    int64_t low = (int64_t)at;
    return (Between){ low, low + 1 < from ? low + 1 : low, at - (double)low };
}

// Computes the four sources in x of element i of y, and their weights.
static void sources(Resampling how, Shape x, Shape y, int64_t i, int64_t at[4],
                    double share[4])
{
    int64_t c = i % y.dim[3], q = i / y.dim[3] % y.dim[2];
    int64_t p = i / y.dim[3] / y.dim[2] % y.dim[1];
    int64_t n = i / y.dim[3] / y.dim[2] / y.dim[1];
    Between h = between(how, p, x.dim[1], y.dim[1]);
    Between w = between(how, q, x.dim[2], y.dim[2]);
    for (int j = 0; j < 4; j++) {
        int64_t row = n * x.dim[1] + (j & 2 ? h.high : h.low);
        int64_t column = j & 1 ? w.high : w.low;
        at[j] = (row * x.dim[2] + column) * x.dim[3] + c;
        share[j] = (j & 2 ? h.share : 1 - h.share) *
                   (j & 1 ? w.share : 1 - w.share);
    }
}

static void forward_reference(const Ref *r, Resampling how)
{
    Shape x = ref_in(r, 0), y = ref_out(r, 0);
    int64_t at[4];
    double share[4];
    for (int64_t i = 0; i < elements(y); i++) {
        sources(how, x, y, i, at, share);
        r->out[0][i] = 0;
        for (int j = 0; j < 4; j++) r->out[0][i] += share[j] * r->in[0][at[j]];
    }
}

static void gradient_reference(const Ref *r, Resampling how)
{
    Shape dx = ref_out(r, 0), dy = ref_in(r, 0);
    int64_t at[4];
    double share[4];
    for (int64_t i = 0; i < elements(dx); i++) r->out[0][i] = 0;
    for (int64_t i = 0; i < elements(dy); i++) {
        sources(how, dx, dy, i, at, share);
        for (int j = 0; j < 4; j++) r->out[0][at[j]] += share[j] * r->in[0][i];
    }
    ref_mask(r, 1);
}

void ref_resample(const Ref *r, Resampling how)
{
    if (r->n->kernel == 0) forward_reference(r, how);
    else gradient_reference(r, how);
}
