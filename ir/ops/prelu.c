// prelu: y = x where x is positive, else slope * x.  The slope is trained (He
// et al. 2015, arXiv 1502.01852).
//
// It is an operator of two operands, x and the slopes, which are repeated over
// samples and pixels.  Their gradient is a sum over these.
#include "../op/activation_grad.h"
#include "../families/binary.h"
#include "../op/op_row.h"
#include "../op/op_checks.h"

enum { ARG_START, ARG_SHARED };

static const ArgSpec args[] = {
    { "start", ARG_FLOAT, "0.25", -1e30, 1e30, "first value of the slopes" },
    { "shared", ARG_BOOL, "false", 0, 1,
      "true: one slope; otherwise one for each channel" },
    { .name = NULL },
};

static ValueId build(Build *b)
{
    Graph *g = b->g;
    if (!build_wants_real(b, 0)) return NONE;
    Shape x = g->values[b->operand[0]].shape;
    bool shared = b->arg[ARG_SHARED].i;
    Init start = { .kind = INIT_CONSTANT, .scale = b->arg[ARG_START].f };
    ValueId slope = build_param(b, "weight", shape_of(1, shared ? 1
                                : x.dim[x.rank - 1]), start, false);
    return build_node(b, 2, (ValueId[]){ b->operand[0], slope }, NULL, x);
}

static void gradient(Gradient *c)
{
    ValueId dz = act_gradient(c);
    broadcast_gradient(c, 0, dz, READS_A | READS_B);
    broadcast_gradient(c, 1, dz, READS_A);
}

static double prelu(double x, double slope)
{
    return x > 0 ? x : slope * x;
}

static double prelu_gradient(int k, double dz, double x, double slope)
{
    if (x > 0) return k == 0 ? dz : 0;
    return dz * (k == 0 ? slope : x);
}

static void reference(const Ref *r)
{
    broadcast_reference(r, prelu);
}

static void grad_reference(const Ref *r)
{
    broadcast_gradient_reference(r, prelu_gradient);
}

static const Kernel kernels[] = {
    BROADCAST_KERNELS(reference, grad_reference)
};

const Op op_prelu = {
    ROW(prelu), .args = args, .attrs = broadcast_attrs, .build = build,
    .shape = shape_of_broadcast, .gradient = gradient, .kernels = kernels,
};
