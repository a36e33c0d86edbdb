// What a training step that comes in several batches has so far.
#pragma once
#include <math.h>
#include <stdint.h>
#include "header.cuh"

// Accumulated: after the StateHeader, in the header's bytes; all zero from an update to the next
// batch.
struct Accumulated {
    uint64_t samples;           // of the batches before this one, since the last update
    uint32_t skip, batches;     // skip: the loss of one was not finite
    FigureSum figures[HEADER_FIGURES];
};

static __device__ inline Accumulated *accumulated(StateHeader *header)
{
    static_assert(sizeof(StateHeader) + sizeof(Accumulated) ==
                  128 + 2 * sizeof header->figures, "");
    return (Accumulated *)(header + 1);
}

// samples_before: of the training step, before those of this batch.
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

// begin_update: the step is skipped where no batch came or one is to be; if not, what losses and
// metrics add up to goes into the header's sums.  By one thread.
static __device__ inline void begin_update(StateHeader *header)
{
    const Accumulated *const own = accumulated(header);
    header->skip = own->skip || own->samples == 0;
    if (header->skip) return;
    header->samples += own->samples;
    for (int j = 0; j < HEADER_FIGURES; j++) add_figure(header->figures[j], own->figures[j]);
}

// batch_samples: of the batches that the update is of, as many as their mean.
static __device__ inline double batch_samples(const StateHeader *header)
{
    const Accumulated *const own = (const Accumulated *)(header + 1);
    return (double)own->samples / (double)(own->batches ? own->batches : 1);
}
