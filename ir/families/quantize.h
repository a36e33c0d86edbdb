// Quantization-aware training: maps and weights are rounded to integers of 8
// bits times a scale while they are read (../ops/fake_quantize.c).
#ifndef CNNC_FAMILIES_QUANTIZE_H
#define CNNC_FAMILIES_QUANTIZE_H

#include "../op/op.h"

enum { MOST_QUANTIZE_STEP = INT32_MAX };

// The attributes of fake_quantize.
enum { QUANTIZE_LEAST, QUANTIZE_MOST, QUANTIZE_KEEP, QUANTIZE_DELAY };
// The attributes of track_scale.
enum { TRACK_KEEP, TRACK_DELAY };
// Kernels of fake_quantize, and their operands.
enum { INSIDE_KERNEL = 1, LARGEST_KERNEL };
enum { QUANTIZED_X, QUANTIZED_SCALE, QUANTIZED_BEFORE = 1 };

// The setting `quantize` of the train section.
typedef struct Quantize {
    int64_t delay;              // steps that only measure
    double  average;            // the part of a range that a step keeps
    Pos     pos;
} Quantize;

// A scale of maps is a state of two numbers.
enum {
    SCALE_USED,                 // in this step; 0: nothing is rounded
    SCALE_AVERAGE,              // of the largest magnitudes, over the steps
    SCALE_NUMBERS
};

#endif
