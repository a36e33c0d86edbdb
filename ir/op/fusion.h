// Fusions of an operator's launch with one of another operator, for op.h.
#ifndef CNNC_FUSION_H
#define CNNC_FUSION_H

#include "launch.h"

// Sums over the rows of a map for each channel (families/batch_moments.h).
typedef enum ColumnSums {
    NO_SUMS,
    SUMS_OF_MOMENTS,            // mean, variance, factor = (x, weight, header)
    SUMS_OF_PRODUCTS,           // sum, product = (dy, x, mean, variance,
                                // header)
} ColumnSums;

// The last operands of a part that normalizes (Kernel.normalizing): the batch
// norm's parameters and running statistics, and a map.  The map has the shape
// of the result, and is added before the activation.
#define NORM_OPERANDS "gamma? beta? mean variance other?~"
enum { NORM_GAMMA, NORM_BETA, NORM_MEAN, NORM_VARIANCE, NORM_OTHER };

// How the pool (flag POOLS) that is the only reader of a map can compute it.
// The forward node n that makes the map is then inlined.
typedef struct Pooling {
    // True if there is such a launch and it is worth its repeated work.
    bool    (*fits)(const Graph *g, const Node *n, const Node *pool);
    // Returns the flops that are computed twice.
    int64_t (*recomputed)(const Graph *g, const Node *n, const Node *pool);
    // The launch rule of the pool then.  functor: the reduction of a window.
    // Returns the launch that has the constants of the pool.
    Launch *(*launch)(const Graph *g, const Node *n, const Node *pool,
                      const char *functor, Launch *l);
} Pooling;

// The parameter of which v is the rounded one (ops/fake_quantize.c), whose
// gradient is its own; v if there is none.
ValueId unrounded_weight(const Graph *g, ValueId v);
// True if n says where the gradient of a rounded map passes.  Its result is
// computed on load from the beginning.
bool is_gate(const Node *n);

#endif
