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
    uint64_t seed, step, updates;       // updates: the steps that were not skipped
    double   rate;                      // the learning rate
    double   base_rate;                 // as the caller set it; a schedule multiplies it
    double   gradient_scale;            // multiplies this step's gradients, for clipping by norm
                                        // and loss scaling
    double   loss_scale;                // a moving scale after its first step; otherwise 0
    uint32_t skip;                      // 1 if this step's loss or a gradient was not finite
    uint32_t good;                      // steps since the loss scale changed
    uint64_t arrivals;                  // blocks of a launch that have ended; 0 between launches
    uint64_t samples;                   // since the caller's last reset, as are the figures:
    struct FigureSum figures[HEADER_FIGURES];   // of each loss, then of each metric
};
