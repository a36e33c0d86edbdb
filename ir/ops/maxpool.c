// maxpool: the maximum of each window.
//
// In training the launch also stores the index of the maximum, in as few bits
// as the window needs.  So the gradient needs neither x nor y.  The gradient
// gathers, so that overlapping windows need no atomics.
#include "../op/activation_grad.h"
#include "../op/op_row.h"
#include "../families/pool.h"
#include "../op/op_checks.h"

static const ArgSpec args[] = {
    POOL_ARGS("these are never the maximum"), { .name = NULL },
};
static const AttrSpec attrs[] = { POOL_ATTRS, { .name = NULL } };

// ---- from a call to a node --------------------------------------------------

// Adds the index, which only the gradient reads.
static void add_index(Build *b, ValueId y, const Attr *attr)
{
    Graph *g = b->g;
    NodeId n = g->values[y].def;
    ValueId index = graph_value(
        g, arena_print(g->arena, "%s.index", b->name), MASK, index_dtype(attr),
        index_shape(attr, g->values[y].shape), b->pos);
    g->nodes[n].results[1] = index;
    g->values[index].def = n;
}

static ValueId build(Build *b)
{
    Attr attr[MAX_ATTRS] = { { 0 } };
    ValueId y = build_pool(b, attr);
    if (y != NONE && b->g->mode == TRAIN) add_index(b, y, attr);
    return y;
}

// The index must have the type and shape of the kernels.
static Shape shape(const Graph *g, const Node *n)
{
    Shape y = pool_shape(g, n);
    if (y.rank != 4 || n->results[1] == NONE) return y;
    const Value *index = &g->values[n->results[1]];
    bool fits = index->dtype == index_dtype(n->attr) &&
                same_shape(index->shape, index_shape(n->attr, y));
    return fits ? y : shape_of(0);
}

static void gradient(Gradient *c)
{
    if (!gradient_wanted(c, 0)) return;
    ValueId dz = act_gradient(c);
    Node n = c->g->nodes[c->node];
    ValueId operands[] = { dz, n.results[1], NONE };
    ValueId dx = gradient_value(c, 0);
    gradient_node(c, &op_maxpool, 1, 3, operands, 1, &dx);
    gradient_add(c, 0, dx);
}

// ---- launches ---------------------------------------------------------------

static void launch(const Graph *g, const Node *n, Launch *l)
{
    Shape x = g->values[n->operands[0]].shape;
    Shape y = g->values[n->results[0]].shape;
    int bits = index_bits(n->attr);
    const char *keep = n->results[1] != NONE ? "true" : "false";
    const char *functor =
        arena_print(g->arena, "MaxPool<%d, %s>", bits, keep);
    if (launch_pooled(g, n, functor, l) != NULL) return;
    launch_elements(l, "maxpool_forward",
                    elements(index_shape(n->attr, y)));
    launch_windows(l, n->attr, x, y);
    launch_type_int(l, bits);
    launch_type(l, keep);
    launch_act(l, n);
    launch_slots(l, n, 2, 1);
}

static void grad_shape(const Graph *g, const Node *n, Launch *l)
{
    launch_windows(l, n->attr, g->values[n->results[0]].shape,
                   g->values[n->operands[0]].shape);
    launch_type_int(l, index_bits(n->attr));
    launch_act(l, n);
}

static void grad_launch(const Graph *g, const Node *n, Launch *l)
{
    launch_elements(l, "maxpool_gradient",
                    elements(g->values[n->results[0]].shape));
    grad_shape(g, n, l);
    launch_slots(l, n, 1, 3);
}

static bool grad_load(const Graph *g, const Node *n, Launch *l)
{
    launch_struct(l, "UnpoolLoad");
    grad_shape(g, n, l);
    launch_slots(l, n, 0, 3);
    return true;
}

// ---- references -------------------------------------------------------------

static void reference(const Ref *r)
{
    Shape x = ref_in(r, 0), y = ref_out(r, 0);
    int64_t window = r->n->attr[KERNEL_H].i * r->n->attr[KERNEL_W].i;
    if (r->out[1] != NULL) ref_clear(r, 1);
    for (int64_t i = 0; i < elements(y); i++) {
        int64_t best = -1;
        double largest = 0;
        for (int64_t j = 0; j < window; j++) {
            int64_t at = pool_element(r->n->attr, x, y, i, j);
            if (at < 0) continue;
            double v = r->in[0][at];
            if (best >= 0 && (v <= largest || largest != largest)) continue;
            best = j;
            largest = v;
        }
        r->out[0][i] = ref_act(r, largest);
        if (r->out[1] != NULL) index_set(r->n->attr, y, r->out[1], i, best);
    }
}

static void grad_reference(const Ref *r)
{
    Shape dx = ref_out(r, 0), dy = ref_in(r, 0);
    double *out = r->out[0];
    for (int64_t i = 0; i < elements(dx); i++) out[i] = 0;
    for (int64_t i = 0; i < elements(dy); i++) {
        int64_t j = index_get(r->n->attr, dy, r->in[1], i);
        int64_t at = pool_element(r->n->attr, dx, dy, i, j);
        out[at] += r->in[0][i];
    }
    ref_mask(r, 2);
}

// ---- the operator -----------------------------------------------------------

static const Kernel kernels[] = {
    { .name = "", .results = "y/ index?",
      .cost = cost_pool, .launch = launch, .reference = reference },
    { .name = "grad", .operands = "dy/ index mask?~", .results = "dx/",
      .in_place = "dx/mask", .cost = cost_pool_grad, .launch = grad_launch,
      .load_work = 27, .load = grad_load, .reference = grad_reference },
    { .results = NULL },
};

const Op op_maxpool = {
    ROW(maxpool), .args = args, .attrs = attrs, .build = build,
    .shape = shape, .gradient = gradient, .kernels = kernels,
};
