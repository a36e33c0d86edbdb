// resize: resamples a map to a height and width, larger or smaller.
//
// The modes are PyTorch's.  PyTorch's interpolate with a factor has the same
// results if the factor gives whole sizes.
#include <string.h>
#include "../families/resample.h"
#include "../op/op_row.h"
#include "../op/op_checks.h"

enum { LONGEST = 1 << 24 };

enum Args { SIZE, ARG_MODE, ARG_ALIGN };
enum Attrs { HEIGHT, WIDTH, MODE };

static const ArgSpec args[] = {
    { "size", ARG_DIMS, NULL, 1, LONGEST, "height and width of the result" },
    { "mode", ARG_WORD, "nearest|nearest_exact|bilinear", 0, 0,
      "interpolation between pixels" },
    { "align_corners", ARG_BOOL, "false", 0, 1, "true, of bilinear: the corner "
      "pixels of both maps lie on each other" },
    { .name = NULL },
};
static const AttrSpec attrs[] = {
    { "height", ATTR_INT, 1, LONGEST }, { "width", ATTR_INT, 1, LONGEST },
    { "mode", ATTR_INT, 0, RESAMPLINGS - 1 }, { .name = NULL },
};

static Shape resized(Shape x, const Attr *attr)
{
    x.dim[1] = attr[HEIGHT].i;
    x.dim[2] = attr[WIDTH].i;
    return x;
}

// Returns the mode of a call; RESAMPLINGS after an error.
static Resampling mode_of_call(Build *b)
{
    const char *mode = b->arg[ARG_MODE].word;
    if (!strcmp(mode, "bilinear"))
        return b->arg[ARG_ALIGN].i ? ALIGN_CORNERS : BILINEAR;
    if (!b->arg[ARG_ALIGN].i)
        return strcmp(mode, "nearest") ? NEAREST_EXACT : NEAREST;
    error(b->g->diag, b->arg[ARG_ALIGN].pos, "align_corners goes with mode = "
          "bilinear, and the mode is %s", mode);
    return RESAMPLINGS;
}

static ValueId build(Build *b)
{
    Graph *g = b->g;
    if (!build_wants(b, 0, 4, "a map [height, width, channels]")) return NONE;
    Shape x = g->values[b->operand[0]].shape;
    if (x.dim[1] > LONGEST || x.dim[2] > LONGEST) {
        error(g->diag, b->operand_pos[0], "resize takes maps with sides of at "
              "most %d, but this is %s", LONGEST, operand_text(b, 0));
        return NONE;
    }
    Resampling mode = mode_of_call(b);
    if (mode == RESAMPLINGS) return NONE;
    Attr attr[] = {
        [HEIGHT] = { .i = b->arg[SIZE].dim[0] },
        [WIDTH] = { .i = b->arg[SIZE].dim[1] },
        [MODE] = { .i = mode },
    };
    return build_node(b, 1, b->operand, attr, resized(x, attr));
}

static Shape shape(const Graph *g, const Node *n)
{
    Shape x = g->values[n->operands[0]].shape;
    return has_rank(g, n, 0, 4) && x.dim[1] <= LONGEST && x.dim[2] <= LONGEST
        ? resized(x, n->attr) : shape_of(0);
}

// The same size is the identity in each mode.
static ValueId simplify(Graph *g, NodeId id)
{
    const Node *n = &g->nodes[id];
    Shape x = g->values[n->operands[0]].shape;
    return same_shape(x, resized(x, n->attr)) ? n->operands[0] : NONE;
}

static void cost(const Graph *g, const Node *n, Cost *cost)
{
    cost_resample(g, n, cost, (Resampling)n->attr[MODE].i);
}

static void launch(const Graph *g, const Node *n, Launch *l)
{
    launch_resample(g, n, l, (Resampling)n->attr[MODE].i);
}

static void reference(const Ref *r)
{
    ref_resample(r, (Resampling)r->n->attr[MODE].i);
}

static const Kernel kernels[] = {
    { .name = "", .results = "y/", .cost = cost, .launch = launch,
      .reference = reference },
    { .name = "grad", .operands = "dy/ mask?~", .results = "dx/",
      .in_place = "dx/mask", .cost = cost, .launch = launch,
      .reference = reference },
    { .results = NULL },
};

const Op op_resize = {
    ROW(resize), .args = args, .attrs = attrs, .build = build, .shape = shape,
    .modes = "nearest|nearest_exact|bilinear|align_corners",
    .simplify = simplify, .gradient = gradient_resample, .kernels = kernels,
};
