// Storage types of numbers.  Arithmetic is in the graph's real type.  Pass
// lower_precision stores maps in 16 bits; their readers convert them to real.
#ifndef CNNC_DTYPE_H
#define CNNC_DTYPE_H

#include "op/op.h"

// True for types of 16 bits.
bool is_half(DType dtype);
// True for types of real numbers.
bool is_real(DType dtype);
// True for values of real numbers: also integers with a scale.
bool has_reals(const Value *value);
// Returns x as stored: in 16 bits rounded to nearest even, infinite past the
// largest number; otherwise x.  NaN stays NaN.
double rounded(DType dtype, double x);
// Returns the multiple of scale nearest to x, ties to even, whose integer is of
// type U8, or I8 from -127 on.  Multiplies by the float 1 / scale.
double nearest_integer(DType dtype, double x, double scale);
// Returns the bits of rounded(dtype, x) for a type of 16 bits (IEEE 754, 3.4);
// 0 for other types.
uint16_t half_bits(DType dtype, double x);
// The smallest and largest positive normal numbers of F32 or F64, and "float"
// or "double".
double least_normal(DType real);
double largest_normal(DType real);
const char *real_name(DType real);
// True if a literal of this type, F32 or F64, represents x: x is 0 or within
// these limits in magnitude.
bool can_hold(DType real, double x);
// Returns the kernels' name for the storage type.
const char *stored_name(DType dtype);

// True if the program marks v, or the value that v is the gradient of, float32.
bool keeps_f32(const Graph *g, ValueId v);
// True if every slot of n that has v accepts 16 bits (^ in ops.def).
bool takes_half(const Node *n, ValueId v);

#endif
