// upsample: enlarges a map by an integral factor along each axis.
//
// nearest repeats pixels.  bilinear interpolates result pixel p at source
// position (p + 1/2) / factor - 1/2, clamped to the map (PyTorch's
// align_corners = false).  Both gradients gather: each element sums dy times
// the weights that it had in the forward launch.  The result of nearest can be
// computed on load.
#include "../families/resample.h"
#include "../op/op_row.h"
#include "../op/op_checks.h"

enum { LARGEST = 64, LONGEST = 1 << 28 };

enum Args { FACTOR, ARG_MODE };
enum Attrs { FACTOR_H, FACTOR_W, IS_BILINEAR };

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
        [IS_BILINEAR] = { .i = b->arg[ARG_MODE].word[0] == 'b' && is_larger },
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

// ---- launches and references ------------------------------------------------

static Resampling mode_of(const Node *n)
{
    return n->attr[IS_BILINEAR].i ? BILINEAR : NEAREST;
}

static void cost(const Graph *g, const Node *n, Cost *cost)
{
    cost_resample(g, n, cost, mode_of(n));
}

static void launch(const Graph *g, const Node *n, Launch *l)
{
    launch_resample(g, n, l, mode_of(n));
}

static bool load(const Graph *g, const Node *n, Launch *l)
{
    Shape x = g->values[n->operands[0]].shape;
    const Constant constants[] = {
        { "N", x.dim[0] }, { "H", x.dim[1] }, { "W", x.dim[2] },
        { "C", x.dim[3] }, { "FACTOR_H", n->attr[FACTOR_H].i },
        { "FACTOR_W", n->attr[FACTOR_W].i },
    };
    if (n->attr[IS_BILINEAR].i) return false;
    launch_struct(l, "Repeated");
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
        launch_constant(l, constants[i].name, constants[i].value);
    launch_slots(l, n, 0, 1);
    return true;
}

static void reference(const Ref *r)
{
    ref_resample(r, mode_of(r->n));
}

static const Kernel kernels[] = {
    { .name = "", .results = "y/", .cost = cost, .launch = launch,
      .load_work = 4, .load = load, .reference = reference },
    { .name = "grad", .operands = "dy/ mask?~", .results = "dx/",
      .in_place = "dx/mask", .cost = cost, .launch = launch,
      .reference = reference },
    { .results = NULL },
};

const Op op_upsample = {
    ROW(upsample), .args = args, .attrs = attrs, .build = build, .shape = shape,
    .simplify = simplify, .gradient = gradient_resample, .kernels = kernels,
};
