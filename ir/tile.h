// Tiles and splits: into what blocks a product over maps is cut.
#ifndef CNNC_TILE_H
#define CNNC_TILE_H

#include "op.h"

// A block's share of a product, rows x columns, and a thread's of that; the
// BlockTile of runtime/support/product.cuh.
typedef struct Tile {
    int rows, columns, rows_each, columns_each;
} Tile;

// For products with a row a pixel and a column a channel, of which there are
// `times`.
Tile tile_of_pixels(int64_t pixels, int64_t channels, int64_t times);
// For products with a row a filter and a column a weight of it.
Tile tile_of_weights(int64_t filters, int64_t weights);

int64_t tile_count(Tile tile, int64_t rows, int64_t columns);
int tile_threads(Tile tile);
// The tile as the launch's next template argument.
void launch_tile(Launch *l, Tile tile);

// Into how many splits a sum over pixels falls, at most `most`, where a split
// has `blocks` blocks.
int64_t tile_splits(int64_t blocks, int64_t pixels, int64_t most);
// Room for the partial sums of a parameter's gradient: a first dimension more.
ValueId split_sums(Graph *g, ValueId param, int64_t splits);

#endif
