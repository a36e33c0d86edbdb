// Tiles and splits: into what blocks a product over maps is cut.
#ifndef CNNC_GEMM_TILE_H
#define CNNC_GEMM_TILE_H

#include "gpu_model.h"
#include "../op/op.h"
#include "precision.h"

// A block's share of a product, rows x columns; rows_each x columns_each of
// that are a thread's, in the GemmTile of runtime/support/gemm/product.cuh, or
// a warp's, in the TensorTile of runtime/support/gemm/tensor.cuh.
typedef struct Tile {
    int rows, columns, rows_each, columns_each;
    int stages;                 // of a TensorTile; 0: it is a GemmTile
    ProductType type;
} Tile;

// What a product is for, since what it loads and stores differs by that.
typedef enum ProductRole {
    PRODUCT_FORWARD, PRODUCT_POOLED, PRODUCT_DGRAD, PRODUCT_WGRAD,
    PRODUCT_ROLES
} ProductRole;

// A product: `times` tables of rows x columns sums, each of depth terms; vec:
// how many elements lie side by side at least in what it reads, a multiple of
// so many.
typedef struct ProductSize {
    int64_t     rows, columns, depth, times, vec;
    ProductType type;
    ProductRole role;
} ProductSize;

// For products with a row a pixel and a column a channel.
Tile tile_of_pixels(const Graph *g, const ProductSize *size);
// For products with a row a filter and a column a weight of it, whose depth is
// split at will.
Tile tile_of_weights(const Graph *g, const ProductSize *size);

int64_t tile_count(Tile tile, int64_t rows, int64_t columns);
int tile_threads(Tile tile);
// The tile as the launch's next template argument; on tensor cores the launch
// keeps the size.
void launch_tile(Launch *l, Tile tile, const ProductSize *size);

// tensor_core_tile.c: the tile that a product on tensor cores was measured to
// be the fastest in on the graph's GPU; where it was not, in the model of that.
Tile tensor_tile(const Graph *g, const ProductSize *size);

// The candidates, in the order in which they are looked at.
enum { TENSOR_TILES = 5 };
const Tile *tensor_tile_at(int number);
// The number of that which takes the least time in the model.
int modelled_tile(const Gpu *gpu, const ProductSize *size);
// The candidate of that size; NULL if there is none.
const Tile *find_tensor_tile(int64_t rows, int64_t columns);
// All of them: "128x128, 128x64, ...".
const char *tensor_tile_names(Arena *arena);

// The products on tensor cores among the launches of g, different ones once, in
// order; returns how many.
int graph_products(const Graph *g, ProductKey **keys);

// What a GPU's file calls types and roles; NULL: one that it has no lines for.
extern const char *const product_type_names[PRODUCT_TYPES];
extern const char *const product_role_names[PRODUCT_ROLES];
ProductKey product_key(const ProductSize *size);
bool same_product(const ProductKey *a, const ProductKey *b);
// "f16 dgrad 100352 64 576 1", as behind the word tile in a GPU's file.
const char *product_text(Arena *arena, const ProductKey *key);

// Into how many splits a sum over pixels falls, at most `most`, where a split
// has `blocks` blocks.
int64_t tile_splits(int64_t blocks, int64_t pixels, int64_t most);
// Room for the partial sums of a parameter's gradient: a first dimension more.
ValueId split_sums(Graph *g, ValueId param, int64_t splits);

#endif
