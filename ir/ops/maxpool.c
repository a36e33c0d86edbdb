// maxpool: the largest element of each window.
//
// In training the launch also leaves which element that was, in one byte where
// a window has at most 256: the gradient then needs neither x nor y.  The
// gradient gathers, so overlapping windows need no atomics.
#include "../op_row.h"
#include "../rules.h"
#include "../window.h"

enum { LARGEST = 1 << 12, WIDEST = 1 << 24 };

enum Args { KERNEL, STRIDE, PADDING, CEIL };

static const ArgSpec args[] = {
    { "kernel", ARG_DIMS, NULL, 1, LARGEST, "size of the window" },
    { "stride", ARG_DIMS, "kernel", 1, LARGEST, "from window to window" },
    { "padding", ARG_PADDING, "valid", 0, WIDEST,
      "how far windows reach past the map; what lies there is never largest" },
    { "ceil", ARG_BOOL, "false", 0, 1,
      "whether a last window may end outside of the map and its padding" },
    { .name = NULL },
};

enum Attrs {
    KERNEL_H, KERNEL_W, STRIDE_H, STRIDE_W,
    PAD_TOP, PAD_BOTTOM, PAD_LEFT, PAD_RIGHT, CEIL_MODE
};

static const AttrSpec attrs[] = {
    { "kernel_h", ATTR_INT }, { "kernel_w", ATTR_INT },
    { "stride_h", ATTR_INT }, { "stride_w", ATTR_INT },
    { "pad_top", ATTR_INT }, { "pad_bottom", ATTR_INT },
    { "pad_left", ATTR_INT }, { "pad_right", ATTR_INT },
    { "ceil", ATTR_INT },
    { NULL, ATTR_INT },
};

// ---- from a call to a node --------------------------------------------------

static Window window_of(const Attr *attr)
{
    Window w = { .ceil = attr[CEIL_MODE].i, .dilation = { 1, 1 } };
    for (int axis = HEIGHT; axis <= WIDTH; axis++) {
        w.size[axis] = attr[KERNEL_H + axis].i;
        w.stride[axis] = attr[STRIDE_H + axis].i;
        w.before[axis] = attr[PAD_TOP + 2 * axis].i;
        w.after[axis] = attr[PAD_BOTTOM + 2 * axis].i;
    }
    return w;
}

static void window_attrs(const Window *w, Attr *attr)
{
    for (int axis = HEIGHT; axis <= WIDTH; axis++) {
        attr[KERNEL_H + axis].i = w->size[axis];
        attr[STRIDE_H + axis].i = w->stride[axis];
        attr[PAD_TOP + 2 * axis].i = w->before[axis];
        attr[PAD_BOTTOM + 2 * axis].i = w->after[axis];
    }
    attr[CEIL_MODE].i = w->ceil;
}

// Every window must hold an element of the map.
static bool is_padding_smaller(Build *b, const Window *w)
{
    for (int axis = HEIGHT; axis <= WIDTH; axis++)
        if (w->before[axis] >= w->size[axis] ||
            w->after[axis] >= w->size[axis]) {
            error(b->g->diag, b->arg[PADDING].pos,
                  "the padding must be smaller than the window, %lldx%lld",
                  (long long)w->size[HEIGHT], (long long)w->size[WIDTH]);
            return false;
        }
    return true;
}

// The index is kept for the gradient alone.
static void add_index(Build *b, ValueId y, const Window *w)
{
    Graph *g = b->g;
    bool small = w->size[HEIGHT] * w->size[WIDTH] <= 256;
    NodeId n = g->values[y].def;
    ValueId index =
        graph_value(g, arena_print(g->arena, "%s.index", b->name), MASK,
                    small ? U8 : I32, g->values[y].shape, b->pos);
    g->nodes[n].results[1] = index;
    g->values[index].def = n;
}

static ValueId build(Build *b)
{
    Graph *g = b->g;
    if (!build_wants(b, 0, 4, "a map [height, width, channels]")) return NONE;
    Shape map = g->values[b->operand[0]].shape;
    const ArgValue *stride = &b->arg[b->arg[STRIDE].given ? STRIDE : KERNEL];
    Window w = { .ceil = b->arg[CEIL].i, .dilation = { 1, 1 } };
    for (int axis = HEIGHT; axis <= WIDTH; axis++) {
        w.size[axis] = b->arg[KERNEL].dim[axis];
        w.stride[axis] = stride->dim[axis];
    }
    window_pad(&w, &b->arg[PADDING], &map.dim[1]);
    if (!is_padding_smaller(b, &w) || !window_fits(b, &w, &b->arg[KERNEL]))
        return NONE;

    Attr attr[MAX_ATTRS] = { { 0 } };
    window_attrs(&w, attr);
    ValueId y = build_node(b, 1, b->operand, attr,
                           window_shape(&w, map, map.dim[3]));
    if (g->mode == TRAIN) add_index(b, y, &w);
    return y;
}

static Shape shape(const Graph *g, const Node *n)
{
    Window w = window_of(n->attr);
    Shape map = g->values[n->operands[0]].shape;
    return window_shape(&w, map, map.dim[3]);
}

