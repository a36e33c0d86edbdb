// Loops over elements, for grids of any size.
#pragma once
#include <cuda_runtime.h>

// FOR_OWN: thread t of the grid takes i = t, t + threads, t + 2 * threads, ... below count.
#define FOR_OWN(i, count)                                                                   \
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < (count);       \
         i += (long long)gridDim.x * blockDim.x)

// FOR_EACH: FOR_OWN in an ELEMENTWISE kernel.
#ifndef FOR_EACH
#define FOR_EACH FOR_OWN
#endif

// ELEMENTWISE: the rest of the kernel consists of FOR_EACH, whose turns may come in any order, of
// work for thread 0 and of barriers.  On the host thread 0 takes the turns of its block.
#ifndef ELEMENTWISE
#define ELEMENTWISE
#endif
