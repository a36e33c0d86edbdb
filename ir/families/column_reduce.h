// Sums of the columns of a matrix [rows, columns], and their distribution over
// blocks (runtime/support/vec/columns.cuh).  The columns of a map are its
// channels; its rows are the pixels of all samples.
#ifndef CNNC_COLUMN_REDUCE_H
#define CNNC_COLUMN_REDUCE_H

#include "../op/op.h"

enum { COLUMNS_BLOCK = 256 };   // threads
enum { FEW_ROWS = 256 };        // of a sum that one launch makes

// Return the last dimension, and the product of all others.
int64_t columns_of(Shape shape);
int64_t rows_of(Shape shape);

// Return the number of runs of rows: few and long for sums; many and short for
// elementwise kernels, with threads of `pack` columns.
int64_t columns_splits(Shape shape);
int64_t columns_runs(Shape shape, int64_t vec);

// Launches a kernel with a block for each run of each tile of columns.  Its
// constants are ROWS, C, WIDTH and SPLITS.
void launch_columns(Launch *l, const char *kernel, int64_t rows,
                    int64_t columns, int64_t splits);

// Launches a kernel that sums few rows, such as partial sums.  A block has a
// tile of up to COLUMNS_BLOCK columns.
void launch_wide_columns(Launch *l, const char *kernel, int64_t rows,
                         int64_t columns);

// Launches column_sums (runtime/kernels/sum_splits.cuh), which adds the rows of
// one or two matrices with `columns` columns in all.  Returns the columns of a
// block, the member width of SplitSums.
int64_t launch_column_sums(Launch *l, int64_t columns);

// Makes the gradient of a bias that is added to each row: the column sums of
// dz.  Nothing if the bias is not trained.
void column_gradient(Gradient *c, ValueId bias, ValueId dz);

#endif
