// Distributes sums over the rows of a matrix: a block takes some columns, for
// contiguous reads, and a run of rows.  It depends only on the shape, so that
// the order of every sum is fixed.
#include <string.h>
#include "column_reduce.h"
#include "../gpu/gemm_tile.h"

int64_t columns_of(Shape shape)
{
    return shape.dim[shape.rank - 1];
}

int64_t rows_of(Shape shape)
{
    return elements(shape) / columns_of(shape);
}

// Returns the columns of a block: a power of two, at most 32.
static int64_t columns_width(int64_t columns)
{
    int64_t width = 1;
    while (width < columns && width < 32) width *= 2;
    return width;
}

// Returns the largest number of splits with 64 rows for each thread and at most
// about two blocks for each multiprocessor of a large GPU.  Rows are halved,
// down to 16, while there are fewer blocks than multiprocessors.
int64_t columns_splits(Shape shape)
{
    enum { MOST_ROWS = 64, LEAST_ROWS = 16, BLOCKS = 256 };
    int64_t columns = columns_of(shape), width = columns_width(columns);
    int64_t tiles = ceil_div(columns, width), most = BLOCKS / tiles;
    int64_t useful = 0;
    for (int64_t rows = MOST_ROWS;
         rows >= LEAST_ROWS && is_few_blocks(useful * tiles); rows /= 2)
        useful = rows_of(shape) / (rows * (COLUMNS_BLOCK / width));
    int64_t splits = useful < most ? useful : most;
    return splits > 1 ? splits : 1;
}

// Eight rows for each thread, or two and more as above, and at most as many
// blocks as a grid may have.
int64_t columns_runs(Shape shape, int64_t vec)
{
    enum { ROWS = 8, LEAST_ROWS = 2, MOST = 1 << 20 };
    int64_t columns = columns_of(shape), width = columns_width(columns);
    int64_t runs = 0;
    for (int64_t rows = ROWS;
         rows >= LEAST_ROWS && is_few_blocks(runs * ceil_div(columns, width));
         rows /= 2)
        runs = ceil_div(rows_of(shape), rows * (COLUMNS_BLOCK / width) * vec);
    return runs < MOST ? runs : MOST;
}

void launch_wide_columns(Launch *l, const char *kernel, int64_t rows,
                         int64_t columns)
{
    int64_t width = 1;
    while (width < columns && width < COLUMNS_BLOCK) width *= 2;
    launch_kernel(l, kernel, ceil_div(columns, width), COLUMNS_BLOCK);
    launch_constant(l, "ROWS", rows);
    launch_constant(l, "C", columns);
    launch_constant(l, "WIDTH", width);
    launch_constant(l, "SPLITS", 1);
}

int64_t launch_column_sums(Launch *l, int64_t columns)
{
    enum { FEWEST = 8, FULL = 132 };    // columns of a block, blocks
    int64_t width = COLUMNS_BLOCK;
    while (width > FEWEST && columns < FULL * width) width /= 2;
    launch_kernel(l, "column_sums", ceil_div(columns, width), COLUMNS_BLOCK);
    return width;
}

void launch_columns(Launch *l, const char *kernel, int64_t rows,
                    int64_t columns, int64_t splits)
{
    int64_t width = columns_width(columns);
    launch_kernel(l, kernel, splits * ceil_div(columns, width), COLUMNS_BLOCK);
    launch_constant(l, "ROWS", rows);
    launch_constant(l, "C", columns);
    launch_constant(l, "WIDTH", width);
    launch_constant(l, "SPLITS", splits);
}

// ---- the gradient of a bias -------------------------------------------------

static void sum_columns(Gradient *c, ValueId dz, ValueId result,
                        int64_t splits)
{
    NodeId id = gradient_node(c, ops[OP_bias], 1, 1, &dz, 1, &result);
    Attr *attr = c->g->nodes[id].attr;
    memset(attr, 0, sizeof c->g->nodes[id].attr);
    attr[0].i = splits;
}

void column_gradient(Gradient *c, ValueId bias, ValueId dz)
{
    Graph *g = c->g;
    if (!c->wanted[bias]) return;
    ValueId db = gradient_value_of(c, bias);
    Value v = g->values[db];
    Shape dy = g->values[dz].shape;
    int64_t splits = columns_splits(dy);
    if (dy.rank == 2 && rows_of(dy) <= FEW_ROWS && g->map == g->real) {
        gradient_node(c, ops[OP_sum_splits], 0, 2, (ValueId[]){ dz, NONE }, 2,
                      (ValueId[]){ db, NONE });
    } else if (splits == 1) {
        sum_columns(c, dz, db, splits);
    } else {
        ValueId partials = graph_value(
            g, arena_print(g->arena, "%s.partials", v.name), WORKSPACE,
            v.dtype, shape_of(2, splits, v.shape.dim[0]), v.pos);
        sum_columns(c, dz, partials, splits);
        gradient_node(c, ops[OP_sum_splits], 0, 2,
                      (ValueId[]){ partials, NONE }, 2,
                      (ValueId[]){ db, NONE });
    }
    gradient_add_to(c, bias, db);
}
