// Fuses a convolution with the pool that reads its map.
//
//   %6 c = conv(%4, %1, %2)   %7 p, %8 index = maxpool(%6)
// is one kernel, conv_pool_forward.  A row of a block's tile is a pixel of the
// map, and a tile contains whole windows of the pool.  So only the pool's
// results are stored.
//
// The rows of a tile are patches of DOWN x ACROSS windows with all their
// pixels.  If windows do not overlap, a patch is one window: no pixel is
// computed twice, and any map fills the tiles.  If they overlap, larger patches
// share more pixels, and pixels shared by two patches are computed in both.
#include "conv_gemm.h"
#include "pool.h"
#include "../gpu/gemm_tile.h"

typedef struct Patches {
    ProductSize size;
    Tile        tile;
    int64_t     windows[2];     // of a patch, by axis
    int64_t     count;          // patches in a tile
    int64_t     tiles;          // over all pixels
} Patches;

// ---- the patches of a tile --------------------------------------------------

// Returns the pixels of a patch along an axis.
static int64_t span(const Window *w, const Patches *p, int axis)
{
    return (p->windows[axis] - 1) * w->stride[axis] + w->size[axis];
}

// Returns the patches that need the fewest tiles.  count is 0 if one window has
// more pixels than the tile has rows.
static Patches patches_of(const Convolution *d, const Window *w, Shape pooled,
                          Tile tile)
{
    Patches best = { .tile = tile, .count = 0 };
    Patches p = { .tile = tile, .windows = { 1, 1 } };
    for (; p.windows[0] <= pooled.dim[1] && span(w, &p, 0) <= tile.rows;
         p.windows[0]++)
        for (p.windows[1] = 1; p.windows[1] <= pooled.dim[2] &&
             span(w, &p, 1) <= tile.rows / span(w, &p, 0); p.windows[1]++) {
            int64_t patches = d->N * ceil_div(pooled.dim[1], p.windows[0]) *
                              ceil_div(pooled.dim[2], p.windows[1]);
            p.count = tile.rows / (span(w, &p, 0) * span(w, &p, 1));
            if (p.count > patches) p.count = patches;
            p.tiles = ceil_div(patches, p.count);
            if (best.count == 0 || p.tiles < best.tiles) best = p;
        }
    return best;
}

static Patches find_patches(const Graph *g, const Convolution *d,
                            const Node *pool)
{
    Window w = pool_window(pool->attr);
    ProductSize size = convolution_size(d, PRODUCT_POOLED);
    Tile tile = tile_of_pixels(g, &size);
    Patches p = patches_of(d, &w, g->values[pool->results[0]].shape, tile);
    p.size = size;
    return p;
}

// ---- profitability ----------------------------------------------------------

// Returns the pixels of all patches within the map along an axis; pixels shared
// by two patches count twice.
static int64_t reach(const Window *w, const Patches *p, int axis,
                     int64_t windows, int64_t extent)
{
    int64_t sum = 0, each = p->windows[axis];
    for (int64_t i = 0; i < windows; i += each) {
        int64_t last = i + each < windows ? i + each - 1 : windows - 1;
        int64_t begin = i * w->stride[axis] - w->before[axis];
        int64_t end = last * w->stride[axis] - w->before[axis] + w->size[axis];
        if (begin < 0) begin = 0;
        if (end > extent) end = extent;
        sum += end - begin;
    }
    return sum;
}

static int64_t recomputed(const Graph *g, const Node *n, const Node *pool)
{
    Convolution d = convolution_of(g, n);
    Window w = pool_window(pool->attr);
    Shape y = g->values[pool->results[0]].shape;
    Patches p = find_patches(g, &d, pool);
    int64_t computed = d.N * reach(&w, &p, HEIGHT, y.dim[1], d.P) *
                       reach(&w, &p, WIDTH, y.dim[2], d.Q);
    if (computed <= d.pixels) return 0;
    return capped_product(2 * (computed - d.pixels) * d.K, d.filter);
}

