// The cost of launches: arithmetic and device memory traffic.  gpu_model.h
// converts it to times.
#ifndef CNNC_COST_H
#define CNNC_COST_H

#include "../base/sizes.h"
#include "../ir.h"

// Sums and products of costs saturate at INT64_MAX: unlike sizes of values,
// they have no bound.
typedef struct Cost {
    int64_t flops;              // operations on real numbers
    int64_t products;           // multiplications and additions of products
                                // among them, which tensor cores can do
    int64_t bytes;              // read from and written to device memory
    int64_t tiles;              // picoseconds that a convolution or GEMM takes
                                // on the graph's GPU (gpu/gemm_time.h), or 0
} Cost;

// Sets the cost of launch n, after any passes.  It includes the operator's
// rule, the activation, and operands computed on load, once for each operand.
// Each stored value is read once, and each result written once.  The cost is 0
// if n is no launch: a view, a copy in place, or inlined.
void node_cost(const Graph *g, const Node *n, Cost *cost);
void cost_add(Cost *sum, const Cost *cost);

// ---- for the operators' rules (Kernel.cost) ---------------------------------

// Rules set the cost of n itself, launched or computed on load: flops without
// its activation, and bytes as a launch.  *cost is 0 before.

// One operation per element of the first result; every operand is read once and
// every result written once.
void cost_elementwise(const Graph *g, const Node *n, Cost *cost);
// Returns the bytes that launch n reads and writes; operands updated in place
// count twice.  Workspaces are excluded, since their use depends on the
// library.
int64_t cost_bytes(const Graph *g, const Node *n);
// For Kernel.cost of a view, which is no launch.
void cost_view(const Graph *g, const Node *n, Cost *cost);
// All flops are those of a matrix product.
void cost_product(Cost *cost, int64_t flops);

#endif
