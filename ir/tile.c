// Which tiles a product is cut into, from its size alone.
//
// Large tiles read each operand less often, for an element that is read meets
// as many others as the tile is wide; small ones waste less on odd sizes and
// leave more blocks.  A square of 8x8 sums a thread (64 products for 16
// elements from shared memory) keeps the arithmetic busy; 4x4 where a block
// would have too few threads to load its tile.  A block must have as many
// threads as its tile has rows where rows lie along memory.
#include "tile.h"

// The widest of 64, 32 and 16 that does not waste a quarter more than 32 does.
static int width_for(int64_t count)
{
    if (count <= 16) return 16;
    int64_t in_64 = ceil_div(count, 64) * 64, in_32 = ceil_div(count, 32) * 32;
    return 4 * in_64 > 5 * in_32 ? 32 : 64;
}

Tile tile_of_pixels(int64_t pixels, int64_t channels, int64_t times)
{
    int width = width_for(channels);
    Tile tall = { 128, width, width == 16 ? 4 : 8, width == 64 ? 8 : 4 };
    Tile low = { 64, width, 4, width == 64 ? 8 : 4 };
    int64_t blocks = times * tile_count(tall, pixels, channels);
    return blocks >= BLOCKS ? tall : low;
}

Tile tile_of_weights(int64_t filters, int64_t weights)
{
    int rows = filters <= 32 ? 32 : width_for(filters);
    int width = width_for(weights);
    return (Tile){ rows, width, 4, rows == 64 && width == 64 ? 8 : 4 };
}

int64_t tile_count(Tile tile, int64_t rows, int64_t columns)
{
    return ceil_div(rows, tile.rows) * ceil_div(columns, tile.columns);
}

int tile_threads(Tile tile)
{
    return tile.rows / tile.rows_each * (tile.columns / tile.columns_each);
}

void launch_tile(Launch *l, Tile tile)
{
    launch_type(l, arena_print(l->g->arena, "Tile<%d, %d, %d, %d>", tile.rows,
                               tile.columns, tile.rows_each,
                               tile.columns_each));
}
