// Where in a matrix an element lies.
#pragma once
#include <cuda_runtime.h>

// Cell: a row and a column.
struct Cell { long long row, column; };

// cell_of: that of element i where rows have `width` elements.  Where i is small, below 2^31, its
// digits are cheaper to find.
static __device__ inline Cell cell_of(long long i, long long width, bool small)
{
    if (!small) return {i / width, i % width};
    return {(unsigned)i / (unsigned)width, (unsigned)i % (unsigned)width};
}
