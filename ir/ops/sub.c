// sub: y = a - b.
//
// The gradient of a is dy, without a launch if the shapes are equal.
#include "../op/activation_grad.h"
#include "../families/binary.h"
#include "../op/op_row.h"

static void gradient(Gradient *c)
{
    ValueId dz = act_gradient(c);
    broadcast_gradient(c, 0, dz, PASSES);
    broadcast_gradient(c, 1, dz, 0);
}

static double difference(double a, double b)
{
    return a - b;
}

static double difference_gradient(int k, double dz, double a, double b)
{
    (void)a, (void)b;
    return k == 0 ? dz : -dz;
}

static void reference(const Ref *r)
{
    broadcast_reference(r, difference);
}

static void grad_reference(const Ref *r)
{
    broadcast_gradient_reference(r, difference_gradient);
}

static const Kernel kernels[] = {
    BROADCAST_KERNELS(reference, grad_reference)
};

const Op op_sub = {
    ROW(sub), .attrs = broadcast_attrs, .build = build_broadcast,
    .shape = shape_of_broadcast, .gradient = gradient,
    .functor = "subtraction", .kernels = kernels,
};
