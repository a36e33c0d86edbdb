// The one product and sum that a GPU must make at once to be quick.
#pragma once
#include <cuda_runtime.h>
#include "../vec/real.cuh"

// mul_add: a * b + c.  A GPU rounds once, in spite of -fmad=false; the host runtime twice.
#ifndef mul_add
#define mul_add fma
#endif
