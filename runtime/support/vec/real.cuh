// The number type of every kernel.
#pragma once
#include <cuda_runtime.h>

// real: the type of parameters, activations and sums.  An emitted file replaces this choice by a
// typedef.
#ifdef CNNC_F64
typedef double real;
#else
typedef float real;
#endif
