// mul: y = a * b, such as a gate on each channel (squeeze and excite).
//
// The gradient of each operand needs the other.
#include "../op/activation_grad.h"
#include "../families/binary.h"
#include "../op/op_row.h"

static void gradient(Gradient *c)
{
    ValueId dz = act_gradient(c);
    broadcast_gradient(c, 0, dz, READS_B);
    broadcast_gradient(c, 1, dz, READS_A);
}

static double product(double a, double b)
{
    return a * b;
}

static double product_gradient(int k, double dz, double a, double b)
{
    return dz * (k == 0 ? b : a);
}

static void reference(const Ref *r)
{
    broadcast_reference(r, product);
}

static void grad_reference(const Ref *r)
{
    broadcast_gradient_reference(r, product_gradient);
}

static const Kernel kernels[] = {
    BROADCAST_KERNELS(reference, grad_reference)
};

const Op op_mul = {
    ROW(mul), .attrs = broadcast_attrs, .build = build_broadcast,
    .shape = shape_of_broadcast, .gradient = gradient,
    .functor = "multiplication", .kernels = kernels,
};
