// Elements in another order.  The kernel has five axes at most: neighbours that
// follow each other in the operand too are one.
#include <inttypes.h>
#include "permute.h"
#include "../op/op_checks.h"

enum { KERNEL_AXES = 5, LARGEST = 64, LONGEST = 1 << 28 };

void append_axis(Order *order, int64_t extent, int64_t stride)
{
    int last = order->count - 1;
    if (extent == 1) return;
    if (last >= 0 && order->stride[last] == extent * stride) {
        order->extent[last] *= extent;
        order->stride[last] = stride;
        return;
    }
    if (order->count == MOST_AXES) bug("an order of too many axes");
    order->extent[order->count] = extent;
    order->stride[order->count++] = stride;
}

// The order that leads back: the axes in the order of the operand, each with
// its stride in the result.
static Order inverse(Order of)
{
    Order order = { .count = 0 };
    int64_t in_result[MOST_AXES], inner = 1;

    for (int k = of.count - 1; k >= 0; k--) {
        in_result[k] = inner;
        inner *= of.extent[k];
    }
    for (int left = of.count; left > 0; left--) {
        int next = 0;
        for (int k = 1; k < of.count; k++)
            if (of.stride[k] > of.stride[next]) next = k;
        append_axis(&order, of.extent[next], in_result[next]);
        of.stride[next] = 0;
    }
    return order;
}

static Order order_of_node(const Graph *g, const Node *n, OrderOf *order_of)
{
    if (n->kernel == 0)
        return order_of(g->values[n->operands[0]].shape, n->attr);
    return inverse(order_of(g->values[n->results[0]].shape, n->attr));
}

void gradient_permute(Gradient *c)
{
    if (!gradient_wanted(c, 0)) return;
    ValueId dy = gradient_of_result(c, 0);
    ValueId dx = gradient_value(c, 0);
    gradient_node(c, c->g->nodes[c->node].op, 1, 1, &dy, 1, &dx);
    gradient_add(c, 0, dx);
}

// ---- launch and reference ---------------------------------------------------

// The elements that a thread moves at once: adjacent in both arrays.
static int64_t vector_of(const Graph *g, const Node *n, const Order *order)
{
    int last = order->count - 1;
    if (last < 0 || order->stride[last] != 1) return 1;
    int64_t vec = vec_width(g, n, order->extent[last]);
    for (int k = 0; k < last; k++)
        while (order->stride[k] % vec != 0) vec /= 2;
    return vec;
}

void launch_permute(const Graph *g, const Node *n, Launch *l,
                    OrderOf *order_of)
{
    static const char *const extents[] = { NULL, "D1", "D2", "D3", "D4" };
    static const char *const strides[] = { "S0", "S1", "S2", "S3", "S4" };
    Order order = order_of_node(g, n, order_of);
    int64_t count = elements(g->values[n->results[0]].shape);
    int64_t vec = vector_of(g, n, &order);
    int missing = KERNEL_AXES - order.count;

    launch_elements(l, "permute", count / vec);
    launch_constant(l, "COUNT", count);
    for (int k = 0; k < KERNEL_AXES; k++) {
        bool has = k >= missing;
        if (k > 0)
            launch_constant(l, extents[k], has ? order.extent[k - missing] : 1);
        launch_constant(l, strides[k], has ? order.stride[k - missing] : 0);
    }
    launch_constant(l, "VEC", vec);
    launch_slots(l, n, 1, 1);
}

void ref_permute(const Ref *r, OrderOf *order_of)
{
    Order order = order_of_node(r->g, r->n, order_of);
    int64_t count = elements(ref_out(r, 0));
    for (int64_t i = 0; i < count; i++) {
        int64_t rest = i, from = 0;
        for (int k = order.count - 1; k >= 0; k--) {
            from += rest % order.extent[k] * order.stride[k];
            rest /= order.extent[k];
        }
        r->out[0][i] = r->in[0][from];
    }
}

// ---- blocks of pixels that become channels, and back ------------------------

const ArgSpec block_args[] = {
    { "factor", ARG_INT, NULL, 1, LARGEST, "side of a block of pixels" },
    { .name = NULL },
};
const AttrSpec block_attrs[] = {
    { "factor", ATTR_INT, 1, LARGEST }, { .name = NULL },
};

