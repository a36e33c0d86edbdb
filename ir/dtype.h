// What numbers are stored in.  Arithmetic is in the graph's real type; pass
// lower_precision stores maps in 16 bits, and what reads them makes reals of
// them.
#ifndef CNNC_DTYPE_H
#define CNNC_DTYPE_H

#include "op/op.h"

// Whether it is of 16 bits.
bool is_half(DType dtype);
// Whether it holds real numbers, in however many bits.
bool is_real(DType dtype);
// x as it is stored: of 16 bits the nearest, of two the even one, infinite
// where it would round past the largest; else x itself.  NaN stays.
double rounded(DType dtype, double x);
// The smallest and the largest positive number that F32 or F64 holds with all
// its digits, and "float" or "double".
double least_normal(DType real);
double largest_normal(DType real);
const char *real_name(DType real);
// True if a literal of this type, F32 or F64, stands for x: x is 0, or neither
// smaller nor larger than those.
bool can_hold(DType real, double x);
// What kernels call what of this type is stored in.
const char *stored_name(DType dtype);

// Whether the program says that v, or what it is the gradient of, has 32 bits.
bool keeps_f32(const Graph *g, ValueId v);
// Whether every slot of n that has v may hold 16 bits, as ops.def marks it.
bool takes_half(const Node *n, ValueId v);

#endif
