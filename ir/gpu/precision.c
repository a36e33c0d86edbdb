// The number formats of a graph, for their names and for the interpreter, which
// computes in double.
//
// TF32 has the exponent of single precision and 10 bits of mantissa.  Operands
// are rounded to nearest, ties away from zero, as by the PTX instruction
// cvt.rna.tf32.f32.  Numbers too small for single precision do not occur where
// they would matter.
#include "precision.h"
#include <math.h>
#include "gpu_model.h"
#include "../dtype.h"

const char *precision_name(const Graph *g)
{
    if (g->tf32) return "tf32";
    return g->map == I8 ? "int8" : dtype_names[g->map];
}

// The first GPUs with tensor cores for these products, and with dp4a.
enum { TENSOR_SM = 80, DOT_SM = 61 };

ProductType product_type(const Graph *g, ValueId a, ValueId b)
{
    if (g->tf32) return PRODUCT_TF32;
    if (g->map == I8 && g->values[a].scale != NONE &&
        graph_gpu(g)->sm >= DOT_SM)
        return g->values[a].integer == U8 ? PRODUCT_U8 : PRODUCT_I8;
    if (!is_half(g->map) || keeps_f32(g, a) || keeps_f32(g, b) ||
        graph_gpu(g)->sm < TENSOR_SM)
        return PRODUCT_REAL;
    return g->map == F16 ? PRODUCT_F16 : PRODUCT_BF16;
}

bool adds_integers(ProductType type)
{
    return type == PRODUCT_U8 || type == PRODUCT_I8;
}

bool is_on_tensor_cores(const Graph *g, ProductType type)
{
    return type != PRODUCT_REAL && graph_gpu(g)->sm >= TENSOR_SM;
}

int packed_integers(const Graph *g)
{
    return is_on_tensor_cores(g, PRODUCT_I8) ? 2 : 4;
}

ProductType weighed(const Graph *g, ProductType type, ValueId weight)
{
    const Value *value = &g->values[weight];
    bool fits = value->scale != NONE &&
                value->shape.dim[value->shape.rank - 1] % INTEGERS_AT_ONCE == 0;
    return adds_integers(type) && !fits ? PRODUCT_REAL : type;
}

int product_bytes(ProductType type)
{
    if (adds_integers(type)) return 1;
    return type == PRODUCT_F16 || type == PRODUCT_BF16 ? 2 : 4;
}

static double round_tf32(double x)
{
    enum { MANTISSA = 10 };
    int exponent;
    if (x == 0 || !isfinite(x)) return x;
    frexp(x, &exponent);        // fraction in [0.5, 1)
    double unit = ldexp(1, exponent - 1 - MANTISSA);
    return round(x / unit) * unit;
}

static double round_for(ProductType type, double x)
{
    if (type == PRODUCT_TF32) return round_tf32(x);
    return rounded(type == PRODUCT_F16 ? F16 : BF16, x);
}

double *product_operands(ProductType type, Arena *arena, double *x,
                         int64_t count)
{
    if (type == PRODUCT_REAL || adds_integers(type)) return x;
    double *copy = NEW_ARRAY(arena, (size_t)count, double);
    for (int64_t i = 0; i < count; i++) copy[i] = round_for(type, x[i]);
    return copy;
}
