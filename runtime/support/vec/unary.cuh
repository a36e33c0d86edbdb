// Kernels of unary elementwise operators.  A functor computes; its last arguments are the
// operator's numbers, if any.
#pragma once
#include "elementwise.cuh"
#include "load.cuh"
#include "real.cuh"
#include "unroll.cuh"

// unary_forward: y[i] = F(x[i]), both [count]; a thread takes V elements; V divides count.  y may
// be x.
template <class F, int V, class X = const real *, class Y = real *, class... Number>
__global__ void unary_forward(Y y, X x, long long count, Number... number)
{
    FOR_EACH(k, count / V) {
        const long long first = k * V;
        const auto from = load_lazy<V>(x, first);
        Vec<V> to;
        UNROLL for (int j = 0; j < V; j++) to.at[j] = F::forward(from[first + j], number...);
        store_vec(y, first, to);
    }
}

// unary_gradient: dx[i] = F's gradient of dy[i] and kept[i], which is y or x; all [count].  dx may
// be dy or kept.  A thread takes V elements.
template <class F, int V, class DY = const real *, class Kept = const real *, class DX = real *,
          class... Number>
__global__ void unary_gradient(DX dx, DY dy, Kept kept, long long count, Number... number)
{
    FOR_EACH(k, count / V) {
        const long long first = k * V;
        const auto from = load_lazy<V>(dy, first);
        const auto own = load_lazy<V>(kept, first);
        Vec<V> to;
        UNROLL for (int j = 0; j < V; j++)
            to.at[j] = F::gradient(from[first + j], own, first + j, number...);
        store_vec(dx, first, to);
    }
}
