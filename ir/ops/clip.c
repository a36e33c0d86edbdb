// clip: each element of a gradient within a limit, as the train section's
// clip_value wants it.
#include "../op_row.h"
#include "../rules.h"

enum { LIMIT };

static const AttrSpec attrs[] = {
    { "limit", ATTR_FLOAT, 0, 1e38 }, { .name = NULL },
};

static void launch(const Graph *g, const Node *n, Launch *l)
{
    int64_t count = elements(g->values[n->results[0]].shape);
    launch_elements(l, "clip_elements", count);
    launch_value(l, n->results[0]);
    launch_value(l, n->operands[0]);
    launch_real(l, n->attr[LIMIT].f, "limit");
    launch_int(l, count, "count");
}

// What is not a number is in no order, and stays.
static void reference(const Ref *r)
{
    double limit = r->n->attr[LIMIT].f;
    for (int64_t i = 0; i < elements(ref_out(r, 0)); i++) {
        double x = r->in[0][i];
        if (x > limit) x = limit;
        if (x < -limit) x = -limit;
        r->out[0][i] = x;
    }
}

static const Part parts[] = {
    { .name = "", .results = "y", .in_place = "y/x", .cost = cost_elementwise,
      .launch = launch, .reference = reference },
    { .results = NULL },
};

const Op op_clip = { ROW(clip), .attrs = attrs, .parts = parts };
