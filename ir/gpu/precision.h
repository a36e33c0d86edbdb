// The number formats of a graph.
#ifndef CNNC_PRECISION_H
#define CNNC_PRECISION_H

#include "../ir.h"

// The format to which a product rounds its operands.  Sums are real, or
// integers of 32 bits.  All but PRODUCT_REAL run on tensor cores; those of
// integers also run without.
typedef enum ProductType {
    PRODUCT_REAL, PRODUCT_TF32, PRODUCT_F16, PRODUCT_BF16,
    PRODUCT_U8, PRODUCT_I8,     // of maps with such integers, and I8
    PRODUCT_TYPES
} ProductType;

// Returns the name in --precision: f32, tf32, f16, bf16, f64.
const char *precision_name(const Graph *g);
// Returns the type of a product of g whose maps are a and b: PRODUCT_REAL if
// one of them is float32, or if the GPU lacks such tensor cores (sm_80), and
// for integers also the instruction dp4a (sm_61).
ProductType product_type(const Graph *g, ValueId a, ValueId b);
// Returns the bytes of an operand's element in shared memory; of a real, those
// of single precision.
int product_bytes(ProductType type);
// The channels that a product of integers reads at once.
enum { INTEGERS_AT_ONCE = 4 };
// True if products of this type run on the tensor cores of the graph's GPU.
bool is_on_tensor_cores(const Graph *g, ProductType type);
// Returns how many adjacent integers are an element of such products: 2, or 4
// without tensor cores.
int packed_integers(const Graph *g);
// Returns the type if integers are multiplied by a weight: PRODUCT_REAL where
// the weight has none, or has too few in a row.
ProductType weighed(const Graph *g, ProductType type, ValueId weight);
// True if products are of integers, and sums are.
bool adds_integers(ProductType type);
// Returns count operands rounded as such products read them: x itself, or a
// copy in the arena.
double *product_operands(ProductType type, Arena *arena, double *x,
                         int64_t count);

#endif
