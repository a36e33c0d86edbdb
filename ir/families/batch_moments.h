// Sums over the pixels of a batch, channel by channel, and the moments made of
// them: references.  Partial sums [splits, 2, channels] are of runs of rows.
#ifndef CNNC_BATCH_MOMENTS_H
#define CNNC_BATCH_MOMENTS_H

#include "../op/op.h"

// Attributes of what calls these.  PIXELS: a sample's.
enum BatchAttrs { MOMENTUM, EPSILON, PIXELS, SPLITS };

// The rows of the samples that are there.
int64_t batch_rows(const Ref *r);
double deviation(const Ref *r, double variance);

// partials = (x)
void statistics_reference(const Ref *r);
// mean, variance, factor = (partials, x, weight)
void moments_reference(const Ref *r);
// partials = (dy, x, mean)
void reduce_reference(const Ref *r);
// sum, product = (partials, variance)
void sums_reference(const Ref *r);
// mean, variance, factor, partials = (x, weight, header)
void statistics_moments_reference(const Ref *r);
// sum, product, partials = (dy, x, mean, variance, header)
void reduce_sums_reference(const Ref *r);

#endif
