// The first bytes of the state.
#pragma once
#include <stdint.h>

// HEADER_FIGURES: the number of losses and metrics in the header.
enum { HEADER_FIGURES = 4 };

// FigureSum: a loss or metric is sum / weight; by default each sample adds 1 to the weight.
struct FigureSum {
    double sum, weight;
};

// StateHeader: the values that change from step to step.  Kernels read them on the device, so a
// captured graph stays valid.
struct StateHeader {
    uint64_t magic, state_hash, params_hash, plan_hash;
    uint64_t seed, step, updates;       // updates: of the steps, those that were not skipped
    double   rate;                      // the learning rate
    double   base_rate;                 // as the caller set it: a schedule's factor is of it
    double   gradient_scale;            // of this step's gradients, where their norm is clipped or
                                        // the loss is scaled
    double   loss_scale;                // one that moves; 0: none has
    uint32_t skip;                      // this step's loss was not finite, or a gradient
    uint32_t good;                      // steps since the loss's scale moved
    uint32_t arrivals, unused;          // blocks of a launch that have ended, 0 between launches
    uint64_t samples;                   // since the caller's last reset, as are these:
    struct FigureSum figures[HEADER_FIGURES];   // of each loss, then of each metric
};
