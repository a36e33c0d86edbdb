// gelu: y = x * Phi(x) (Hendrycks and Gimpel 2016, arXiv 1606.08415).  Phi is
// the cumulative normal distribution, or its approximation by a hyperbolic
// tangent.
//
// The gradient needs the operand: the result does not determine it.
#include <math.h>
#include "../op/op_row.h"
#include "../families/unary.h"

enum { APPROXIMATE };

static const ArgSpec args[] = {
    { "approximate", ARG_BOOL, "false", 0, 1, "true: a hyperbolic "
      "tangent replaces the error function" },
    { .name = NULL },
};
static const AttrSpec attrs[] = {
    { "approximate", ATTR_INT, 0, 0 }, { .name = NULL },
};

static void launch(const Graph *g, const Node *n, Launch *l)
{
    launch_functor(g, n, l, n->attr[APPROXIMATE].i ? "gelu_tanh" : "gelu");
}

static bool load(const Graph *g, const Node *n, Launch *l)
{
    (void)g;
    return load_functor(n, l, n->attr[APPROXIMATE].i ? "gelu_tanh" : "gelu");
}

static const double pi = 3.14159265358979323846;

// Phi, and its derivative.
static double phi(const Attr *attr, double x)
{
    if (!attr[APPROXIMATE].i) return 0.5 * (1 + erf(x / sqrt(2)));
    return 0.5 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x * x * x)));
}

static double phi_slope(const Attr *attr, double x)
{
    if (!attr[APPROXIMATE].i) return exp(-x * x / 2) / sqrt(2 * pi);
    double c = cosh(sqrt(2 / pi) * (x + 0.044715 * x * x * x));
    return 0.5 * sqrt(2 / pi) * (1 + 3 * 0.044715 * x * x) / (c * c);
}

static double gelu(const Attr *attr, double x)
{
    return x * phi(attr, x);
}

static double gelu_gradient(const Attr *attr, double dy, double x)
{
    return dy * (phi(attr, x) + x * phi_slope(attr, x));
}

static void reference(const Ref *r)
{
    unary_reference(r, gelu);
}

static void grad_reference(const Ref *r)
{
    unary_gradient_reference(r, gelu_gradient);
}

static const Kernel kernels[] = {
    UNARY_KERNELS(launch, load, reference, grad_reference, "x"),
};

const Op op_gelu = {
    ROW(gelu), .args = args, .attrs = attrs, .build = build_unary,
    .gradient = gradient_from_operand, .kernels = kernels,
};
