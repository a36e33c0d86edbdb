// The number formats of a graph.
#ifndef CNNC_PRECISION_H
#define CNNC_PRECISION_H

#include "../ir.h"

// The format to which a product rounds its operands.  Sums are real always; all
// but PRODUCT_REAL run on tensor cores.
typedef enum ProductType {
    PRODUCT_REAL, PRODUCT_TF32, PRODUCT_F16, PRODUCT_BF16,
    PRODUCT_TYPES
} ProductType;

// Returns the name in --precision: f32, tf32, f16, bf16, f64.
const char *precision_name(const Graph *g);
// Returns the type of a product of g whose maps are a and b: PRODUCT_REAL if
// one of them is float32, or if the GPU lacks such tensor cores (sm_80).
ProductType product_type(const Graph *g, ValueId a, ValueId b);
// Returns the bytes of an operand's element in shared memory; of a real, those
// of single precision.
int product_bytes(ProductType type);
// Returns count operands rounded as such products read them: x itself, or a
// copy in the arena.
double *product_operands(ProductType type, Arena *arena, double *x,
                         int64_t count);

#endif
