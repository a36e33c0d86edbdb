// minimum: the smaller of two elements; NaN wins.
//
// The gradient goes to the smaller one, and to a if they are equal.
#include "../op/activation_grad.h"
#include "../families/binary.h"
#include "../op/op_row.h"

static void gradient(Gradient *c)
{
    ValueId dz = act_gradient(c);
    for (int k = 0; k < 2; k++) broadcast_gradient(c, k, dz, READS_A | READS_B);
}

static double minimum_of(double a, double b)
{
    return a <= b || a != a ? a : b;
}

static double minimum_gradient(int k, double dz, double a, double b)
{
    bool first = a <= b || a != a;
    return first == (k == 0) ? dz : 0;
}

static void reference(const Ref *r)
{
    broadcast_reference(r, minimum_of);
}

static void grad_reference(const Ref *r)
{
    broadcast_gradient_reference(r, minimum_gradient);
}

static const Kernel kernels[] = {
    BROADCAST_KERNELS(reference, grad_reference)
};

const Op op_minimum = {
    ROW(minimum), .attrs = broadcast_attrs, .build = build_broadcast,
    .shape = shape_of_broadcast, .gradient = gradient,
    .functor = "smaller_of", .kernels = kernels,
};
