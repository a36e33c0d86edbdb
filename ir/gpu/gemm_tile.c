// Chooses the tile of a product from its size alone.
//
// Large tiles have more reuse of each operand element; small tiles waste less
// on odd sizes and leave more blocks.  A thread computes 8x8 sums, 64 products
// for 16 elements from shared memory, which keeps the arithmetic busy.  It
// computes 4x4 if a block would have too few threads to load its tile.  A block
// needs as many threads as its tile has rows if rows are contiguous in memory.
//
// On tensor cores, tensor_core_tile.c chooses.
//
// If tiles are few and sums long, as in a weight gradient, the sum is split
// (split-K), and another launch adds the partial sums.
#include "gemm_tile.h"

enum {
    MULTIPROCESSORS = 132,
    BLOCKS = 2 * MULTIPROCESSORS,   // that fill a GPU
    SHORTEST_SPLIT = 256,       // pixels; shorter ones do not pay off
};

// Returns the widest of 64, 32 and 16 that wastes at most 25 % more than 32.
static int width_for(int64_t count)
{
    if (count <= 16) return 16;
    int64_t in_64 = ceil_div(count, 64) * 64, in_32 = ceil_div(count, 32) * 32;
    return 4 * in_64 > 5 * in_32 ? 32 : 64;
}

Tile tile_of_pixels(const Graph *g, const ProductSize *size)
{
    if (is_on_tensor_cores(g, size->type)) return tensor_tile(g, size);
    int width = width_for(size->columns);
    Tile tall = { 128, width, width == 16 ? 4 : 8, width == 64 ? 8 : 4, 0,
                  size->type };
    Tile low = { 64, width, 4, width == 64 ? 8 : 4, 0, size->type };
    int64_t blocks =
        size->times * tile_count(tall, size->rows, size->columns);
    return blocks >= BLOCKS ? tall : low;
}

Tile tile_of_weights(const Graph *g, const ProductSize *size)
{
    if (size->type != PRODUCT_REAL) return tensor_tile(g, size);
    int rows = size->rows <= 32 ? 32 : width_for(size->rows);
    int width = width_for(size->columns);
    return (Tile){ rows, width, 4, rows == 64 && width == 64 ? 8 : 4, 0,
                   PRODUCT_REAL };
}

int64_t tile_count(Tile tile, int64_t rows, int64_t columns)
{
    return ceil_div(rows, tile.rows) * ceil_div(columns, tile.columns);
}

int tile_threads(Tile tile)
{
    enum { WARP = 32 };
    int parts = tile.rows / tile.rows_each * (tile.columns / tile.columns_each);
    return tile.stages > 0 ? WARP * parts : parts;
}

void launch_tile(Launch *l, Tile tile, const ProductSize *size)
{
    const char *sizes = arena_print(l->g->arena, "%d, %d, %d, %d", tile.rows,
                                    tile.columns, tile.rows_each,
                                    tile.columns_each);
    static const char *const elements[] = {
        NULL, "Tf32", "F16", "Bf16", "UnsignedBytes", "SignedBytes" };
    static const char *const terms[] = {
        [PRODUCT_REAL] = "", [PRODUCT_U8] = ", UnsignedQuads",
        [PRODUCT_I8] = ", SignedQuads" };
    if (tile.stages == 0) {
        launch_type(l, arena_print(l->g->arena, "GemmTile<%s%s>", sizes,
                                   terms[tile.type]));
        return;
    }
    ProductSize *kept = NEW(l->g->arena, ProductSize);
    *kept = *size;
    l->product = kept;
    launch_type(l, arena_print(l->g->arena, "TensorTile<%s, %s, %d>",
                               elements[tile.type], sizes, tile.stages));
}

const char *packed_name(const Graph *g)
{
    return packed_integers(g) == 2 ? "const Pair" : "const Quad";
}

const char *packed_type(const Graph *g, const Value *value)
{
    const char *name = packed_name(g);
    if (value->view_rows <= 1) return arena_print(g->arena, "%s *", name);
    const char *slice =
        slice_arguments_as(g, value, name, packed_integers(g));
    return arena_print(g->arena, "Strided%s", slice);
}

void launch_packed(Launch *l, ValueId v)
{
    launch_type(l, packed_type(l->g, &l->g->values[v]));
    launch_argument(l, (LaunchArg){ .kind = LAUNCH_PACKED, .value = v });
}

bool is_few_blocks(int64_t blocks)
{
    return blocks < MULTIPROCESSORS;
}

// The multiprocessor with the most blocks takes ceil(blocks * splits /
// MULTIPROCESSORS) of them, each with 1 / splits of the pixels.
int64_t tile_splits(int64_t blocks, int64_t pixels, int64_t most)
{
    int64_t best = 1, least = ceil_div(blocks, MULTIPROCESSORS);
    if (most > ceil_div(BLOCKS, blocks)) most = ceil_div(BLOCKS, blocks);
    if (most > ceil_div(pixels, SHORTEST_SPLIT))
        most = ceil_div(pixels, SHORTEST_SPLIT);
    for (int64_t splits = 2; splits <= most; splits++) {
        int64_t each = ceil_div(blocks * splits, MULTIPROCESSORS);
        if (each * best > least * splits) continue;
        best = splits;
        least = each;
    }
    return best;
}

ValueId split_sums(Graph *g, ValueId param, int64_t splits)
{
    Value v = g->values[param];
    Shape shape = { .rank = v.shape.rank + 1, .dim = { splits } };
    for (int i = 0; i < v.shape.rank; i++) shape.dim[i + 1] = v.shape.dim[i];
    return graph_value(g, arena_print(g->arena, "d.%s.splits", v.name),
                       WORKSPACE, v.dtype, shape, v.pos);
}
