// Sums over the micro-batches of a training step.
#pragma once
#include <math.h>
#include <stdint.h>
#include "header.cuh"

// Accumulated: follows the StateHeader in the header's bytes; all zero between an update and the
// next batch.
struct Accumulated {
    uint64_t samples;           // of earlier batches since the last update
    uint32_t skip, batches;     // skip: a loss was not finite
    FigureSum figures[HEADER_FIGURES];
};

static __device__ inline Accumulated *accumulated(StateHeader *header)
{
    static_assert(sizeof(StateHeader) + sizeof(Accumulated) ==
                  128 + 2 * sizeof header->figures, "");
    return (Accumulated *)(header + 1);
}

// samples_before: samples of the training step before this batch.
static __device__ inline uint64_t samples_before(const StateHeader *header)
{
    return ((const Accumulated *)(header + 1))->samples;
}

// add_figure: adds a loss or metric to its sum, if it is finite.
static __device__ inline void add_figure(FigureSum &to, const FigureSum &of)
{
    if (!isfinite(of.sum + of.weight)) return;
    to.sum += of.sum;
    to.weight += of.weight;
}

// begin_update: skips the step if no batch came or a loss was not finite; otherwise adds the sums
// of losses and metrics to the header's.  One thread calls it.
static __device__ inline void begin_update(StateHeader *header)
{
    const Accumulated *const own = accumulated(header);
    header->skip = own->skip || own->samples == 0;
    if (header->skip) return;
    header->samples += own->samples;
    for (int j = 0; j < HEADER_FIGURES; j++) add_figure(header->figures[j], own->figures[j]);
}

// batch_samples: the mean number of samples of the batches since the last update.
static __device__ inline double batch_samples(const StateHeader *header)
{
    const Accumulated *const own = (const Accumulated *)(header + 1);
    return (double)own->samples / (double)(own->batches ? own->batches : 1);
}
