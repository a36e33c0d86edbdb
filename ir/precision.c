// What numbers a graph computes with, for those who name them and for the
// interpreter, which computes in double.
//
// TF32 has the exponent of single precision and 10 bits of mantissa.  Operands
// are rounded to the nearest, of two as near to the larger in magnitude, as the
// PTX instruction cvt.rna.tf32.f32 does; what is too small for single
// precision does not occur where it would matter.
#include "precision.h"
#include <math.h>

const char *precision_name(const Graph *g)
{
    return g->tf32 ? "tf32" : dtype_names[g->real];
}

static double round_tf32(double x)
{
    enum { MANTISSA = 10 };
    int exponent;
    if (x == 0 || !isfinite(x)) return x;
    frexp(x, &exponent);        // of a fraction from a half to one
    double unit = ldexp(1, exponent - 1 - MANTISSA);
    return round(x / unit) * unit;
}

double *product_operands(const Graph *g, Arena *arena, double *x,
                         int64_t count)
{
    if (!g->tf32) return x;
    double *rounded = NEW_ARRAY(arena, (size_t)count, double);
    for (int64_t i = 0; i < count; i++) rounded[i] = round_tf32(x[i]);
    return rounded;
}
