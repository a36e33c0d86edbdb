// normalize: subtracts the mean of the data and divides by its standard
// deviation, for each channel.
//
// Bytes are first scaled to [0, 1], so that mean and std are those published
// for images.  Only real inputs have a gradient.
#include "../op/activation_grad.h"
#include "../op/op_row.h"
#include "../op/op_checks.h"

// Both lists are passed to the launch by value.
enum { MOST = 128 };
enum { MEAN, STD };

static const ArgSpec args[] = {
    { "mean", ARG_LIST, NULL, -1e30, 1e30,
      "number to subtract, for each channel or for all" },
    { "std", ARG_LIST, NULL, 1e-30, 1e30,
      "divisor, one number for each channel or for all" },
    { .name = NULL },
};
static const AttrSpec attrs[] = {
    { "mean", ATTR_LIST, 0, 0 }, { "std", ATTR_LIST, 0, 0 }, { .name = NULL },
};

// ---- from a call to a node --------------------------------------------------

static bool is_image(Build *b)
{
    Graph *g = b->g;
    const Value *x = &g->values[b->operand[0]];
    if (x->classes == 0 && (x->dtype == U8 || x->dtype == g->real)) return true;
    error(g->diag, b->operand_pos[0], "normalize needs u8 or real numbers, but "
          "this is %s", x->classes > 0 ? "a class label"
                                       : dtype_names[x->dtype]);
    return false;
}

static int64_t channels_of(Shape x)
{
    return x.dim[x.rank - 1];
}

// True if the list has one number, or one per channel.
static bool is_list_right(Build *b, int which)
{
    const List *list = b->arg[which].list;
    int64_t channels = channels_of(b->g->values[b->operand[0]].shape);
    const char *name = args[which].name;
    if (list->count > MOST) {
        error(b->g->diag, b->arg[which].pos, "%s has %d numbers; normalize "
              "takes at most %d", name, list->count, MOST);
        return false;
    }
    if (list->count == 1 || list->count == channels) return true;
    error(b->g->diag, b->arg[which].pos, "%s has %d numbers for %lld channels; "
          "it is one for each, or one for all", name, list->count,
          (long long)channels);
    return false;
}

static ValueId build(Build *b)
{
    if (!is_image(b) || !is_list_right(b, MEAN) || !is_list_right(b, STD))
        return NONE;
    Attr attr[] = {
        [MEAN] = { .list = b->arg[MEAN].list },
        [STD] = { .list = b->arg[STD].list },
    };
    return build_node(b, 1, b->operand, attr,
                      b->g->values[b->operand[0]].shape);
}

static void gradient(Gradient *c)
{
    if (!gradient_wanted(c, 0)) return;
    ValueId operands[] = { gradient_of_result(c, 0), NONE };
    ValueId dx = gradient_value(c, 0);
    gradient_node(c, &op_normalize, 1, 2, operands, 1, &dx);
    gradient_add(c, 0, dx);
}

// ---- launches ---------------------------------------------------------------

static void launch_shape(Launch *l, Shape shape)
{
    launch_constant(l, "C", channels_of(shape));
    launch_constant(l, "COUNT", elements(shape));
}

// The mean of x as it is stored, bytes from 0 to `unit`, and a factor, so that
// no element is divided.
static void launch_moments(Launch *l, const Node *n, double unit)
{
    const List *mean = n->attr[MEAN].list, *std = n->attr[STD].list;
    Arena *arena = l->g->arena;
    double *shift = arena_alloc(arena, (size_t)mean->count, sizeof *shift);
    double *factor = arena_alloc(arena, (size_t)std->count, sizeof *factor);
    List *lists = arena_alloc(arena, 2, sizeof *lists);
    for (int i = 0; i < mean->count; i++) shift[i] = unit * mean->at[i];
    for (int i = 0; i < std->count; i++) factor[i] = 1 / (unit * std->at[i]);
    lists[0] = (List){ mean->count, shift };
    lists[1] = (List){ std->count, factor };
    launch_list(l, &lists[0], "mean");
    launch_list(l, &lists[1], "factor");
}

static void launch_centred(const Graph *g, const Node *n, Launch *l)
{
    const Value *x = &g->values[n->operands[0]];
    bool bytes = x->dtype == U8;
    launch_shape(l, x->shape);
    launch_type_of(l, n->operands[0]);
    launch_type_int(l, n->attr[MEAN].list->count);
    launch_type_int(l, n->attr[STD].list->count);
    launch_value(l, n->operands[0]);
    launch_moments(l, n, bytes ? 255 : 1);
}

static void launch(const Graph *g, const Node *n, Launch *l)
{
    launch_elements(l, "normalize_forward",
                    elements(g->values[n->results[0]].shape));
    launch_value(l, n->results[0]);
    launch_centred(g, n, l);
    launch_result_type(l, n->results[0]);
}

static bool load(const Graph *g, const Node *n, Launch *l)
{
    launch_struct(l, "Centred");
    launch_centred(g, n, l);
    return true;
}

static void grad_launch(const Graph *g, const Node *n, Launch *l)
{
    Shape dx = g->values[n->results[0]].shape;
    launch_elements(l, "normalize_gradient", elements(dx));
    launch_shape(l, dx);
    launch_type_int(l, n->attr[STD].list->count);
    launch_act(l, n);
    launch_slots(l, n, 1, 2);
    launch_list(l, n->attr[STD].list, "std");
}

// ---- references -------------------------------------------------------------

static double at(const List *list, int64_t channel)
{
    return list->at[channel < list->count ? channel : 0];
}

static void reference(const Ref *r)
{
    Shape y = ref_out(r, 0);
    bool bytes = r->g->values[r->n->operands[0]].dtype == U8;
    for (int64_t i = 0; i < elements(y); i++) {
        int64_t c = i % channels_of(y);
        double x = bytes ? r->in[0][i] / 255 : r->in[0][i];
        r->out[0][i] = (x - at(r->n->attr[MEAN].list, c)) /
                       at(r->n->attr[STD].list, c);
    }
}

static void grad_reference(const Ref *r)
{
    Shape dx = ref_out(r, 0);
    for (int64_t i = 0; i < elements(dx); i++)
        r->out[0][i] = r->in[0][i] /
                       at(r->n->attr[STD].list, i % channels_of(dx));
    ref_mask(r, 1);
}

static const Kernel kernels[] = {
    { .name = "", .results = "y^%", .in_place = "y/x",
      .cost = cost_elementwise, .launch = launch, .load_work = 2, .load = load,
      .reference = reference },
    { .name = "grad", .operands = "dy^ mask?^", .results = "dx^",
      .in_place = "dx/dy dx/mask", .cost = cost_elementwise,
      .launch = grad_launch, .reference = grad_reference },
    { .results = NULL },
};

const Op op_normalize = {
    ROW(normalize), .args = args, .attrs = attrs, .build = build,
    .gradient = gradient, .kernels = kernels,
};