static void gradient(Gradient *c)
{
    if (!gradient_wanted(c, 0)) return;
    Node n = c->g->nodes[c->node];
    ValueId operands[] = { gradient_of_result(c, 0), n.results[1], NONE };
    ValueId dx = gradient_value(c, 0);
    gradient_node(c, &op_maxpool, 1, 3, operands, 1, &dx);
    gradient_add(c, 0, dx);
}

// ---- launches ---------------------------------------------------------------

// An operation for each element of each window, in both directions.
static void count_cost(const Graph *g, const Node *n, Shape y, Cost *cost)
{
    cost->flops = capped_product(elements(y), n->attr[KERNEL_H].i *
                                 n->attr[KERNEL_W].i);
    cost->bytes = cost_bytes(g, n);
}

static void cost(const Graph *g, const Node *n, Cost *cost)
{
    count_cost(g, n, g->values[n->results[0]].shape, cost);
}

static void grad_cost(const Graph *g, const Node *n, Cost *cost)
{
    count_cost(g, n, g->values[n->operands[0]].shape, cost);
}

static void launch_constants(Launch *l, const Attr *attr, Shape x, Shape y)
{
    const Constant constants[] = {
        { "N", x.dim[0] }, { "H", x.dim[1] }, { "W", x.dim[2] },
        { "C", x.dim[3] }, { "P", y.dim[1] }, { "Q", y.dim[2] },
        { "R", attr[KERNEL_H].i }, { "S", attr[KERNEL_W].i },
        { "STRIDE_H", attr[STRIDE_H].i }, { "STRIDE_W", attr[STRIDE_W].i },
        { "PAD_TOP", attr[PAD_TOP].i }, { "PAD_LEFT", attr[PAD_LEFT].i },
    };
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
        launch_constant(l, constants[i].name, constants[i].value);
}

static const char *index_type(const Graph *g, ValueId index)
{
    bool small = index == NONE || g->values[index].dtype == U8;
    return small ? "unsigned char" : "int";
}

static void launch(const Graph *g, const Node *n, Launch *l)
{
    Shape x = g->values[n->operands[0]].shape;
    Shape y = g->values[n->results[0]].shape;
    launch_elements(l, "maxpool_forward", elements(y));
    launch_constants(l, n->attr, x, y);
    launch_type(l, index_type(g, n->results[1]));
    launch_type(l, n->results[1] != NONE ? "true" : "false");
    for (int k = 0; k < 2; k++) launch_value(l, n->results[k]);
    launch_value(l, n->operands[0]);
}

static void grad_launch(const Graph *g, const Node *n, Launch *l)
{
    Shape dx = g->values[n->results[0]].shape;
    Shape dy = g->values[n->operands[0]].shape;
    launch_elements(l, "maxpool_gradient", elements(dx));
    launch_constants(l, n->attr, dx, dy);
    launch_type(l, index_type(g, n->operands[1]));
    launch_act(l, n);
    launch_value(l, n->results[0]);
    for (int k = 0; k < 3; k++) launch_value(l, n->operands[k]);
}

// ---- references -------------------------------------------------------------

// Where in a map of shape x element j of the window of element i of y lies, or
// -1: in the padding.
static int64_t element_of_window(const Ref *r, Shape x, Shape y, int64_t i,
                                 int64_t j)
{
    Window w = window_of(r->n->attr);
    int64_t C = y.dim[3], at = window_pixel(&w, x, y, i / C, j);
    return at < 0 ? -1 : at * C + i % C;
}

static void reference(const Ref *r)
{
    Shape x = ref_in(r, 0), y = ref_out(r, 0);
    int64_t window = r->n->attr[KERNEL_H].i * r->n->attr[KERNEL_W].i;
    for (int64_t i = 0; i < elements(y); i++) {
        int64_t best = -1;
        for (int64_t j = 0; j < window; j++) {
            int64_t at = element_of_window(r, x, y, i, j);
            if (at < 0) continue;
            double v = r->in[0][at], largest = r->out[0][i];
            if (best >= 0 && (v <= largest || largest != largest)) continue;
            best = j;
            r->out[0][i] = v;
        }
        if (r->out[1] != NULL) r->out[1][i] = (double)best;
    }
}

static void grad_reference(const Ref *r)
{
    Shape dx = ref_out(r, 0), dy = ref_in(r, 0);
    double *out = r->out[0];
    for (int64_t i = 0; i < elements(dx); i++) out[i] = 0;
    for (int64_t i = 0; i < elements(dy); i++) {
        int64_t at = element_of_window(r, dx, dy, i, (int64_t)r->in[1][i]);
        out[at] += r->in[0][i];
    }
    if (r->in[2] == NULL) return;
    for (int64_t i = 0; i < elements(dx); i++)
        out[i] = r->n->act->act_gradient(out[i], r->in[2][i]);
}

// ---- the operator -----------------------------------------------------------

static const Part parts[] = {
    { .name = "", .results = "y index?",
      .cost = cost, .launch = launch, .reference = reference },
    { .name = "grad", .operands = "dy index mask?", .results = "dx",
      .in_place = "dx/mask", .cost = grad_cost, .launch = grad_launch,
      .reference = grad_reference },
    { .results = NULL },
};

const Op op_maxpool = {
    ROW(maxpool), .args = args, .attrs = attrs, .build = build,
    .shape = shape, .gradient = gradient, .parts = parts,
};
