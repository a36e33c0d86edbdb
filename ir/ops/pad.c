// pad: adds a margin around a map, of one value or of the map's own pixels.
//
// The gradient of a margin of one value crops dy.  Otherwise each pixel gets
// the sum of dy over all its copies, in order.
#include <string.h>
#include "../families/box_copy.h"
#include "../families/padding.h"
#include "../op/activation_grad.h"
#include "../op/op_row.h"
#include "../op/op_checks.h"

enum Args { PADDING, ARG_FILL, ARG_MODE };
enum Attrs { FILL = RIGHT + 1, MODE };

// The pixels of a margin: of one value; the map's, mirrored at the edge pixel;
// the edge pixel; those of the other side.
enum Modes { CONSTANT, REFLECT, EDGE, WRAP };

#define MODES "constant|reflect|edge|wrap"

static const ArgSpec args[] = {
    { "padding", ARG_PADDING, NULL, 0, WIDEST_MARGIN,
      "rows and columns that are put around the map" },
    { "value", ARG_FLOAT, "0", -1e30, 1e30, "their value" },
    { "mode", ARG_WORD, MODES, 0, 0,
      "constant: of that value; otherwise of the map's pixels: mirrored at the "
      "edge pixel, the edge pixel, or those of the other side" },
    { .name = NULL },
};
static const AttrSpec attrs[] = {
    MARGIN_ATTRS, { "value", ATTR_FLOAT, 0, 0 },
    { "mode", ATTR_INT, CONSTANT, WRAP }, { .name = NULL },
};

// ---- from a call to a node --------------------------------------------------

// Returns the widest margin along an axis that the map can fill.
static int64_t widest_margin(int64_t mode, int64_t extent)
{
    return mode == REFLECT ? extent - 1 : mode == WRAP ? extent : WIDEST_MARGIN;
}

// Returns the wider of the two margins along axis 0, height, or 1, width.
static int64_t wider_side(const Attr *attr, int axis)
{
    int64_t before = attr[axis ? LEFT : TOP].i;
    int64_t after = attr[axis ? RIGHT : BOTTOM].i;
    return before > after ? before : after;
}

static bool is_margin_right(Shape x, const Attr *attr)
{
    for (int axis = 0; axis < 2; axis++)
        if (wider_side(attr, axis) >
            widest_margin(attr[MODE].i, x.dim[1 + axis]))
            return false;
    return true;
}

static int64_t mode_of_call(Build *b)
{
    static const char *const words[] = {
        "constant", "reflect", "edge", "wrap",
    };
    int64_t mode = CONSTANT;
    while (strcmp(words[mode], b->arg[ARG_MODE].word) != 0) mode++;
    return mode;
}

static ValueId build(Build *b)
{
    Graph *g = b->g;
    Attr attr[MAX_ATTRS] = { [FILL] = { .f = b->arg[ARG_FILL].f },
                             [MODE] = { .i = mode_of_call(b) } };
    if (!build_margin(b, &b->arg[PADDING], attr)) return NONE;
    Shape x = g->values[b->operand[0]].shape;
    if (attr[MODE].i != CONSTANT && b->arg[ARG_FILL].given) {
        error(g->diag, b->arg[ARG_FILL].pos, "a value goes with mode = "
              "constant, and the mode is %s", b->arg[ARG_MODE].word);
        return NONE;
    }
    if (!is_margin_right(x, attr)) {
        error(g->diag, b->arg[PADDING].pos, "mode = %s needs margins of at "
              "most %lldx%lld here, for this is %s", b->arg[ARG_MODE].word,
              (long long)widest_margin(attr[MODE].i, x.dim[1]),
              (long long)widest_margin(attr[MODE].i, x.dim[2]),
              operand_text(b, 0));
        return NONE;
    }
    return build_node(b, 1, b->operand, attr, with_margin(x, attr, 1));
}

static Shape shape(const Graph *g, const Node *n)
{
    Shape x = g->values[n->operands[0]].shape;
    return has_rank(g, n, 0, 4) && is_margin_right(x, n->attr)
        ? with_margin(x, n->attr, 1) : shape_of(0);
}

static void gradient(Gradient *c)
{
    gradient_box(c, &op_pad);
}