// True if the additional rows of tiles take less time than writing and reading
// the map.  Arithmetic is timed in single precision always, so that the choice
// does not depend on the precision.
static bool is_worth_it(const Convolution *d, const Patches *p)
{
    const double flops = 60e12, bytes = 4.3e12;     // a second, of a device
    double rows = (double)p->tiles * p->tile.rows;
    double more = rows - (double)d->pixels;
    double arithmetic = 2 * more * (double)d->filter / flops;
    return arithmetic <= 2 * 4 * (double)d->pixels / bytes;
}

// Groups must end at bytes of the index: a word has at most four channels.
static bool fits(const Graph *g, const Node *n, const Node *pool)
{
    Convolution d = convolution_of(g, n);
    Window w = pool_window(pool->attr);
    // Only integers of one scale may be pooled after their activation.
    if ((n->act != NULL && g->values[n->results[0]].scale == NONE) ||
        convolution_is_depthwise(&d))
        return false;
    // A mean of normalized elements would need them rounded to maps.
    if (is_normalized(n) && (!(pool->op->flags & SELECTS) ||
                             n->operands[CONV_NORM + NORM_OTHER] != NONE))
        return false;
    if (w.dilation[HEIGHT] > 1 || w.dilation[WIDTH] > 1) return false;
    if (d.groups > 1 && d.group_k % 4 != 0) return false;
    Patches p = find_patches(g, &d, pool);
    if (p.count == 0) return false;
    bool overlaps = w.size[HEIGHT] > w.stride[HEIGHT] ||
                    w.size[WIDTH] > w.stride[WIDTH];
    return !overlaps || is_worth_it(&d, &p);
}

// ---- the launch -------------------------------------------------------------

// Adds the type Patch<pool1_shape, 1, 1, 32>; returns the launch that has the
// constants of the pool.
static Launch *launch_patches(Launch *l, const Node *pool, const Patches *p)
{
    const Graph *g = l->g;
    Launch *windows = NEW(g->arena, Launch);
    *windows = (Launch){ .g = l->g, .node = pool, .kernel = "Patch" };
    launch_windows(windows, pool->attr, g->values[pool->operands[0]].shape,
                   g->values[pool->results[0]].shape);
    launch_type_int(windows, p->windows[HEIGHT]);
    launch_type_int(windows, p->windows[WIDTH]);
    launch_type_int(windows, p->count);
    launch_type_as(l, (TypeArg){ .source = windows });
    return windows;
}

// Adds the values of the launch, and their types.
static void launch_values(Launch *l, const Node *n, const Node *pool)
{
    ValueId index = pool->result_count > 1 ? pool->results[1] : NONE;
    TypeArg weight;
    if (is_normalized(n)) {
        TypeArg type = launch_normalized(l, n, pool->results[0]);
        launch_value(l, index);
        weight = convolution_forward_operands(l, n);
        launch_type_as(l, type);
    } else {
        launch_value(l, pool->results[0]);
        launch_value(l, index);
        weight = convolution_forward_operands(l, n);
        launch_result_type(l, pool->results[0]);
    }
    launch_type_as(l, weight);
    if (n->act != NULL && !is_normalized(n)) launch_act(l, n);
}

// Likewise of products of integers.
static void launch_integer_values(Launch *l, const Node *n, const Node *pool)
{
    TypeArg type = launch_integers(l, n, pool->results[0]);
    launch_value(l, pool->result_count > 1 ? pool->results[1] : NONE);
    convolution_integer_operands(l, n, type);
}

static Launch *launch(const Graph *g, const Node *n, const Node *pool,
                      const char *functor, Launch *l)
{
    Convolution d = convolution_of(g, n);
    Patches p = find_patches(g, &d, pool);
    l->node = n;
    int64_t columns = d.groups * tile_count(p.tile, 1, d.group_k);
    launch_kernel(l, "conv_pool_forward", columns * p.tiles,
                  tile_threads(p.tile));
    bool integers = adds_integers(d.type);
    convolution_constants(n, l, d);
    Launch *windows = launch_patches(l, pool, &p);
    launch_tile(l, p.tile, &p.size);
    launch_type(l, n->operands[2] != NONE && !integers ? "true" : "false");
    launch_type(l, functor);
    launch_act(l, pool);
    if (integers) launch_integer_values(l, n, pool);
    else launch_values(l, n, pool);
    return windows;
}

const Pooling convolution_pooling = { fits, recomputed, launch };
