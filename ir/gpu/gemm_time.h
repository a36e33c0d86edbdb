// The time of a GEMM's launch in the model: of its main loop, in the tiles that
// its kernel has.
#ifndef CNNC_GEMM_TIME_H
#define CNNC_GEMM_TIME_H

#include "gemm_tile.h"

// An operand of a GEMM: its lanes are rows of the result or columns.
typedef struct GemmOperand {
    int bytes;                  // of an element in memory
    int work;                   // instructions that an element takes if it is
                                // computed on load; 0: it is stored
} GemmOperand;

typedef struct Gemm {
    ProductSize size;
    Tile        tile;
    int64_t     splits;         // of the depth; 0: as many as fill the GPU
    GemmOperand rows, columns;
} Gemm;

// Returns the picoseconds of the GEMM's tiles, without the overhead of the
// launch; at least 1, saturates.  0 if the model of this GPU has no clock.
int64_t gemm_time(const Gpu *gpu, const Gemm *gemm);

// Returns the picoseconds of a depthwise convolution with these products; 0 if
// the model of this GPU has no clock.
int64_t depthwise_time(const Gpu *gpu, int64_t products);

// Returns the operand of a launch that value v is: computed on load, or stored.
GemmOperand gemm_operand(const Graph *g, ValueId v);

#endif
