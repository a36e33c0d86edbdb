// Types of numbers, and rounding to them.
#include <float.h>
#include <math.h>
#include "dtype.h"

const char *const dtype_names[DTYPE_COUNT] = {
    "f32", "f64", "f16", "bf16", "i32", "u8", "i8",
};

int dtype_bytes(DType dtype)
{
    static const int bytes[DTYPE_COUNT] = { 4, 8, 2, 2, 4, 1, 1 };
    return bytes[dtype];
}

bool is_half(DType dtype)
{
    return dtype == F16 || dtype == BF16;
}

bool is_real(DType dtype)
{
    return dtype == F32 || dtype == F64 || is_half(dtype);
}

double least_normal(DType real)
{
    return real == F64 ? DBL_MIN : FLT_MIN;
}

double largest_normal(DType real)
{
    return real == F64 ? DBL_MAX : FLT_MAX;
}

const char *real_name(DType real)
{
    return real == F64 ? "double" : "float";
}

bool can_hold(DType real, double x)
{
    double size = fabs(x);
    return size == 0 ||
           (size >= least_normal(real) && size <= largest_normal(real));
}

bool has_reals(const Value *value)
{
    return is_real(value->dtype) || value->scale != NONE;
}

// Returns the digits of the significand (IEEE 754, 3.6): binary16 has 11,
// bfloat16 has 8.
static int half_digits(DType dtype)
{
    return dtype == F16 ? 11 : 8;
}

const char *stored_name(DType dtype)
{
    static const char *const names[DTYPE_COUNT] = {
        [F32] = "real", [F64] = "real", [I32] = "int32_t", [U8] = "uint8_t",
        [I8] = "int8_t", [F16] = "f16", [BF16] = "bf16",
    };
    return names[dtype];
}

// Numbers of one exponent are integral multiples of a unit; subnormal numbers
// share the unit of the smallest normal one.  Scaling by powers of two is
// exact.
double rounded(DType dtype, double x)
{
    int least = dtype == F16 ? -13 : -125, most = dtype == F16 ? 16 : 128;
    int exponent;

    if (!is_half(dtype) || !isfinite(x) || x == 0) return x;
    frexp(x, &exponent);        // |x| in [1/2, 1) * 2^exponent
    int unit = (exponent < least ? least : exponent) - half_digits(dtype);
    double near = ldexp(nearbyint(ldexp(x, -unit)), unit);
    return fabs(near) < ldexp(1, most) ? near : copysign(INFINITY, x);
}

double nearest_integer(DType dtype, double x, double scale)
{
    double least = dtype == U8 ? 0 : -127, most = dtype == U8 ? 255 : 127;
    double near = nearbyint(x * (double)(float)(1 / scale));
    return fmin(fmax(near, least), most) * scale;
}

uint16_t half_bits(DType dtype, double x)
{
    if (!is_half(dtype)) return 0;
    int digits = half_digits(dtype) - 1, range = dtype == F16 ? 0x1F : 0xFF;
    int least = 2 - range / 2, exponent, sign = signbit(x) ? 0x8000 : 0;
    double near = fabs(rounded(dtype, x));
    if (isnan(x)) return (uint16_t)(sign | range << digits | 1 << (digits - 1));
    if (isinf(near)) return (uint16_t)(sign | range << digits);
    frexp(near, &exponent);
    if (near == 0 || exponent < least) exponent = least;
    // The bit above the fraction is 0 in a subnormal number.
    int units = (int)ldexp(near, digits + 1 - exponent);
    return (uint16_t)(sign | (((exponent - least) << digits) + units));
}

static bool all_take(const char *list, int count, const ValueId *ids, ValueId v)
{
    Slot slots[MAX_SLOTS];
    int slot_count = kernel_slots(list, slots, MAX_SLOTS);
    for (int k = 0; k < count; k++)
        if (ids[k] == v && !slot_at(slots, slot_count, k)->typed) return false;
    return true;
}

bool takes_half(const Node *n, ValueId v)
{
    return all_take(kernel_operands(n->op, n->kernel), n->operand_count,
                    n->operands, v) &&
           all_take(n->op->kernels[n->kernel].results, n->result_count,
                    n->results, v);
}

bool keeps_f32(const Graph *g, ValueId v)
{
    const Value *value = &g->values[v];
    return value->keep_f32 || (value->gradient_of != NONE &&
                               g->values[value->gradient_of].keep_f32);
}
