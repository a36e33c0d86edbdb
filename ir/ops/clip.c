// clip: limits each element of a gradient, for the train section's setting
// clip_value.
#include "../op/op_row.h"
#include "../op/op_checks.h"

enum { LIMIT };
enum { X, HEADER };             // operands

static const AttrSpec attrs[] = {
    { "limit", ATTR_FLOAT, 0, 1e38 }, { .name = NULL },
};

// Gradients of a scaled loss are clipped while scaled.
static void launch_limit(const Node *n, Launch *l)
{
    bool scaled = n->operands[HEADER] != NONE;
    Launch *to = scaled ? launch_members(l, "ScaledLimit") : l;
    launch_type(l, scaled ? "ScaledLimit" : "real");
    if (scaled) launch_header(to);
    launch_real(to, n->attr[LIMIT].f, "limit");
}

static void launch(const Graph *g, const Node *n, Launch *l)
{
    int64_t count = elements(g->values[n->results[0]].shape);
    launch_elements(l, "clip_elements", count);
    launch_value(l, n->results[0]);
    launch_value(l, n->operands[X]);
    launch_limit(n, l);
    launch_int(l, count, "count");
}

// NaN compares false and stays.
static void reference(const Ref *r)
{
    double limit = r->n->attr[LIMIT].f;
    if (r->n->operands[HEADER] != NONE)
        limit /= r->header[HEADER_GRADIENT_SCALE];
    for (int64_t i = 0; i < elements(ref_out(r, 0)); i++) {
        double x = r->in[X][i];
        if (x > limit) x = limit;
        if (x < -limit) x = -limit;
        r->out[0][i] = x;
    }
}

static const Kernel kernels[] = {
    { .name = "", .results = "y", .in_place = "y/x", .cost = cost_elementwise,
      .launch = launch, .reference = reference },
    { .results = NULL },
};

const Op op_clip = { ROW(clip), .attrs = attrs, .kernels = kernels };
