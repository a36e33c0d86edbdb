// Chooses the tile of a product on tensor cores.  A tile measured by --tune is
// in the GPU's file (frontend/driver/gpu_file.c).  Without one, the candidate
// with the least time in a model of the GPU is used.  The model:
//
//     step     = max(2 rows columns DEPTH / (rate * product / multiprocessors),
//                    bytes / (CACHE memory elementwise / multiprocessors))
//     bytes    = (rows + columns) * 64, as often as pieces of `vec` elements
//                are smaller than 16 bytes
//     blocks   = times * ceil(all rows / rows) * ceil(all columns / columns),
//                on one multiprocessor: that divided by their number, rounded
//                up, unless the depth is split
//     resident = as many of these as fit its shared memory and registers
//     time     = blocks * (ceil(depth / DEPTH) * step * max(1, BUSY / warps)
//                          + one step more for each stage / resident
//                          + 4 rows columns / (memory / multiprocessors))
//
// where warps are the resident ones.  A tile's step is DEPTH terms, 64 bytes of
// each row.  CACHE and BUSY are assumptions, like the shares of a GPU's peak;
// only the order of times matters here.  Large tiles move fewer bytes for each
// sum; small ones waste less on odd sizes and leave more blocks.
#include "gpu_model.h"
#include "../base/sizes.h"
#include "gemm_tile.h"
#include "../launch_group.h"

enum {
    CACHE = 2,                  // bandwidth of the L2 cache over memory's
    BUSY = 8,                   // warps that keep tensor cores busy
    ROW_BYTES = 64,             // of each row and column in a step
    WARP_THREADS = 32, REGISTERS = 65536,
};

// Warp tiles are multiples of 16 x 16; static shared memory is at most 48 KiB.
typedef struct Candidate {
    Tile tile;
    int  registers;             // limit for a thread in TF32 (tensor.budget)
} Candidate;
static const Candidate candidates[] = {
    { { .rows = 128, .columns = 128, .rows_each = 64, .columns_each = 32,
        .stages = 3 }, 208 },
    { { .rows = 128, .columns = 64, .rows_each = 32, .columns_each = 32,
        .stages = 4 }, 128 },
    { { .rows = 64, .columns = 64, .rows_each = 32, .columns_each = 32,
        .stages = 4 }, 128 },
    { { .rows = 64, .columns = 32, .rows_each = 16, .columns_each = 32,
        .stages = 4 }, 128 },
    { { .rows = 32, .columns = 128, .rows_each = 32, .columns_each = 32,
        .stages = 4 }, 168 },
};
_Static_assert(sizeof candidates / sizeof *candidates == TENSOR_TILES,
               "as many as gemm_tile.h says");

// Returns the bytes of an operand's element in shared memory.
static int64_t element_bytes(ProductType type)
{
    return type == PRODUCT_TF32 ? 4 : 2;
}

static int64_t rate_of(const Gpu *gpu, ProductType type)
{
    return type == PRODUCT_TF32 ? gpu->tf32
                                : type == PRODUCT_F16 ? gpu->fp16 : gpu->bf16;
}

// Returns the picoseconds of a step of a block alone on its multiprocessor.
static int64_t step_time(const Gpu *gpu, Tile t, const ProductSize *size)
{
    int64_t element = element_bytes(size->type), depth = ROW_BYTES / element;
    int64_t piece = smaller(size->vec * element, 16);
    int64_t flops = (int64_t)2 * t.rows * t.columns * depth;
    int64_t bytes = (t.rows + t.columns) * (int64_t)ROW_BYTES * (16 / piece);
    int64_t arithmetic = time_at(flops * gpu->multiprocessors,
                                 rate_of(gpu, size->type), gpu->product);
    int64_t moving = time_at(bytes * gpu->multiprocessors, CACHE * gpu->memory,
                             gpu->elementwise);
    return arithmetic > moving ? arithmetic : moving;
}

static int64_t shared_bytes(Tile t)
{
    return (int64_t)t.stages * (t.rows + t.columns) * ROW_BYTES;
}

