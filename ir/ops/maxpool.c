// maxpool: the largest element of each window.
//
// In training the launch also leaves which element that was, in one byte where
// a window has at most 256: the gradient then needs neither x nor y.  The
// gradient gathers, so overlapping windows need no atomics.
#include "../act.h"
#include "../op_row.h"
#include "../pool.h"
#include "../rules.h"

static const ArgSpec args[] = {
    POOL_ARGS("what lies there is never largest"), { .name = NULL },
};
static const AttrSpec attrs[] = { POOL_ATTRS, { .name = NULL } };

// ---- from a call to a node --------------------------------------------------

// The index is kept for the gradient alone.
static void add_index(Build *b, ValueId y, const Attr *attr)
{
    Graph *g = b->g;
    bool small = attr[KERNEL_H].i * attr[KERNEL_W].i <= 256;
    NodeId n = g->values[y].def;
    ValueId index =
        graph_value(g, arena_print(g->arena, "%s.index", b->name), MASK,
                    small ? U8 : I32, g->values[y].shape, b->pos);
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
    launch_windows(l, n->attr, x, y);
    launch_type(l, index_type(g, n->results[1]));
    launch_type(l, n->results[1] != NONE ? "true" : "false");
    launch_slots(l, n, 2, 1);
}

static void grad_launch(const Graph *g, const Node *n, Launch *l)
{
    Shape dx = g->values[n->results[0]].shape;
    Shape dy = g->values[n->operands[0]].shape;
    launch_elements(l, "maxpool_gradient", elements(dx));
    launch_windows(l, n->attr, dx, dy);
    launch_type(l, index_type(g, n->operands[1]));
    launch_act(l, n);
    launch_slots(l, n, 1, 3);
}

// ---- references -------------------------------------------------------------

static void reference(const Ref *r)
{
    Shape x = ref_in(r, 0), y = ref_out(r, 0);
    int64_t window = r->n->attr[KERNEL_H].i * r->n->attr[KERNEL_W].i;
    for (int64_t i = 0; i < elements(y); i++) {
        int64_t best = -1;
        for (int64_t j = 0; j < window; j++) {
            int64_t at = pool_element(r->n->attr, x, y, i, j);
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
        int64_t j = (int64_t)r->in[1][i];
        int64_t at = pool_element(r->n->attr, dx, dy, i, j);
        out[at] += r->in[0][i];
    }
    ref_mask(r, 2);
}

// ---- the operator -----------------------------------------------------------

static const Part parts[] = {
    { .name = "", .results = "y/ index?",
      .cost = cost_pool, .launch = launch, .reference = reference },
    { .name = "grad", .operands = "dy/ index mask?~", .results = "dx/",
      .in_place = "dx/mask", .cost = cost_pool_grad, .launch = grad_launch,
      .reference = grad_reference },
    { .results = NULL },
};

const Op op_maxpool = {
    ROW(maxpool), .args = args, .attrs = attrs, .build = build,
    .shape = pool_shape, .gradient = gradient, .parts = parts,
};