static Shape enlarged(Shape x, int64_t factor)
{
    return shape_of(4, x.dim[0], x.dim[1] * factor, x.dim[2] * factor,
                    x.dim[3] / (factor * factor));
}

static Shape reduced(Shape x, int64_t factor)
{
    return shape_of(4, x.dim[0], x.dim[1] / factor, x.dim[2] / factor,
                    x.dim[3] * factor * factor);
}

ValueId build_enlarged(Build *b)
{
    Graph *g = b->g;
    int64_t factor = b->arg[FACTOR].i, area = factor * factor;
    if (!build_wants(b, 0, 4, "a map [height, width, channels]")) return NONE;
    Shape x = g->values[b->operand[0]].shape;
    if (x.dim[3] % area != 0) {
        error(g->diag, b->operand_pos[0], "%s(%" PRId64 ") needs a multiple of "
              "%" PRId64 " channels, but this is %s", b->op->name, factor, area,
              operand_text(b, 0));
        return NONE;
    }
    if (x.dim[1] > LONGEST / LARGEST || x.dim[2] > LONGEST / LARGEST) {
        error(g->diag, b->operand_pos[0], "%s takes maps with sides of at most "
              "%d, but this is %s", b->op->name, LONGEST / LARGEST,
              operand_text(b, 0));
        return NONE;
    }
    Attr attr[] = { [FACTOR] = { .i = factor } };
    return build_node(b, 1, b->operand, attr, enlarged(x, factor));
}

ValueId build_reduced(Build *b)
{
    Graph *g = b->g;
    int64_t factor = b->arg[FACTOR].i;
    if (!build_wants(b, 0, 4, "a map [height, width, channels]")) return NONE;
    Shape x = g->values[b->operand[0]].shape;
    if (x.dim[1] % factor != 0 || x.dim[2] % factor != 0) {
        error(g->diag, b->operand_pos[0], "%s(%" PRId64 ") needs a height and "
              "a width that are multiples of %" PRId64 ", but this is %s",
              b->op->name, factor, factor, operand_text(b, 0));
        return NONE;
    }
    Attr attr[] = { [FACTOR] = { .i = factor } };
    return build_node(b, 1, b->operand, attr, reduced(x, factor));
}

Shape shape_enlarged(const Graph *g, const Node *n)
{
    Shape x = g->values[n->operands[0]].shape;
    int64_t factor = n->attr[FACTOR].i;
    return has_rank(g, n, 0, 4) && x.dim[3] % (factor * factor) == 0
        ? enlarged(x, factor) : shape_of(0);
}

Shape shape_reduced(const Graph *g, const Node *n)
{
    Shape x = g->values[n->operands[0]].shape;
    int64_t factor = n->attr[FACTOR].i;
    return has_rank(g, n, 0, 4) && x.dim[1] % factor == 0 &&
           x.dim[2] % factor == 0 ? reduced(x, factor) : shape_of(0);
}

// Strides in x [n, h, w, c*f*f].
Order enlarging_order(Shape x, int64_t factor, bool runs)
{
    Order order = { .count = 0 };
    int64_t depth = x.dim[3], channels = depth / (factor * factor);
    int64_t step = runs ? channels : 1;
    append_axis(&order, x.dim[0] * x.dim[1], x.dim[2] * depth);
    append_axis(&order, factor, factor * step);
    append_axis(&order, x.dim[2], depth);
    append_axis(&order, factor, step);
    append_axis(&order, channels, runs ? 1 : factor * factor);
    return order;
}

// Strides in x [n, h*f, w*f, c].
Order reducing_order(Shape x, int64_t factor, bool runs)
{
    Order order = { .count = 0 };
    int64_t line = x.dim[2] * x.dim[3], channels = x.dim[3];
    append_axis(&order, x.dim[0] * x.dim[1] / factor, factor * line);
    append_axis(&order, x.dim[2] / factor, factor * channels);
    if (!runs) append_axis(&order, channels, 1);
    append_axis(&order, factor, line);
    append_axis(&order, factor, channels);
    if (runs) append_axis(&order, channels, 1);
    return order;
}
