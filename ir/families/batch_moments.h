// References of sums over the pixels of a batch for each channel, and of
// moments computed from them.  Partial sums [splits, 2, channels] are over runs
// of rows.
#ifndef CNNC_BATCH_MOMENTS_H
#define CNNC_BATCH_MOMENTS_H

#include "../op/op.h"

// Attributes of operators with batch moments.  PIXELS: of one sample.
enum BatchAttrs { MOMENTUM, EPSILON, PIXELS, SPLITS };

// Returns the rows of the valid samples.
int64_t batch_rows(const Ref *r);
double deviation(const Ref *r, double variance);
// Returns x - mean[c], over the deviation, times weight[c], plus bias[c].
// in: weight or NULL, bias or NULL, mean, variance.
double normalized(double x, int64_t c, double *const in[4], double epsilon);

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

// Likewise of result 0 of another operator's node, whose operands end with the
// others.  The results follow result 0.
void made_moments_reference(const Ref *r, int weight, int64_t pixels,
                            double epsilon);
void made_products_reference(const Ref *r, int x, int64_t pixels,
                             double epsilon);
// Applies a batch norm to result 0, then adds a map.  Operands NORM_OPERANDS
// begin at slot `first`.
void made_norm_reference(const Ref *r, int first, double epsilon);

#endif
