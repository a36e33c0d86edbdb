// Chooses the tile of a product on tensor cores.  A tile measured by --tune is
// in the GPU's file (frontend/driver/gpu_file.c).  Without one, the candidate
// with the least time in the model is used (gemm_time.c).  It counts all
// operands as stored, so no pass changes a tile.  Large tiles move fewer bytes
// for each sum; small ones waste less on odd sizes and leave more blocks.
#include "../base/sizes.h"
#include "gemm_time.h"
#include "../launch_group.h"

// Warp tiles are multiples of 16 x 16; static shared memory is at most 48 KiB.
typedef struct Candidate {
    Tile tile;
    int  registers;             // limit for a thread in TF32 (tensor.budget)
    int  half_registers;        // usual number for 16 bits (nvcc.sass)
} Candidate;
static const Candidate candidates[] = {
    { { .rows = 128, .columns = 128, .rows_each = 64, .columns_each = 32,
        .stages = 3 }, 208, 128 },
    { { .rows = 128, .columns = 64, .rows_each = 32, .columns_each = 32,
        .stages = 4 }, 128, 96 },
    { { .rows = 64, .columns = 64, .rows_each = 32, .columns_each = 32,
        .stages = 4 }, 128, 96 },
    { { .rows = 64, .columns = 32, .rows_each = 16, .columns_each = 32,
        .stages = 4 }, 128, 96 },
    { { .rows = 32, .columns = 128, .rows_each = 32, .columns_each = 32,
        .stages = 4 }, 168, 128 },
};
_Static_assert(sizeof candidates / sizeof *candidates == TENSOR_TILES,
               "as many as gemm_tile.h says");

// Returns the picoseconds of the product in tiles of a candidate.
static int64_t product_time(const Gpu *gpu, const Candidate *c,
                            const ProductSize *size)
{
    int bytes = product_bytes(size->type);
    Gemm gemm = {
        .size = *size, .tile = c->tile,
        .splits = size->role == PRODUCT_WGRAD ? 0 : 1,
        .rows = { .bytes = bytes }, .columns = { .bytes = bytes },
    };
    return gemm_time(gpu, &gemm);
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

int tile_registers(const Tile *t, ProductType type)
{
    enum { OF_GEMM_TILE = 80 };
    for (int i = 0; i < TENSOR_TILES && t->stages > 0; i++) {
        const Candidate *c = &candidates[i];
        if (c->tile.rows == t->rows && c->tile.columns == t->columns)
            return type == PRODUCT_TF32 ? c->registers : c->half_registers;
    }
    return OF_GEMM_TILE + t->rows_each * t->columns_each;
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
    [PRODUCT_U8] = "u8", [PRODUCT_I8] = "i8",
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
