// avgpool: the mean of each window.
//
// The divisor of a window is the number of its elements in the map, or, with
// count_padding, in the map and its padding.  Elements past that, in the last
// windows with ceil, never count.  The gradient gathers, and computes the
// divisors again.
#include "../op/activation_grad.h"
#include "../op/op_row.h"
#include "../families/pool.h"
#include "../op/op_checks.h"

enum Args { ARG_COUNT_PADDING = POOL_ARG_COUNT };
enum Attrs { COUNT_PADDING = POOL_ATTR_COUNT };

static const ArgSpec args[] = {
    POOL_ARGS("these are zero"),
    { "count_padding", ARG_BOOL, "false", 0, 1,
      "true: the padding counts in the divisor of a window" },
    { .name = NULL },
};
static const AttrSpec attrs[] = {
    POOL_ATTRS, { "count_padding", ATTR_INT, 0, 0 }, { .name = NULL },
};

static ValueId build(Build *b)
{
    Attr attr[MAX_ATTRS] = {
        [COUNT_PADDING] = { .i = b->arg[ARG_COUNT_PADDING].i },
    };
    return build_pool(b, attr);
}

static void gradient(Gradient *c)
{
    if (!gradient_wanted(c, 0)) return;
    ValueId operands[] = { act_gradient(c), NONE };
    ValueId dx = gradient_value(c, 0);
    gradient_node(c, &op_avgpool, 1, 2, operands, 1, &dx);
    gradient_add(c, 0, dx);
}

// ---- launches ---------------------------------------------------------------

// Adds the constants that determine a window's divisor.
static void launch_counted(const Node *n, Launch *l)
{
    launch_constant(l, "PAD_BOTTOM", n->attr[PAD_BOTTOM].i);
    launch_constant(l, "PAD_RIGHT", n->attr[PAD_RIGHT].i);
    launch_constant(l, "COUNT_PADDING", n->attr[COUNT_PADDING].i);
}

static void launch(const Graph *g, const Node *n, Launch *l)
{
    enum { EACH = 4 };          // channels of a thread
    Shape y = g->values[n->results[0]].shape;
    Launch *windows = launch_pooled(g, n, "AvgPool", l);
    if (windows != NULL) {
        launch_counted(n, windows);
        return;
    }
    launch_elements(l, "avgpool_forward",
                    elements(y) / y.dim[3] * ceil_div(y.dim[3], EACH));
    launch_windows(l, n->attr, g->values[n->operands[0]].shape, y);
    launch_counted(n, l);
    launch_act(l, n);
    launch_slots(l, n, 1, 1);
}

static void grad_shape(const Graph *g, const Node *n, Launch *l)
{
    launch_windows(l, n->attr, g->values[n->results[0]].shape,
                   g->values[n->operands[0]].shape);
    launch_counted(n, l);
    launch_act(l, n);
}

static void grad_launch(const Graph *g, const Node *n, Launch *l)
{
    launch_elements(l, "avgpool_gradient",
                    elements(g->values[n->results[0]].shape));
    grad_shape(g, n, l);
    launch_slots(l, n, 1, 2);
}

static bool grad_load(const Graph *g, const Node *n, Launch *l)
{
    launch_struct(l, "Spread");
    grad_shape(g, n, l);
    launch_slots(l, n, 0, 2);
    return true;
}

// ---- references -------------------------------------------------------------

// Returns the number of taps of window i that count, along an axis.
static int64_t counted(const Attr *attr, int axis, int64_t i, int64_t extent)
{
    Window w = pool_window(attr);
    bool padding = attr[COUNT_PADDING].i;
    return window_taps(&w, axis, i, padding ? -w.before[axis] : 0,
                       padding ? extent + w.after[axis] : extent);
}

// Returns the divisor of the window of element i of y.
static double divisor(const Ref *r, Shape x, Shape y, int64_t i)
{
    int64_t q = i / y.dim[3] % y.dim[2], p = i / y.dim[3] / y.dim[2] % y.dim[1];
    return (double)(counted(r->n->attr, HEIGHT, p, x.dim[1]) *
                    counted(r->n->attr, WIDTH, q, x.dim[2]));
}

static void reference(const Ref *r)
{
    Shape x = ref_in(r, 0), y = ref_out(r, 0);
    int64_t window = r->n->attr[KERNEL_H].i * r->n->attr[KERNEL_W].i;
    for (int64_t i = 0; i < elements(y); i++) {
        double sum = 0;
        for (int64_t j = 0; j < window; j++) {
            int64_t at = pool_element(r->n->attr, x, y, i, j);
            if (at >= 0) sum += r->in[0][at];
        }
        r->out[0][i] = ref_act(r, sum / divisor(r, x, y, i));
    }
}

static void grad_reference(const Ref *r)
{
    Shape dx = ref_out(r, 0), dy = ref_in(r, 0);
    int64_t window = r->n->attr[KERNEL_H].i * r->n->attr[KERNEL_W].i;
    for (int64_t i = 0; i < elements(dx); i++) r->out[0][i] = 0;
    for (int64_t i = 0; i < elements(dy); i++) {
        double share = r->in[0][i] / divisor(r, dx, dy, i);
        for (int64_t j = 0; j < window; j++) {
            int64_t at = pool_element(r->n->attr, dx, dy, i, j);
            if (at >= 0) r->out[0][at] += share;
        }
    }
    ref_mask(r, 1);
}

static const Kernel kernels[] = {
    { .name = "", .results = "y/",
      .cost = cost_pool, .launch = launch, .reference = reference },
    { .name = "grad", .operands = "dy/ mask?~", .results = "dx/",
      .in_place = "dx/mask", .cost = cost_pool_grad, .launch = grad_launch,
      .load_work = 8, .load = grad_load, .reference = grad_reference },
    { .results = NULL },
};

const Op op_avgpool = {
    ROW(avgpool), .args = args, .attrs = attrs, .build = build,
    .shape = pool_shape, .gradient = gradient, .kernels = kernels,
};
