// clamp: limits each element to a range; NaN stays.
//
// A bound of 1e30, the largest that can be written, is none, so clamp(low = 0)
// has one bound, as maximum(x, 0) has.  The gradient needs the result alone.
// It is 0 at a bound, as that of relu6.
#include "../op/op_row.h"
#include "../op/op_checks.h"
#include "../families/unary.h"

enum { LOW, HIGH };

#define NO_BOUND 1e30

static const ArgSpec args[] = {
    { "low", ARG_FLOAT, "-1e30", -NO_BOUND, NO_BOUND,
      "the smallest result; -1e30: none" },
    { "high", ARG_FLOAT, "1e30", -NO_BOUND, NO_BOUND,
      "the largest result; 1e30: none" },
    { .name = NULL },
};
static const AttrSpec attrs[] = {
    { "low", ATTR_FLOAT, 0, 0 }, { "high", ATTR_FLOAT, 0, 0 }, { .name = NULL },
};

static bool has_low(const Attr *attr)
{
    return attr[LOW].f > -NO_BOUND;
}

static bool has_high(const Attr *attr)
{
    return attr[HIGH].f < NO_BOUND;
}

static ValueId build(Build *b)
{
    double low = b->arg[LOW].f, high = b->arg[HIGH].f;
    if (low <= high) return build_unary(b);
    error(b->g->diag, b->arg[b->arg[HIGH].given ? HIGH : LOW].pos,
          "clamp's low bound is %g, which is above its high bound, %g", low,
          high);
    return NONE;
}

// Without a bound it is the identity.
static ValueId simplify(Graph *g, NodeId id)
{
    const Node *n = &g->nodes[id];
    return has_low(n->attr) || has_high(n->attr) ? NONE : n->operands[0];
}

static void launch(const Graph *g, const Node *n, Launch *l)
{
    launch_functor(g, n, l, !has_high(n->attr) ? "at_least"
                            : !has_low(n->attr) ? "at_most" : "clamped");
}

static double clamp(const Attr *attr, double x)
{
    if (has_low(attr) && x < attr[LOW].f) return attr[LOW].f;
    return has_high(attr) && x > attr[HIGH].f ? attr[HIGH].f : x;
}

static double clamp_gradient(const Attr *attr, double dy, double y)
{
    bool is_limited = (has_low(attr) && y <= attr[LOW].f) ||
                      (has_high(attr) && y >= attr[HIGH].f);
    return is_limited ? 0 : dy;
}

static void reference(const Ref *r)
{
    unary_reference(r, clamp);
}

static void grad_reference(const Ref *r)
{
    unary_gradient_reference(r, clamp_gradient);
}

static const Kernel kernels[] = {
    UNARY_KERNELS(launch, NULL, reference, grad_reference, "y"),
};

const Op op_clamp = {
    ROW(clamp), .args = args, .attrs = attrs, .build = build,
    .simplify = simplify, .gradient = gradient_from_result,
    .kernels = kernels,
};
