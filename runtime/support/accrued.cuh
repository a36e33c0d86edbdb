// What a training step that comes in several batches has so far.
#pragma once
#include <stdint.h>
#include "header.cuh"

// Accrued: behind the Header, in its 256 bytes; all zero from an update to the next batch.
struct Accrued {
    uint64_t samples;           // of the batches before this one, since the last update
    uint32_t skip, batches;     // skip: the loss of one was not finite
    double   sums[8];           // the sums of the loss and of each metric
};

static __device__ inline Accrued *accrued(Header *header)
{
    static_assert(sizeof(Header) + sizeof(Accrued) <= 256, "both lie in the header's bytes");
    return (Accrued *)(header + 1);
}

// samples_before: of the training step, before those of this batch.
static __device__ inline uint64_t samples_before(const Header *header)
{
    return ((const Accrued *)(header + 1))->samples;
}

// begin_update: the step is skipped where no batch came or one is to be; if not, what losses and
// metrics add up to goes into the header's sums.  By one thread.
static __device__ inline void begin_update(Header *header)
{
    const Accrued *const own = accrued(header);
    header->skip = own->skip || own->samples == 0;
    if (header->skip) return;
    header->samples += own->samples;
    for (int j = 0; j < 8; j++) header->sums[j] += own->sums[j];
}

// batch_samples: of the batches that the update is of, as many as their mean.
static __device__ inline double batch_samples(const Header *header)
{
    const Accrued *const own = (const Accrued *)(header + 1);
    return (double)own->samples / (double)(own->batches ? own->batches : 1);
}
