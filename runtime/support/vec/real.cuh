// The number type that every kernel is written over.
#pragma once
#include <cuda_runtime.h>

// real: what parameters and activations are stored in, and what sums are made in.  An emitted
// file has one typedef of its own in place of this choice.
#ifdef CNNC_F64
typedef double real;
#else
typedef float real;
#endif
