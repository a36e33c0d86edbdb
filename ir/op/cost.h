// What launches cost: arithmetic, and traffic with device memory.  Nothing
// here knows of a machine; gpu_model.h makes times of it.
#ifndef CNNC_COST_H
#define CNNC_COST_H

#include "../ir.h"

// Sums and products of these are capped: what is counted, unlike what is
// stored, has no bound.
typedef struct Cost {
    int64_t flops;              // operations on real numbers, of any kind
    int64_t products;           // of these: multiplications and additions of
                                // matrix products, which tensor cores can do
    int64_t bytes;              // read from device memory, and written
} Cost;

// What launch n costs in g, after any passes: its operator's rule, the
// activation it applies, and all that it computes on load, once for each
// operand.  It reads each value with bytes once and writes each result once.
// Nothing where n is no launch: a view, a copy in place, or computed on load.
void node_cost(const Graph *g, const Node *n, Cost *cost);
void cost_add(Cost *sum, const Cost *cost);

// ---- for the operators' rules (Kernel.cost) ---------------------------------

// They say what n itself costs, wherever it is computed: flops without its
// activation, and bytes if it is a launch.  *cost is 0 before.

// One operation an element of the first result; every operand is read once and
// every result written once.
void cost_elementwise(const Graph *g, const Node *n, Cost *cost);
// What launch n moves where it reads what it is made from and writes its
// results; of operands that are updated, both.  Not workspaces, whose use is
// the library's affair.
int64_t cost_bytes(const Graph *g, const Node *n);
// All of it is the arithmetic of a product.
void cost_product(Cost *cost, int64_t flops);

// Of numbers that are not negative, or the largest number there is.
int64_t capped_product(int64_t a, int64_t b);
int64_t capped_sum(int64_t a, int64_t b);

#endif
