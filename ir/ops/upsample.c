// upsample: enlarges a map by an integral factor along each axis.
//
// nearest repeats pixels.  bilinear interpolates result pixel p at source
// position (p + 1/2) / factor - 1/2, clamped to the map (PyTorch's
// align_corners = false).  Both gradients gather: each element sums dy times
// the weights that it had in the forward launch.  The result of nearest can be
// computed on load.
#include "../op/activation_grad.h"
#include "../op/op_row.h"
#include "../op/op_checks.h"

enum { LARGEST = 64, LONGEST = 1 << 28 };

enum Args { FACTOR, ARG_MODE };
enum Attrs { FACTOR_H, FACTOR_W, BILINEAR };

static const ArgSpec args[] = {
    { "factor", ARG_DIMS, NULL, 1, LARGEST, "enlargement of each side" },
    { "mode", ARG_WORD, "nearest|bilinear", 0, 0,
      "interpolation between pixels" },
    { .name = NULL },
};
static const AttrSpec attrs[] = {
    { "factor_h", ATTR_INT, 1, LARGEST },
    { "factor_w", ATTR_INT, 1, LARGEST },
    { "bilinear", ATTR_INT, 0, 1 }, { .name = NULL },
};

// ---- from a call to a node --------------------------------------------------

static Shape enlarged(Shape x, const Attr *attr)
{
    x.dim[1] *= attr[FACTOR_H].i;
    x.dim[2] *= attr[FACTOR_W].i;
    return x;
}

static ValueId build(Build *b)
{
    Graph *g = b->g;
    if (!build_wants(b, 0, 4, "a map [height, width, channels]")) return NONE;
    Shape map = g->values[b->operand[0]].shape;
    if (map.dim[1] > LONGEST / LARGEST || map.dim[2] > LONGEST / LARGEST) {
        error(g->diag, b->operand_pos[0], "upsample takes maps with sides of "
              "at most %d, but this is %s", LONGEST / LARGEST,
              operand_text(b, 0));
        return NONE;
    }
    // With a factor of 1 both modes copy, and nearest does so exactly.
    bool is_larger = b->arg[FACTOR].dim[0] > 1 || b->arg[FACTOR].dim[1] > 1;
    Attr attr[] = {
        [FACTOR_H] = { .i = b->arg[FACTOR].dim[0] },
        [FACTOR_W] = { .i = b->arg[FACTOR].dim[1] },
        [BILINEAR] = { .i = b->arg[ARG_MODE].word[0] == 'b' && is_larger },
    };
    return build_node(b, 1, b->operand, attr, enlarged(map, attr));
}

static Shape shape(const Graph *g, const Node *n)
{
    return has_rank(g, n, 0, 4)
        ? enlarged(g->values[n->operands[0]].shape, n->attr) : shape_of(0);
}

// A factor of 1 is the identity, bit by bit in both directions.
static ValueId simplify(Graph *g, NodeId id)
{
    const Node *n = &g->nodes[id];
    Shape x = g->values[n->operands[0]].shape;
    return same_shape(x, enlarged(x, n->attr)) ? n->operands[0] : NONE;
}

static void gradient(Gradient *c)
{
    if (!gradient_wanted(c, 0)) return;
    ValueId operands[] = { gradient_of_result(c, 0), NONE };
    ValueId dx = gradient_value(c, 0);
    gradient_node(c, &op_upsample, 1, 2, operands, 1, &dx);
    gradient_add(c, 0, dx);
}

// ---- launches ---------------------------------------------------------------

// Counts four weights for each element of the larger map, or one copy.
static void cost(const Graph *g, const Node *n, Cost *cost)
{
    const Value *small = &g->values[n->operands[0]];
    const Value *large = &g->values[n->results[0]];
    if (n->kernel == 1) large = small;
    cost->flops = elements(large->shape) * (n->attr[BILINEAR].i ? 8 : 1);
    cost->bytes = cost_bytes(g, n);
}

static void launch_constants(Launch *l, const Node *n, Shape x)
{
    const Constant constants[] = {
        { "N", x.dim[0] }, { "H", x.dim[1] }, { "W", x.dim[2] },
        { "C", x.dim[3] }, { "FACTOR_H", n->attr[FACTOR_H].i },
        { "FACTOR_W", n->attr[FACTOR_W].i },
    };
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
        launch_constant(l, constants[i].name, constants[i].value);
}

