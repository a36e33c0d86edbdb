// Pools: a sliding window over a map, or the whole map at once.
//
// This file depends on no pool operator; they differ in the reduction of
// elements.
#include "pool.h"
#include "../op/op_checks.h"

// ---- windows ----------------------------------------------------------------

Window pool_window(const Attr *attr)
{
    Window w = { .ceil = attr[CEIL_MODE].i };
    for (int axis = HEIGHT; axis <= WIDTH; axis++) {
        w.size[axis] = attr[KERNEL_H + axis].i;
        w.stride[axis] = attr[STRIDE_H + axis].i;
        w.dilation[axis] = attr[DILATION_H + axis].i;
        w.before[axis] = attr[PAD_TOP + 2 * axis].i;
        w.after[axis] = attr[PAD_BOTTOM + 2 * axis].i;
    }
    return w;
}

static void set_attrs(const Window *w, Attr *attr)
{
    for (int axis = HEIGHT; axis <= WIDTH; axis++) {
        attr[KERNEL_H + axis].i = w->size[axis];
        attr[STRIDE_H + axis].i = w->stride[axis];
        attr[DILATION_H + axis].i = w->dilation[axis];
        attr[PAD_TOP + 2 * axis].i = w->before[axis];
        attr[PAD_BOTTOM + 2 * axis].i = w->after[axis];
    }
    attr[CEIL_MODE].i = w->ceil;
}

// True if no window is entirely in the padding; reports an error otherwise.
static bool is_padding_smaller(Build *b, const Window *w)
{
    for (int axis = HEIGHT; axis <= WIDTH; axis++)
        if (w->before[axis] >= window_span(w, axis) ||
            w->after[axis] >= window_span(w, axis)) {
            error(b->g->diag, b->arg[POOL_PADDING].pos,
                  "the padding must be smaller than the window, %lldx%lld",
                  (long long)window_span(w, HEIGHT),
                  (long long)window_span(w, WIDTH));
            return false;
        }
    return true;
}

// True if every window has an element of the map; reports an error otherwise.
// The elements of a dilated window may all be outside of a small map.
static bool has_elements(Build *b, const Window *w, Shape map)
{
    for (int axis = HEIGHT; axis <= WIDTH; axis++)
        for (int64_t i = 0; i < window_count(w, axis, map.dim[1 + axis]); i++)
            if (window_taps(w, axis, i, 0, map.dim[1 + axis]) == 0) {
                error(b->g->diag, b->arg[POOL_DILATION].pos, "a window has no "
                      "element of the map, %s; its dilation is too large",
                      operand_text(b, 0));
                return false;
            }
    return true;
}

ValueId build_pool(Build *b, Attr *attr)
{
    if (!build_wants(b, 0, 4, "a map [height, width, channels]")) return NONE;
    Shape map = b->g->values[b->operand[0]].shape;
    const ArgValue *kernel = &b->arg[POOL_KERNEL];
    const ArgValue *stride = &b->arg[POOL_STRIDE];
    if (!stride->given) stride = kernel;
    Window w = { .ceil = b->arg[POOL_CEIL].i };
    for (int axis = HEIGHT; axis <= WIDTH; axis++) {
        w.size[axis] = kernel->dim[axis];
        w.stride[axis] = stride->dim[axis];
        w.dilation[axis] = b->arg[POOL_DILATION].dim[axis];
    }
    window_pad(&w, &b->arg[POOL_PADDING], &map.dim[1]);
    if (!is_padding_smaller(b, &w) || !window_fits(b, &w, kernel) ||
        !has_elements(b, &w, map))
        return NONE;
    set_attrs(&w, attr);
    return build_node(b, 1, b->operand, attr,
                      window_shape(&w, map, map.dim[3]));
}

Shape pool_shape(const Graph *g, const Node *n)
{
    Window w = pool_window(n->attr);
    Shape map = g->values[n->operands[0]].shape;
    return map.rank == 4 ? window_shape(&w, map, map.dim[3]) : shape_of(0);
}

int64_t pool_element(const Attr *attr, Shape x, Shape y, int64_t i, int64_t j)
{
    Window w = pool_window(attr);
    int64_t C = y.dim[3], at = window_pixel(&w, x, y, i / C, j);
    return at < 0 ? -1 : at * C + i % C;
}

static void count_cost(const Graph *g, const Node *n, Shape y, Cost *cost)
{
    cost->flops = capped_product(elements(y), n->attr[KERNEL_H].i *
                                 n->attr[KERNEL_W].i);
    cost->bytes = cost_bytes(g, n);
}

const Node *pooled_maker(const Graph *g, const Node *n)
{
    if (!(n->op->flags & POOLS) || n->kernel != 0) return NULL;
    NodeId def = g->values[n->operands[0]].def;
    const Node *maker = def == NONE ? NULL : &g->nodes[def];
    bool made = maker != NULL && maker->fused_load &&
                maker->op->pooling != NULL;
    return made ? maker : NULL;
}

void cost_pool(const Graph *g, const Node *n, Cost *cost)
{
    const Node *maker = pooled_maker(g, n);
    count_cost(g, n, g->values[n->results[0]].shape, cost);
    if (maker != NULL)
        cost_product(cost, maker->op->pooling->recomputed(g, maker, n));
}

Launch *launch_pooled(const Graph *g, const Node *n, const char *functor,
                      Launch *l)
{
    const Node *maker = pooled_maker(g, n);
    if (maker == NULL) return NULL;
    return maker->op->pooling->launch(g, maker, n, functor, l);
}

