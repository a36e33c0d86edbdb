// Storage types of numbers.  Arithmetic is in the graph's real type.  Pass
// lower_precision stores maps in 16 bits; their readers convert them to real.
#ifndef CNNC_DTYPE_H
#define CNNC_DTYPE_H

#include "op/op.h"

// True for types of 16 bits.
bool is_half(DType dtype);
// True for types of real numbers.
bool is_real(DType dtype);
// Returns x as stored: in 16 bits rounded to nearest even, infinite past the
// largest number; otherwise x.  NaN stays NaN.
double rounded(DType dtype, double x);
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
