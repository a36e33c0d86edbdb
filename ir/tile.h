// Tiles and splits: into what blocks a product over maps is cut.
#ifndef CNNC_TILE_H
#define CNNC_TILE_H

#include "op.h"
#include "precision.h"

// A block's share of a product, rows x columns; rows_each x columns_each of
// that are a thread's, in the BlockTile of runtime/support/product.cuh, or a
// warp's, in the TensorTile of runtime/support/tensor.cuh.
typedef struct Tile {
    int rows, columns, rows_each, columns_each;
    int stages;                 // of a TensorTile; 0: it is a BlockTile
    ProductType type;
} Tile;

// A product: `times` tables of rows x columns sums, each of depth terms; pack:
// how many elements lie side by side at least in what it reads, a multiple of
// so many.
typedef struct ProductSize {
    int64_t     rows, columns, depth, times, pack;
    ProductType type;
} ProductSize;

// For products with a row a pixel and a column a channel.
Tile tile_of_pixels(const Graph *g, const ProductSize *size);
// For products with a row a filter and a column a weight of it, whose depth is
// split at will.
Tile tile_of_weights(const Graph *g, const ProductSize *size);

int64_t tile_count(Tile tile, int64_t rows, int64_t columns);
int tile_threads(Tile tile);
// The tile as the launch's next template argument.
void launch_tile(Launch *l, Tile tile);

// tensor_tile.c: the tile of a product on tensor cores that takes the least
// time in its model of the graph's GPU; where `split`, the depth is shared out
// such that no multiprocessor waits.
Tile tensor_tile(const Graph *g, const ProductSize *size, bool split);

// The candidate of that size; NULL if there is none.
const Tile *find_tensor_tile(int64_t rows, int64_t columns);
// All of them: "128x128, 128x64, ...".
const char *tensor_tile_names(Arena *arena);

// Into how many splits a sum over pixels falls, at most `most`, where a split
// has `blocks` blocks.
int64_t tile_splits(int64_t blocks, int64_t pixels, int64_t most);
// Room for the partial sums of a parameter's gradient: a first dimension more.
ValueId split_sums(Graph *g, ValueId param, int64_t splits);

#endif
