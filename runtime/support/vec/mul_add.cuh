// The fused multiply-add, which inner products and normalized elements need on a GPU.
#pragma once
#include <cuda_runtime.h>
#include "real.cuh"

// mul_add: a * b + c.  A GPU rounds once, despite -fmad=false; the host runtime rounds twice.
#ifndef mul_add
#define mul_add fma
#endif