// Returns the picoseconds of the product in tiles of a candidate.
static int64_t product_time(const Gpu *gpu, const Candidate *c,
                            const ProductSize *size)
{
    Tile t = c->tile;
    bool split = size->role == PRODUCT_WGRAD;
    int threads = tile_threads(t);
    int64_t blocks = capped_product(
        size->times, tile_count(t, size->rows, size->columns));
    int64_t element = element_bytes(size->type);
    int64_t steps = ceil_div(size->depth, ROW_BYTES / element);
    int64_t each = ceil_div(blocks, gpu->multiprocessors);
    // Blocks of splits fill all multiprocessors: the average share of each, in
    // thousandths.
    int64_t share = split ? 1000 * blocks / gpu->multiprocessors : 1000 * each;
    int64_t resident = smaller(gpu->shared / shared_bytes(t),
                               REGISTERS / ((int64_t)c->registers * threads));
    if (!split) resident = smaller(resident, each);
    int64_t warps = larger(resident, 1) * threads / WARP_THREADS;
    int64_t step = step_time(gpu, t, size);
    int64_t running = capped_product(steps, step);
    if (warps < BUSY) running = capped_product(running, BUSY) / warps;
    int64_t filling = t.stages * step / larger(resident, 1);
    int64_t storing = time_at(element * t.rows * t.columns *
                                  gpu->multiprocessors,
                              gpu->memory, gpu->elementwise);
    int64_t block = capped_sum(running, filling + storing);
    return capped_product(share, block) / 1000;
}

// ---- the candidates ---------------------------------------------------------

const Tile *tensor_tile_at(int number)
{
    return &candidates[number].tile;
}

const Tile *find_tensor_tile(int64_t rows, int64_t columns)
{
    for (int i = 0; i < TENSOR_TILES; i++) {
        const Tile *t = &candidates[i].tile;
        if (t->rows == rows && t->columns == columns) return t;
    }
    return NULL;
}

const char *tensor_tile_names(Arena *arena)
{
    const char *names = "";
    for (int i = 0; i < TENSOR_TILES; i++)
        names = arena_print(arena, "%s%s%dx%d", names, i == 0 ? "" : ", ",
                            candidates[i].tile.rows,
                            candidates[i].tile.columns);
    return names;
}

// ---- keys of products -------------------------------------------------------

const char *const product_type_names[PRODUCT_TYPES] = {
    [PRODUCT_TF32] = "tf32", [PRODUCT_F16] = "f16", [PRODUCT_BF16] = "bf16",
};
const char *const product_role_names[PRODUCT_ROLES] = {
    [PRODUCT_FORWARD] = "forward", [PRODUCT_POOLED] = "pooled",
    [PRODUCT_DGRAD] = "dgrad", [PRODUCT_WGRAD] = "wgrad",
};

ProductKey product_key(const ProductSize *size)
{
    return (ProductKey){ (int)size->type, (int)size->role, size->rows,
                         size->columns, size->depth, size->times };
}

bool same_product(const ProductKey *a, const ProductKey *b)
{
    return a->type == b->type && a->role == b->role && a->rows == b->rows &&
           a->columns == b->columns && a->depth == b->depth &&
           a->times == b->times;
}

const char *product_text(Arena *arena, const ProductKey *key)
{
    return arena_print(arena, "%s %s %lld %lld %lld %lld",
                       product_type_names[key->type],
                       product_role_names[key->role], (long long)key->rows,
                       (long long)key->columns, (long long)key->depth,
                       (long long)key->times);
}

static bool is_among(const ProductKey *keys, int count, const ProductKey *key)
{
    for (int i = 0; i < count; i++)
        if (same_product(&keys[i], key)) return true;
    return false;
}

int graph_products(const Graph *g, ProductKey **keys)
{
    int count = 0;
    *keys = NEW_ARRAY(g->arena, g->node_count, ProductKey);
    for (NodeId i = 0; i < g->node_count; i = group_end(g, i)) {
        Launch l = { .product = NULL };
        if (!is_launch(&g->nodes[i])) continue;
        group_launch(g, i, &l);
        if (l.product == NULL) continue;
        ProductKey key = product_key(l.product);
        if (!is_among(*keys, count, &key)) (*keys)[count++] = key;
    }
    return count;
}

// ---- the choice -------------------------------------------------------------

// Returns the tile measured for such a product, or NULL.
static const Tile *tuned_tile(const Gpu *gpu, const ProductSize *size)
{
    ProductKey key = product_key(size);
    for (int i = 0; i < gpu->tuned_count; i++) {
        const TunedTile *t = &gpu->tuned[i];
        if (same_product(&t->key, &key))
            return find_tensor_tile(t->tile_rows, t->tile_columns);
    }
    return NULL;
}

// Returns the first of the fastest candidates.
int modelled_tile(const Gpu *gpu, const ProductSize *size)
{
    int best = 0;
    int64_t least = product_time(gpu, &candidates[best], size);
    for (int i = 1; i < TENSOR_TILES; i++) {
        int64_t time = product_time(gpu, &candidates[i], size);
        if (time < least) {
            least = time;
            best = i;
        }
    }
    return best;
}

Tile tensor_tile(const Graph *g, const ProductSize *size)
{
    const Gpu *gpu = graph_gpu(g);
    const Tile *tuned = tuned_tile(gpu, size);
    Tile tile = tuned != NULL ? *tuned
                              : candidates[modelled_tile(gpu, size)].tile;
    tile.type = size->type;
    return tile;
}
