// What numbers a graph computes with.
#ifndef CNNC_PRECISION_H
#define CNNC_PRECISION_H

#include "../ir.h"

// What operands of a product are rounded to as it reads them.  Sums are real in
// any case; all but PRODUCT_REAL are made on tensor cores.
typedef enum ProductType {
    PRODUCT_REAL, PRODUCT_TF32, PRODUCT_F16, PRODUCT_BF16,
    PRODUCT_TYPES
} ProductType;

// As --precision has it: f32, tf32, f16, bf16, f64.
const char *precision_name(const Graph *g);
// Of a product of g whose maps are a and b: that of g, but PRODUCT_REAL where
// one of them is keep_f32, or the GPU has no such tensor cores (sm_80).
ProductType product_type(const Graph *g, ValueId a, ValueId b);
// So many numbers as such products read them: x, or a copy in the arena, each
// rounded.
double *product_operands(ProductType type, Arena *arena, double *x,
                         int64_t count);

#endif
