// Maps resampled to another height and width, each axis by itself.
// Pixel p of P lies at a source position among H pixels.  It is the nearest
// pixel there, or a blend of two.
#ifndef CNNC_RESAMPLE_H
#define CNNC_RESAMPLE_H

#include "../op/op.h"

typedef enum Resampling {
    NEAREST,                    // pixel floor(p * H / P)
    NEAREST_EXACT,              // pixel floor((p + 1/2) * H / P)
    BILINEAR,                   // between pixels at (p + 1/2) * H / P - 1/2,
                                // clamped to the map
    ALIGN_CORNERS,              // between pixels at p * (H - 1) / (P - 1)
    RESAMPLINGS
} Resampling;

// Launch, cost and reference of kernel 0, from x to y, and of kernel 1, from dy
// and mask? to dx.  An element of dx is the sum of dy times its weights in y.
void launch_resample(const Graph *g, const Node *n, Launch *l, Resampling how);
void cost_resample(const Graph *g, const Node *n, Cost *cost, Resampling how);
void ref_resample(const Ref *r, Resampling how);
// Sets a launch of kernel 0, which makes y [N, P, Q, C] of x [N, H, W, C].
// Kernel 1 is the way back.  A thread makes VEC channels of a result.
void launch_resized(const Graph *g, const Node *n, Launch *l,
                    const char *forward, const char *backward);
// Makes kernel 1.
void gradient_resample(Gradient *c);

#endif
