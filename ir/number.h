// What numbers are stored in.  Arithmetic is in the graph's real type; pass
// half stores maps in 16 bits, and what reads them makes reals of them.
#ifndef CNNC_NUMBER_H
#define CNNC_NUMBER_H

#include "op.h"

// Whether it is of 16 bits.
bool is_half(DType dtype);
// Whether it holds real numbers, in however many bits.
bool is_real(DType dtype);
// x as it is stored: of 16 bits the nearest, of two the even one, infinite
// where it would round past the largest; else x itself.  NaN stays.
double rounded(DType dtype, double x);
// What kernels call what of this type is stored in.
const char *stored_name(DType dtype);

// Whether the program says that v, or what it is the gradient of, has 32 bits.
bool is_wide(const Graph *g, ValueId v);
// Whether every slot of n that has v may hold 16 bits, as ops.def marks it.
bool takes_half(const Node *n, ValueId v);

#endif
