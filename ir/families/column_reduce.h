// Sums of the columns of a matrix of elements [rows, columns]: how they are
// cut into blocks (runtime/support/vec/columns.cuh).  The columns of a map are
// its channels, its rows the pixels of all samples.
#ifndef CNNC_COLUMN_REDUCE_H
#define CNNC_COLUMN_REDUCE_H

#include "../op/op.h"

enum { COLUMNS_BLOCK = 256 };   // threads

// The last dimension, and all before it.
int64_t columns_of(Shape shape);
int64_t rows_of(Shape shape);

// Into how many runs the rows are split: few and long for sums, many and short
// where elements are made one by one, by threads of `vec` columns.
int64_t columns_splits(Shape shape);
int64_t columns_runs(Shape shape, int64_t vec);

// A launch of a kernel with a block for each run of each tile of columns; its
// constants are ROWS, C, WIDTH and SPLITS.
void launch_columns(Launch *l, const char *kernel, int64_t rows,
                    int64_t columns, int64_t splits);

// A launch of a kernel that sums few rows, a tile of up to COLUMNS_BLOCK
// columns a block: as the last block of a launch does with what all of them
// left.
void launch_wide_columns(Launch *l, const char *kernel, int64_t rows,
                         int64_t columns);

#endif
