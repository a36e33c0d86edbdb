// The position of an element in a matrix.
#pragma once
#include <cuda_runtime.h>

// Cell: a row and a column.
struct Cell { long long row, column; };

// cell_of: the Cell of element i in rows of `width` elements.  If i is small, below 2^31, the
// division is cheaper.
static __device__ inline Cell cell_of(long long i, long long width, bool small)
{
    if (!small) return {i / width, i % width};
    return {(unsigned)i / (unsigned)width, (unsigned)i % (unsigned)width};
}