// ---- launches ---------------------------------------------------------------

static void launch_copies(const Graph *g, const Node *n, Launch *l)
{
    static const char *const modes[] = { NULL, "Reflect", "Edge", "Wrap" };
    bool forward = n->kernel == 0;
    Shape result = g->values[n->results[0]].shape;
    Shape x = forward ? g->values[n->operands[0]].shape : result;
    int64_t vec = vec_width(g, n, x.dim[3]);
    const Constant constants[] = {
        { "N", x.dim[0] }, { "H", x.dim[1] }, { "W", x.dim[2] },
        { "C", x.dim[3] }, { "TOP", n->attr[TOP].i },
        { "BOTTOM", n->attr[BOTTOM].i }, { "LEFT", n->attr[LEFT].i },
        { "RIGHT", n->attr[RIGHT].i }, { "VEC", vec },
    };
    launch_elements(l, forward ? "pad_forward" : "pad_gradient",
                    elements(result) / vec);
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
        launch_constant(l, constants[i].name, constants[i].value);
    launch_type(l, modes[n->attr[MODE].i]);
    if (!forward) launch_act(l, n);
    launch_slots(l, n, 1, forward ? 1 : 2);
}

static void launch(const Graph *g, const Node *n, Launch *l)
{
    if (n->attr[MODE].i != CONSTANT) launch_copies(g, n, l);
    else launch_margin(g, n, l, 1, n->attr[FILL].f);
}

static void grad_launch(const Graph *g, const Node *n, Launch *l)
{
    if (n->attr[MODE].i != CONSTANT) launch_copies(g, n, l);
    else launch_margin(g, n, l, -1, 0);
}

// ---- references -------------------------------------------------------------

// The map's pixel that is at place `at`, which may be outside of it.
static int64_t source_of(int64_t mode, int64_t at, int64_t extent)
{
    if (at >= 0 && at < extent) return at;
    if (mode == EDGE) return at < 0 ? 0 : extent - 1;
    if (mode == WRAP) return at < 0 ? at + extent : at - extent;
    return at < 0 ? -at : 2 * (extent - 1) - at;
}

// The element of x that element i of the padded y copies.
static int64_t copied_by(const Attr *attr, Shape x, Shape y, int64_t i)
{
    int64_t c = i % y.dim[3], q = i / y.dim[3] % y.dim[2];
    int64_t p = i / y.dim[3] / y.dim[2] % y.dim[1];
    int64_t n = i / y.dim[3] / y.dim[2] / y.dim[1];
    int64_t h = source_of(attr[MODE].i, p - attr[TOP].i, x.dim[1]);
    int64_t w = source_of(attr[MODE].i, q - attr[LEFT].i, x.dim[2]);
    return ((n * x.dim[1] + h) * x.dim[2] + w) * x.dim[3] + c;
}

static void reference(const Ref *r)
{
    const Attr *attr = r->n->attr;
    Shape x = ref_in(r, 0), y = ref_out(r, 0);
    if (attr[MODE].i == CONSTANT) {
        ref_margin(r, 1, attr[FILL].f);
        return;
    }
    for (int64_t i = 0; i < elements(y); i++)
        r->out[0][i] = r->in[0][copied_by(attr, x, y, i)];
}

static void grad_reference(const Ref *r)
{
    const Attr *attr = r->n->attr;
    Shape x = ref_out(r, 0), y = ref_in(r, 0);
    if (attr[MODE].i == CONSTANT) {
        ref_margin(r, -1, 0);
        return;
    }
    for (int64_t i = 0; i < elements(x); i++) r->out[0][i] = 0;
    for (int64_t i = 0; i < elements(y); i++)
        r->out[0][copied_by(attr, x, y, i)] += r->in[0][i];
    ref_mask(r, 1);
}

static const Kernel kernels[] = { BOX_KERNELS };

const Op op_pad = {
    ROW(pad), .args = args, .attrs = attrs, .build = build, .shape = shape,
    .simplify = simplify_margin, .gradient = gradient,
    .fits = "4 5 a; 1 | 3 4 a; 2x1x0x3 | 2 3 a; 1x1 | a b c; 3",
    .modes = MODES, .kernels = kernels,
};
