// adaptive_avgpool: the means of P x Q windows that cover a map, as in PyTorch.
// Window p has the rows from floor(p * H / P) to below ceil((p + 1) * H / P).
// So windows overlap where P does not divide H.
//
// If both sides are divided, it is an avgpool or a global_avgpool.
#include "../families/pool.h"
#include "../families/resample.h"
#include "../op/op_row.h"
#include "../op/op_checks.h"

enum { ARG_SIZE };
enum { OUT_H, OUT_W };

static const ArgSpec args[] = {
    { "size", ARG_DIMS, NULL, 1, POOL_WIDEST,
      "height and width of the result" },
    { .name = NULL },
};
static const AttrSpec attrs[] = {
    { "height", ATTR_INT, 1, POOL_WIDEST },
    { "width", ATTR_INT, 1, POOL_WIDEST }, { .name = NULL },
};

static Shape reduced(Shape x, const Attr *attr)
{
    x.dim[1] = attr[OUT_H].i;
    x.dim[2] = attr[OUT_W].i;
    return x;
}

// Makes the avgpool with these windows, or the global_avgpool.
static ValueId build_divided(Build *b, Shape x, Shape y)
{
    Build pool = *b;
    Attr attr[MAX_ATTRS] = { { 0 } };
    bool is_global = y.dim[1] == 1 && y.dim[2] == 1;
    for (int axis = HEIGHT; axis <= WIDTH; axis++) {
        int64_t side = x.dim[1 + axis] / y.dim[1 + axis];
        attr[KERNEL_H + axis].i = attr[STRIDE_H + axis].i = side;
        attr[DILATION_H + axis].i = 1;
    }
    pool.op = ops[is_global ? OP_global_avgpool : OP_avgpool];
    return build_node(&pool, 1, b->operand, is_global ? NULL : attr, y);
}

static ValueId build(Build *b)
{
    if (!build_wants(b, 0, 4, "a map [height, width, channels]")) return NONE;
    const int64_t *size = b->arg[ARG_SIZE].dim;
    Attr attr[] = { [OUT_H] = { .i = size[0] }, [OUT_W] = { .i = size[1] } };
    Shape x = b->g->values[b->operand[0]].shape, y = reduced(x, attr);
    bool divides = x.dim[1] % y.dim[1] == 0 && x.dim[2] % y.dim[2] == 0;
    bool is_small = x.dim[1] / y.dim[1] <= POOL_LARGEST &&
                    x.dim[2] / y.dim[2] <= POOL_LARGEST;
    if (divides && is_small && !same_shape(x, y)) return build_divided(b, x, y);
    return build_node(b, 1, b->operand, attr, y);
}

static Shape shape(const Graph *g, const Node *n)
{
    return has_rank(g, n, 0, 4)
        ? reduced(g->values[n->operands[0]].shape, n->attr) : shape_of(0);
}

// The size of the map itself is the identity.
static ValueId simplify(Graph *g, NodeId id)
{
    const Node *n = &g->nodes[id];
    Shape x = g->values[n->operands[0]].shape;
    return same_shape(x, reduced(x, n->attr)) ? n->operands[0] : NONE;
}

static void gradient(Gradient *c)
{
    if (!gradient_wanted(c, 0)) return;
    ValueId dy = gradient_of_result(c, 0), dx = gradient_value(c, 0);
    gradient_node(c, &op_adaptive_avgpool, 1, 1, &dy, 1, &dx);
    gradient_add(c, 0, dx);
}

// ---- launches ---------------------------------------------------------------

// Forward, an element of x counts once; backward, an element of dx has up to
// four terms.
static void cost(const Graph *g, const Node *n, Cost *cost)
{
    int64_t x = elements(g->values[n->operands[0]].shape);
    int64_t y = elements(g->values[n->results[0]].shape);
    cost->flops = 2 * (x > y ? x : y);
    cost->bytes = cost_bytes(g, n);
}

static void launch(const Graph *g, const Node *n, Launch *l)
{
    launch_resized(g, n, l, "adaptive_forward", "adaptive_gradient");
    launch_slots(l, n, 1, 1);
}

// ---- references -------------------------------------------------------------

// Calls meet for each element of y and each element of x in its window, with
// the window's size.
static void each_pair(Shape x, Shape y, const Ref *r,
                      void (*meet)(const Ref *r, int64_t in_x, int64_t in_y,
                                   double size))
{
    for (int64_t i = 0; i < elements(y); i++) {
        int64_t c = i % y.dim[3], q = i / y.dim[3] % y.dim[2];
        int64_t p = i / y.dim[3] / y.dim[2] % y.dim[1];
        int64_t n = i / y.dim[3] / y.dim[2] / y.dim[1];
        int64_t h0 = p * x.dim[1] / y.dim[1], w0 = q * x.dim[2] / y.dim[2];
        int64_t h1 = ceil_div((p + 1) * x.dim[1], y.dim[1]);
        int64_t w1 = ceil_div((q + 1) * x.dim[2], y.dim[2]);
        for (int64_t h = h0; h < h1; h++)
            for (int64_t w = w0; w < w1; w++)
                meet(r, ((n * x.dim[1] + h) * x.dim[2] + w) * x.dim[3] + c, i,
                     (double)((h1 - h0) * (w1 - w0)));
    }
}

static void add_to_mean(const Ref *r, int64_t in_x, int64_t in_y, double size)
{
    r->out[0][in_y] += r->in[0][in_x] / size;
}

static void add_to_slope(const Ref *r, int64_t in_x, int64_t in_y, double size)
{
    r->out[0][in_x] += r->in[0][in_y] / size;
}

static void reference(const Ref *r)
{
    ref_clear(r, 0);
    each_pair(ref_in(r, 0), ref_out(r, 0), r, add_to_mean);
}

static void grad_reference(const Ref *r)
{
    ref_clear(r, 0);
    each_pair(ref_out(r, 0), ref_in(r, 0), r, add_to_slope);
}

static const Kernel kernels[] = {
    { .name = "", .results = "y^%", .cost = cost, .launch = launch,
      .reference = reference },
    { .name = "grad", .operands = "dy^", .results = "dx^", .cost = cost,
      .launch = launch, .reference = grad_reference },
    { .results = NULL },
};

const Op op_adaptive_avgpool = {
    ROW(adaptive_avgpool), .args = args, .attrs = attrs, .build = build,
    .shape = shape, .simplify = simplify, .gradient = gradient,
    .kernels = kernels,
};
