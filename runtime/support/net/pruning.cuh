// Weights that an optimizer updates, some of which may be pruned.
#pragma once
#include <stdint.h>
#include "header.cuh"
#include "../vec/real.cuh"

// PruneSteps: the steps for which a new mask is made; end -1: there is no last one.
struct PruneSteps {
    long long begin, end, every;
    __device__ bool include(long long step) const
    {
        return step >= begin && (end < 0 || step <= end) && (step - begin) % every == 0;
    }
};

// MaskedWeight: stores 0 for a weight whose bit in `pruned` is set; null: none is.
struct MaskedWeight {
    real *weight;
    const uint8_t *pruned;
    struct Element {
        const MaskedWeight &of;
        long long i;
        __device__ operator real() const { return of.weight[i]; }
        __device__ void operator=(real w) const
        {
            of.weight[i] = of.pruned && of.pruned[i / 8] >> i % 8 & 1 ? (real)0 : w;
        }
    };
    __device__ Element operator[](long long i) const { return {*this, i}; }
};

// PrunedWeight: replaces the pointer to an updated weight.  A step before a new mask stores all
// weights as they are, so that those may come back that were pruned.
struct PrunedWeight {
    real *weight;
    const uint8_t *pruned;
    PruneSteps steps;
    friend __device__ MaskedWeight updated_weight(const PrunedWeight &w, const StateHeader *header)
    {
        return {w.weight, w.steps.include((long long)header->step + 1) ? nullptr : w.pruned};
    }
};
