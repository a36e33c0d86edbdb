// What numbers a graph computes with.
#ifndef CNNC_PRECISION_H
#define CNNC_PRECISION_H

#include "ir.h"

// As --precision has it: f32, tf32, f64.
const char *precision_name(const Graph *g);
// So many numbers as products of g read them: x, or a copy in the arena, each
// rounded to TF32.
double *product_operands(const Graph *g, Arena *arena, double *x,
                         int64_t count);

#endif
