// Normalisation within a sample: layernorm and groupnorm.  A statistic, mean
// and deviation, is over one group of channels of `pixels` consecutive pixels.
#ifndef CNNC_SAMPLE_NORM_H
#define CNNC_SAMPLE_NORM_H

#include "../op/op.h"

// Their common arguments, which come last: epsilon, scale and bias.
#define NORMAL_ARGS                                                            \
    { "epsilon", ARG_FLOAT, "1e-5", 1e-12, 1e6, "is added to the variance" },  \
    { "scale", ARG_BOOL, "true", 0, 1, "true: a weight for each channel" },    \
    { "bias", ARG_BOOL, "true", 0, 1, "true: a bias for each channel" }

extern const AttrSpec normal_attrs[];
extern const Kernel normal_kernels[];

// Makes the node of a call, whose NORMAL_ARGS begin at arg.
ValueId normal_build(Build *b, int64_t groups, int64_t pixels,
                     const ArgValue *arg);
Shape normal_shape(const Graph *g, const Node *n);
void normal_gradient(Gradient *c);

#endif