static void launch_map(Launch *l, const Node *n, const char *kernel, Shape x,
                       Shape result)
{
    int64_t vec = vec_width(l->g, n, x.dim[3]);
    launch_elements(l, kernel, elements(result) / vec);
    launch_constants(l, n, x);
    launch_constant(l, "VEC", vec);
    launch_type(l, n->attr[BILINEAR].i ? "Bilinear" : "Nearest");
}

static void launch(const Graph *g, const Node *n, Launch *l)
{
    launch_map(l, n, "upsample_forward", g->values[n->operands[0]].shape,
               g->values[n->results[0]].shape);
    launch_slots(l, n, 1, 1);
}

static bool load(const Graph *g, const Node *n, Launch *l)
{
    if (n->attr[BILINEAR].i) return false;
    launch_struct(l, "Repeated");
    launch_constants(l, n, g->values[n->operands[0]].shape);
    launch_slots(l, n, 0, 1);
    return true;
}

static void grad_launch(const Graph *g, const Node *n, Launch *l)
{
    Shape dx = g->values[n->results[0]].shape;
    launch_map(l, n, "upsample_gradient", dx, dx);
    launch_act(l, n);
    launch_slots(l, n, 1, 2);
}

// ---- references -------------------------------------------------------------

// The sources of result pixel p along an axis: pixels low and high, the second
// with weight `share`.
typedef struct Between {
    int64_t low, high;
    double  share;
} Between;

static Between between(const Attr *attr, int64_t factor, int64_t p,
                       int64_t extent)
{
    if (!attr[BILINEAR].i) return (Between){ p / factor, p / factor, 0 };
    double at = ((double)p + 0.5) / (double)factor - 0.5;
    if (at < 0) at = 0;
    int64_t low = (int64_t)at;
    return (Between){ low, low + 1 < extent ? low + 1 : low,
                      at - (double)low };
}

// Computes the four sources in x of element i of y, and their weights.
static void sources(const Ref *r, Shape x, Shape y, int64_t i, int64_t at[4],
                    double share[4])
{
    int64_t c = i % y.dim[3], q = i / y.dim[3] % y.dim[2];
    int64_t p = i / y.dim[3] / y.dim[2] % y.dim[1];
    int64_t n = i / y.dim[3] / y.dim[2] / y.dim[1];
    Between h = between(r->n->attr, r->n->attr[FACTOR_H].i, p, x.dim[1]);
    Between w = between(r->n->attr, r->n->attr[FACTOR_W].i, q, x.dim[2]);
    for (int j = 0; j < 4; j++) {
        int64_t row = n * x.dim[1] + (j & 2 ? h.high : h.low);
        int64_t column = j & 1 ? w.high : w.low;
        at[j] = (row * x.dim[2] + column) * x.dim[3] + c;
        share[j] = (j & 2 ? h.share : 1 - h.share) *
                   (j & 1 ? w.share : 1 - w.share);
    }
}

static void reference(const Ref *r)
{
    Shape x = ref_in(r, 0), y = ref_out(r, 0);
    int64_t at[4];
    double share[4];
    for (int64_t i = 0; i < elements(y); i++) {
        sources(r, x, y, i, at, share);
        r->out[0][i] = 0;
        for (int j = 0; j < 4; j++) r->out[0][i] += share[j] * r->in[0][at[j]];
    }
}

static void grad_reference(const Ref *r)
{
    Shape dx = ref_out(r, 0), dy = ref_in(r, 0);
    int64_t at[4];
    double share[4];
    for (int64_t i = 0; i < elements(dx); i++) r->out[0][i] = 0;
    for (int64_t i = 0; i < elements(dy); i++) {
        sources(r, dx, dy, i, at, share);
        for (int j = 0; j < 4; j++) r->out[0][at[j]] += share[j] * r->in[0][i];
    }
    ref_mask(r, 1);
}

static const Kernel kernels[] = {
    { .name = "", .results = "y/", .cost = cost, .launch = launch,
      .load_work = 4, .load = load, .reference = reference },
    { .name = "grad", .operands = "dy/ mask?~", .results = "dx/",
      .in_place = "dx/mask", .cost = cost, .launch = grad_launch,
      .reference = grad_reference },
    { .results = NULL },
};

const Op op_upsample = {
    ROW(upsample), .args = args, .attrs = attrs, .build = build, .shape = shape,
    .simplify = simplify, .gradient = gradient, .kernels = kernels,
};