void cost_pool_grad(const Graph *g, const Node *n, Cost *cost)
{
    count_cost(g, n, g->values[n->operands[0]].shape, cost);
}

void launch_windows(Launch *l, const Attr *attr, Shape x, Shape y)
{
    const Constant constants[] = {
        { "N", x.dim[0] }, { "H", x.dim[1] }, { "W", x.dim[2] },
        { "C", x.dim[3] }, { "P", y.dim[1] }, { "Q", y.dim[2] },
        { "R", attr[KERNEL_H].i }, { "S", attr[KERNEL_W].i },
        { "STRIDE_H", attr[STRIDE_H].i }, { "STRIDE_W", attr[STRIDE_W].i },
        { "PAD_TOP", attr[PAD_TOP].i }, { "PAD_LEFT", attr[PAD_LEFT].i },
        { "DILATION_H", attr[DILATION_H].i },
        { "DILATION_W", attr[DILATION_W].i },
    };
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
        launch_constant(l, constants[i].name, constants[i].value);
}

// ---- the index of the maximum -----------------------------------------------

int index_bits(const Attr *attr)
{
    int64_t taps = attr[KERNEL_H].i * attr[KERNEL_W].i;
    return taps <= 4 ? 2 : taps <= 16 ? 4 : taps <= 256 ? 8 : 32;
}

// Returns the indices in a word.
static int index_each(const Attr *attr)
{
    int bits = index_bits(attr);
    return bits < 8 ? 8 / bits : 1;
}

DType index_dtype(const Attr *attr)
{
    return index_bits(attr) <= 8 ? U8 : I32;
}

Shape index_shape(const Attr *attr, Shape y)
{
    y.dim[3] = ceil_div(y.dim[3], index_each(attr));
    return y;
}

// Returns the word of element i; sets *unit to the value of 1 at its place.
static int64_t word_of(const Attr *attr, Shape y, int64_t i, int64_t *unit)
{
    int64_t C = y.dim[3], each = index_each(attr);
    *unit = (int64_t)1 << i % C % each * index_bits(attr);
    return i / C * ceil_div(C, each) + i % C / each;
}

int64_t index_get(const Attr *attr, Shape y, const double *index, int64_t i)
{
    int64_t unit, at = word_of(attr, y, i, &unit);
    return (int64_t)index[at] / unit % ((int64_t)1 << index_bits(attr));
}

void index_set(const Attr *attr, Shape y, double *index, int64_t i, int64_t tap)
{
    int64_t unit, at = word_of(attr, y, i, &unit);
    index[at] += (double)(tap * unit);
}

// ---- whole maps -------------------------------------------------------------

Shape pooled(Shape map)
{
    map.dim[1] = map.dim[2] = 1;
    return map;
}

Shape pooled_shape(const Graph *g, const Node *n)
{
    return has_rank(g, n, 0, 4) ? pooled(g->values[n->operands[0]].shape)
                                : shape_of(0);
}

ValueId simplify_pooled(Graph *g, NodeId id)
{
    const Node *n = &g->nodes[id];
    Shape map = g->values[n->operands[0]].shape;
    return map.dim[1] == 1 && map.dim[2] == 1 ? n->operands[0] : NONE;
}

void cost_read(const Graph *g, const Node *n, Cost *cost)
{
    cost->flops = elements(g->values[n->operands[0]].shape);
    cost->bytes = cost_bytes(g, n);
}

// Returns the channels of a block: 32, which fill a cache line; down to 8 if
// there would be too few blocks, and fewer if there are fewer channels.
static int64_t pixels_width(Shape x)
{
    enum { BLOCKS = 264 };      // that fill a device
    int64_t width = 32;
    while (width > 8 && x.dim[0] * ceil_div(x.dim[3], width) < BLOCKS)
        width /= 2;
    while (width > 1 && width / 2 >= x.dim[3]) width /= 2;
    return width;
}

// Returns the threads for each channel: about eight pixels per thread, in a
// block of a warp to 512 threads.
static int64_t pixels_lanes(int64_t pixels, int64_t width)
{
    enum { EACH = 8, MOST = 512 };
    int64_t lanes = 32 / width;
    while (lanes * width < MOST && lanes * EACH < pixels) lanes *= 2;
    return lanes;
}

void launch_pixels(Launch *l, const char *kernel, Shape x)
{
    int64_t pixels = x.dim[1] * x.dim[2], width = pixels_width(x);
    int64_t lanes = pixels_lanes(pixels, width);
    launch_kernel(l, kernel, x.dim[0] * ceil_div(x.dim[3], width),
                  (int)(width * lanes));
    launch_constant(l, "PIXELS", pixels);
    launch_constant(l, "C", x.dim[3]);
    launch_constant(l, "WIDTH", width);
    launch_constant(l, "LANES", lanes);
}

void launch_spread(Launch *l, const Node *n, const char *kernel, Shape dx)
{
    int64_t vec = vec_width(l->g, n, dx.dim[3]);
    launch_elements(l, kernel, elements(dx) / vec);
    launch_constant(l, "N", dx.dim[0]);
    launch_constant(l, "PIXELS", dx.dim[1] * dx.dim[2]);
    launch_constant(l, "C", dx.dim[3]);
    launch_constant(l, "VEC", vec);
}
