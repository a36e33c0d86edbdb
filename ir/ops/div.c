// div: y = a / b.
//
// The gradient of a is dy / b, and that of b is -dy * a / b^2.
#include "../op/activation_grad.h"
#include "../families/binary.h"
#include "../op/op_row.h"

static void gradient(Gradient *c)
{
    ValueId dz = act_gradient(c);
    broadcast_gradient(c, 0, dz, READS_B);
    broadcast_gradient(c, 1, dz, READS_A | READS_B);
}

static double quotient(double a, double b)
{
    return a / b;
}

static double quotient_gradient(int k, double dz, double a, double b)
{
    return k == 0 ? dz / b : -dz * a / (b * b);
}

static void reference(const Ref *r)
{
    broadcast_reference(r, quotient);
}

static void grad_reference(const Ref *r)
{
    broadcast_gradient_reference(r, quotient_gradient);
}

static const Kernel kernels[] = {
    BROADCAST_KERNELS(reference, grad_reference)
};

const Op op_div = {
    ROW(div), .attrs = broadcast_attrs, .build = build_broadcast,
    .shape = shape_of_broadcast, .gradient = gradient,
    .functor = "division", .kernels = kernels,
};
