// Dropout without a stored mask: the backward pass recomputes the random
// numbers.
#pragma once
#include <stdint.h>
#include "../support/net/accumulated.cuh"
#include "../support/vec/elementwise.cuh"
#include "../support/vec/gated.cuh"
#include "../support/net/header.cuh"
#include "../support/vec/philox.cuh"
#include "../support/vec/real.cuh"

// dropout_forward: y = keep * x if a random number is at least threshold, otherwise 0; x, y [count,
// width], a sample a row, from sample `first` of the batch on.  A thread takes four elements of a
// sample, one call of philox.  The number depends only on seed, training step, the dropout's
// number, sample and element, so dy -> dx is the same launch.  Map y may be x.
template <class X = const real *, class Y = real *>
__global__ void dropout_forward(Y y, X x, const StateHeader *header, uint32_t number,
                                uint32_t threshold, real keep, long long count, long long width,
                                long long first)
{
    const long long quads = (width + 3) / 4;
    FOR_EACH(i, count * quads) {
        const long long sample = i / quads, quad = i % quads;
        uint32_t draw[4] = {(uint32_t)quad, (uint32_t)(first + sample), number,
                            (uint32_t)header->step};
        philox(draw, header->seed);
        for (int j = 0; j < 4 && 4 * quad + j < width; j++) {
            const long long at = sample * width + 4 * quad + j;
            y[at] = draw[j] >= threshold ? keep * x[at] : (real)0;
        }
    }
}

// dropout_accumulated: dropout_forward with gradient accumulation.  Samples are counted from the
// first of the training step, so that the numbers do not depend on the micro-batch.
template <class X = const real *, class Y = real *>
__global__ void dropout_accumulated(Y y, X x, const StateHeader *header, uint32_t number,
                                    uint32_t threshold, real keep, long long count, long long width,
                                    long long first)
{
    const long long quads = (width + 3) / 4;
    const uint64_t before = samples_before(header);
    FOR_EACH(i, count * quads) {
        const long long sample = i / quads, quad = i % quads;
        uint32_t draw[4] = {(uint32_t)quad, (uint32_t)(before + (uint64_t)(first + sample)),
                            number, (uint32_t)header->step};
        philox(draw, header->seed);
        for (int j = 0; j < 4 && 4 * quad + j < width; j++) {
            const long long at = sample * width + 4 * quad + j;
            y[at] = draw[j] >= threshold ? keep * x[at] : (real)0;
        }
    }
}
