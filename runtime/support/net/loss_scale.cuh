// Loss scaling: gradients are computed with a factor, and applied without it.
#pragma once
#include <stdint.h>
#include "header.cuh"
#include "../vec/real.cuh"

// moving_scale: the header's scale, or `first` if the header has none yet.
static __device__ inline real moving_scale(const StateHeader *header, real first)
{
    return header->loss_scale > 0 ? (real)header->loss_scale : first;
}

// ScaledLoss: the weight of a loss, times the scale of this training step.
struct ScaledLoss {
    const StateHeader *header;
    real weight, first;
    __device__ operator real() const { return weight * moving_scale(header, first); }
};

// ScaledLimit: the clipping limit of a gradient's element that still has the scale.
struct ScaledLimit {
    const StateHeader *header;
    real limit;
    __device__ operator real() const { return limit / (real)header->gradient_scale; }
};

// FixedScale: a constant scale.
struct FixedScale {
    real scale;
    __device__ real now(const StateHeader *) const { return scale; }
    __device__ void move(StateHeader *, bool) const {}
};

// MovingScale: halved after an overflow, doubled after `interval` training steps in a row without
// one, within 2^-24 and 2^24.
struct MovingScale {
    real first;
    uint32_t interval;
    __device__ real now(const StateHeader *header) const { return moving_scale(header, first); }
    __device__ void move(StateHeader *header, bool overflow) const
    {
        const double scale = (double)now(header), most = 16777216.0;
        const bool grows = !overflow && ++header->good >= interval;
        if (overflow || grows) header->good = 0;
        header->loss_scale = overflow && scale * most > 1 ? scale / 2
                             : grows && scale < most      ? scale * 2
                                                          : scale;
    }
};
