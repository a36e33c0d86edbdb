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
    return g->tf32 ? "tf32" : dtype_names[g->map];
}

ProductType product_type(const Graph *g, ValueId a, ValueId b)
{
    enum { FIRST_SM = 80 };
    if (g->tf32) return PRODUCT_TF32;
    if (!is_half(g->map) || keeps_f32(g, a) || keeps_f32(g, b) ||
        graph_gpu(g)->sm < FIRST_SM)
        return PRODUCT_REAL;
    return g->map == F16 ? PRODUCT_F16 : PRODUCT_BF16;
}

int product_bytes(ProductType type)
{
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
    if (type == PRODUCT_REAL) return x;
    double *copy = NEW_ARRAY(arena, (size_t)count, double);
    for (int64_t i = 0; i < count; i++) copy[i] = round_for(type, x[i]);
    return copy;
}
