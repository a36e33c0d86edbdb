// A batch norm with known statistics, of channels c: (x - mean[c]) / sqrt(variance[c] + epsilon) *
// weight[c] + bias[c]; without weight 1, without bias 0.
#pragma once
#include <math.h>
#include "load.cuh"
#include "unroll.cuh"

// norm_terms: those of the V channels from c on.
template <int V>
static __device__ inline NormTerms<V> norm_terms(long long c, const real *weight, const real *bias,
                                                 const real *mean, const real *variance,
                                                 real epsilon)
{
    NormTerms<V> terms;
    UNROLL for (int j = 0; j < V; j++) {
        terms.factor.at[j] = (weight ? weight[c + j] : (real)1) / sqrt(variance[c + j] + epsilon);
        terms.mean.at[j] = mean[c + j];
        terms.bias.at[j] = bias ? bias[c + j] : (real)0;
    }
    return terms;
}
