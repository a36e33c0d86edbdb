// Kernels of operators that take each element of one operand by itself: what they compute is a
// functor's, with the operator's numbers, if it has any, as its last arguments.
#pragma once
#include "elementwise.cuh"
#include "real.cuh"

// unary_forward: y[i] = F(x[i]), both [count]; a thread takes single elements.  y may be x.
template <class F, class X = const real *, class Y = real *, class... Number>
__global__ void unary_forward(Y y, X x, long long count, Number... number)
{
    FOR_EACH(i, count) y[i] = F::forward(x[i], number...);
}

// unary_gradient: dx[i] from dy[i] and from what F's gradient needs, y[i] or x[i]; all [count].
// dx may be dy or kept.
template <class F, class DY = const real *, class Kept = const real *, class DX = real *,
          class... Number>
__global__ void unary_gradient(DX dx, DY dy, Kept kept, long long count, Number... number)
{
    FOR_EACH(i, count) dx[i] = F::gradient(dy[i], kept, i, number...);
}
