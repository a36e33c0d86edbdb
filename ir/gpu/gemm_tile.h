// Tiles and splits of GEMMs over maps.
#ifndef CNNC_GEMM_TILE_H
#define CNNC_GEMM_TILE_H

#include "gpu_model.h"
#include "../op/op.h"
#include "precision.h"

// The tile of a block, rows x columns.  Each thread computes rows_each x
// columns_each of it in the BlockTile of runtime/support/gemm/product.cuh; in
// the TensorTile of runtime/support/gemm/tensor.cuh, each warp does.
typedef struct Tile {
    int rows, columns, rows_each, columns_each;
    int stages;                 // of a TensorTile; 0: it is a GemmTile
    ProductType type;
} Tile;

// The role of a product, which determines its loads and stores.
typedef enum ProductRole {
    PRODUCT_FORWARD, PRODUCT_POOLED, PRODUCT_DGRAD, PRODUCT_WGRAD,
    PRODUCT_ROLES
} ProductRole;

// The size of a product: `times` matrices of rows x columns sums of depth terms
// each.  All runs of contiguous elements in its operands are multiples of
// `pack`.
typedef struct ProductSize {
    int64_t     rows, columns, depth, times, vec;
    ProductType type;
    ProductRole role;
} ProductSize;

// Returns the tile of a product with pixels as rows and channels as columns.
Tile tile_of_pixels(const Graph *g, const ProductSize *size);
// Returns the tile of a product with filters as rows and their weights as
// columns, whose depth may be split.
Tile tile_of_weights(const Graph *g, const ProductSize *size);

int64_t tile_count(Tile tile, int64_t rows, int64_t columns);
int tile_threads(Tile tile);
// Adds the tile as the launch's next template argument; on tensor cores the
// launch also stores the size.
void launch_tile(Launch *l, Tile tile, const ProductSize *size);

// Adds integers of 8 bits as an array of Pairs (support/gemm/mma_8.cuh) or,
// without tensor cores, of Quads (support/gemm/dot_8.cuh).
void launch_packed(Launch *l, ValueId v);
// Returns the type of such an array, and of its elements.
const char *packed_type(const Graph *g, const Value *value);
const char *packed_name(const Graph *g);

// tensor_core_tile.c: returns the tile measured as the fastest for a product on
// the graph's GPU, or, without a measurement, the fastest in the model.
Tile tensor_tile(const Graph *g, const ProductSize *size);

// The candidates, in the order of trial.
enum { TENSOR_TILES = 5 };
const Tile *tensor_tile_at(int number);
// Returns the index of the candidate with the least time in the model.
int modelled_tile(const Gpu *gpu, const ProductSize *size);
// Returns the candidate of that size, or NULL.
const Tile *find_tensor_tile(int64_t rows, int64_t columns);
// Returns the registers that a thread of a product in this tile has.
int tile_registers(const Tile *t, ProductType type);
// Lists all of them: "128x128, 128x64, ...".
const char *tensor_tile_names(Arena *arena);

// Sets *keys to the distinct products on tensor cores among the launches of g,
// in order; returns their number.
int graph_products(const Graph *g, ProductKey **keys);

// Names of types and roles in a GPU's file; NULL for those without lines.
extern const char *const product_type_names[PRODUCT_TYPES];
extern const char *const product_role_names[PRODUCT_ROLES];
ProductKey product_key(const ProductSize *size);
bool same_product(const ProductKey *a, const ProductKey *b);
// Formats "f16 dgrad 100352 64 576 1", as after the word tile in a GPU's file.
const char *product_text(Arena *arena, const ProductKey *key);

// True if a launch leaves multiprocessors without a block.
bool is_few_blocks(int64_t blocks);

// Returns the number of splits of a sum over pixels, at most `most`, if a split
// has `blocks` blocks.  The multiprocessor with the most blocks has the fewest
// pixels then.
int64_t tile_splits(int64_t blocks, int64_t pixels, int64_t most);
// Makes the value for partial sums of a parameter's gradient: [splits, ...].
ValueId split_sums(Graph *g, ValueId param, int64_t splits);

#endif
