// Gradients of a scaled loss: tests that all of them are finite, and adapts the scale.
#pragma once
#include <cuda_runtime.h>
#include "../support/vec/mul_add.cuh"
#include "../support/net/accumulated.cuh"
#include "../support/net/header.cuh"
#include "../support/vec/last_block.cuh"
#include "../support/net/loss_scale.cuh"
#include "../support/vec/load.cuh"
#include "../support/vec/real.cuh"
#include "../support/vec/unroll.cuh"

// GradientOf: count elements.
struct GradientOf {
    const real *at;
    long long count;
};

// Gradients: the gradients that one launch tests; a grid constant, as TensorList.
template <int COUNT>
struct Gradients {
    GradientOf of[COUNT];
};

// find_overflow: bad[b] = 1 if an element that block b tests, of any gradient, is not finite;
// 0 for blocks that were not launched, up to `parts`.  Then runs Last.  A thread has four vectors
// under way.  Another block begins each gradient, since most are small.  A number times 0 is 0 or
// NaN, which stays in a sum.
template <int COUNT, class Last>
__global__ void find_overflow(int *bad, const __grid_constant__ Gradients<COUNT> gradients,
                              int parts, const __grid_constant__ Last last)
{
    constexpr int V = 16 / (int)sizeof(real), DEEP = 4;
    const long long threads = (long long)gridDim.x * blockDim.x;
    real zero = 0;
    unsigned block = blockIdx.x;
    for (int k = 0; k < COUNT; k++) {
        const GradientOf of = gradients.of[k];
        const long long own = (long long)block * blockDim.x + threadIdx.x, vectors = of.count / V;
        block = block + 1 < gridDim.x ? block + 1 : 0;
        for (long long i = own; i < vectors; i += DEEP * threads) {
            Vec<V> held[DEEP] = {};
            UNROLL for (int d = 0; d < DEEP; d++)
                if (i + d * threads < vectors) held[d] = load_vec<V>(of.at, (i + d * threads) * V);
            UNROLL for (int d = 0; d < DEEP; d++)
                UNROLL for (int j = 0; j < V; j++) zero = mul_add(held[d].at[j], (real)0, zero);
        }
        const long long last_one = vectors * V + own;
        if (last_one < of.count) zero = mul_add(of.at[last_one], (real)0, zero);
    }
    const int found = __syncthreads_or(zero != 0);
    if (threadIdx.x == 0) bad[blockIdx.x] = found != 0;
    for (unsigned i = gridDim.x + threadIdx.x; blockIdx.x == 0 && i < (unsigned)parts;
         i += blockDim.x)
        bad[i] = 0;
    last();
}

// Overflows: the results of COUNT launches.
template <int COUNT>
struct Overflows {
    const int *of[COUNT];
};

// is_judge: true for one thread of the block that comes last.  It knows whether there is an
// overflow in the parts of a launch.
template <int COUNT>
static __device__ inline bool is_judge(StateHeader *header, const Overflows<COUNT> &bad, int parts,
                                       bool &overflow)
{
    int found = 0;
    if (!is_last_block(&header->arrivals)) return false;
    for (const int *some : bad.of)
        for (int i = (int)threadIdx.x; i < parts; i += (int)blockDim.x) found |= some[i];
    overflow = __syncthreads_or(found);
    return threadIdx.x == 0;
}

// judge_gradients: the update begins: an overflow moves the scale and skips the step;
// gradient_scale takes back the scale that gradients were made with.  A step that is skipped
// anyway, for its loss or without samples, says nothing of the scale.  By one thread.
template <class Scale>
static __device__ inline void judge_gradients(StateHeader *header, Scale scale, bool overflow)
{
    Accumulated *const own = accumulated(header);
    header->gradient_scale = 1 / (double)scale.now(header);
    if (!own->skip && own->samples > 0) {
        scale.move(header, overflow);
        own->skip = overflow;
    }
    begin_update(header);
}

// BeginScaled: the last of a launch: judges this batch, which is a training step.
template <class Scale, int COUNT>
struct BeginScaled {
    StateHeader *header;
    long long samples;
    Scale scale;
    Overflows<COUNT> bad;
    int parts;
    __device__ void operator()() const
    {
        bool overflow;
        if (!is_judge(header, bad, parts, overflow)) return;
        accumulated(header)->samples = (uint64_t)samples;
        judge_gradients(header, scale, overflow);
        *accumulated(header) = {};
    }
};

// BeginScaledAccumulated: likewise of the sums over the batches since the last update.
template <class Scale, int COUNT>
struct BeginScaledAccumulated {
    StateHeader *header;
    Scale scale;
    Overflows<COUNT> bad;
    int parts;
    __device__ void operator()() const
    {
        bool overflow;
        if (is_judge(header, bad, parts, overflow)) judge_gradients(header, scale, overflow);
    }
};
