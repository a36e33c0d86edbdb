// The time of a GEMM's main loop:
//
//     step     = the longest of
//                  instructions   warps * loop / (4 * clock)
//                  arithmetic     2 rows columns DEPTH / (rate * share / SMs)
//                  cache          bytes / (CACHE_WIDTH * clock * elementwise)
//                  shared memory  bytes written and read / (128 * clock)
//     loop     = math + fragments + COPY * copies + STEP + work on load,
//                the instructions of a warp in a step
//     blocks   = tiles * splits, on one multiprocessor: that divided by their
//                number, rounded up
//     resident = as many of these as fit its shared memory and registers
//     time     = blocks * (steps * step * max(1, BUSY / warps)
//                          + one step more for each stage / resident
//                          + result bytes / (memory / SMs))
//
// where warps are the resident ones and SMs the multiprocessors.  A tile's step
// is DEPTH terms, 64 bytes of each row.  A block loads its rows for each tile
// of columns and each tap of a window, so work on load counts as often.
//
// COPY, STEP and SINGLE are averages of counted machine code (testsuite/sass).
// CACHE_WIDTH and BUSY are assumptions.  On sm_90, mma.sync reaches at most
// 62.9 % of the rate of wgmma (Luo et al., arXiv 2501.12084).
#include "gemm_time.h"
#include "../base/sizes.h"
#include "../op/op.h"

enum {
    MILLION = 1000000,
    CACHE_WIDTH = 32,           // bytes of the L2 cache a clock
    BUSY = 12,                  // warps that hide the latency of a step
    ROW_BYTES = 64,             // of each row and column in a step
    WARP_THREADS = 32, REGISTERS = 65536, SCHEDULERS = 4,
    SHARED_WIDTH = 128,         // bytes of shared memory a clock
    COPY = 14, STEP = 16,       // instructions of a copy, and of each step
    SINGLE = 36,                // and of an element that is no copy's piece
    LARGEST_PIECE = 16, SMALLEST_PIECE = 4,     // bytes of a copy
    MMA_SYNC = 629000,          // millionths, on sm_90
};

static int64_t element_bytes(const Gemm *m)
{
    return product_bytes(m->size.type);
}

static int64_t terms_of_step(const Gemm *m)
{
    return ROW_BYTES / element_bytes(m);
}

// Without tensor cores, one instruction adds several products of integers.
enum { DOT_PRODUCTS = 4 };

static int64_t rate_of(const Gpu *gpu, const Gemm *m)
{
    ProductType type = m->size.type;
    const int64_t rate[PRODUCT_TYPES] = {
        [PRODUCT_REAL] = gpu->fp32, [PRODUCT_TF32] = gpu->tf32,
        [PRODUCT_F16] = gpu->fp16, [PRODUCT_BF16] = gpu->bf16,
        [PRODUCT_U8] = 2 * gpu->fp16, [PRODUCT_I8] = 2 * gpu->fp16,
    };
    if (adds_integers(type) && m->tile.stages == 0)
        return DOT_PRODUCTS * gpu->fp32;
    return rate[type];
}

static int64_t share_of(const Gpu *gpu, ProductType type)
{
    bool limited = type != PRODUCT_REAL && gpu->sm >= 90;
    return limited ? smaller(gpu->product, MMA_SYNC) : gpu->product;
}

// ---- the loop of a warp -----------------------------------------------------

// Returns the bytes of a copy.
static int64_t piece_bytes(const Gemm *m)
{
    return smaller(m->size.vec * element_bytes(m), LARGEST_PIECE);
}

// Returns the pieces that the block copies in a step for one operand.
static int64_t pieces(const Gemm *m, int lanes)
{
    return lanes * (int64_t)ROW_BYTES / piece_bytes(m);
}

// Returns the warp instructions of a block in a step that multiply: products
// and reads of shared memory, of a TensorTile or a GemmTile.
static int64_t multiplying(const Gemm *m)
{
    const Tile *t = &m->tile;
    int64_t threads = tile_threads(*t), terms = terms_of_step(m);
    if (t->stages > 0) {
        enum { MMA_ROWS = 16, MMA_COLUMNS = 8, MMAS_DEEP = 2, LANES = 16 };
        int64_t math = t->rows_each / MMA_ROWS *
                       (t->columns_each / MMA_COLUMNS) * MMAS_DEEP;
        int64_t reads = (t->rows_each + t->columns_each) / LANES * MMAS_DEEP;
        return threads / WARP_THREADS * (math + reads);
    }
    if (adds_integers(m->size.type)) terms /= DOT_PRODUCTS;
    int64_t math = (int64_t)t->rows_each * t->columns_each;
    int64_t reads = (t->rows_each + t->columns_each) / 4;
    return threads / WARP_THREADS * terms * (math + reads);
}

// Returns the warp instructions of a block in a step.
static int64_t instructions(const Gemm *m)
{
    const Tile *t = &m->tile;
    int64_t warps = tile_threads(*t) / WARP_THREADS;
    int64_t loads = (pieces(m, t->rows) + pieces(m, t->columns)) *
                    (piece_bytes(m) >= SMALLEST_PIECE ? COPY : SINGLE);
    int64_t computed = ((int64_t)m->rows.work * t->rows +
                        (int64_t)m->columns.work * t->columns) *
                       terms_of_step(m);
    return multiplying(m) + warps * STEP +
           (loads + computed) / WARP_THREADS;
}

// ---- picoseconds of a step of a block alone on its multiprocessor -----------

static int64_t issue_time(const Gpu *gpu, const Gemm *m)
{
    return time_at(instructions(m), SCHEDULERS * gpu->clock, MILLION);
}

static int64_t arithmetic_time(const Gpu *gpu, const Gemm *m)
{
    int64_t flops = 2 * (int64_t)m->tile.rows * m->tile.columns *
                    terms_of_step(m);
    return time_at(flops * gpu->multiprocessors, rate_of(gpu, m),
                   share_of(gpu, m->size.type));
}

// Small pieces waste what a transaction moves.
static int64_t cache_time(const Gpu *gpu, const Gemm *m)
{
    int64_t bytes = (m->tile.rows * (int64_t)m->rows.bytes +
                     m->tile.columns * (int64_t)m->columns.bytes) *
                    terms_of_step(m) * (LARGEST_PIECE / piece_bytes(m));
    return time_at(bytes, CACHE_WIDTH * gpu->clock, gpu->elementwise);
}

static int64_t shared_time(const Gpu *gpu, const Gemm *m)
{
    const Tile *t = &m->tile;
    int64_t threads = tile_threads(*t), bytes;
    if (t->stages == 0) return 0;
    bytes = (t->rows + t->columns + threads / WARP_THREADS *
             (t->rows_each + t->columns_each)) * ROW_BYTES;
    return time_at(bytes, SHARED_WIDTH * gpu->clock, MILLION);
}

static int64_t step_time(const Gpu *gpu, const Gemm *m)
{
    return larger(larger(issue_time(gpu, m), arithmetic_time(gpu, m)),
                  larger(cache_time(gpu, m), shared_time(gpu, m)));
}

// ---- blocks -----------------------------------------------------------------

// Returns the blocks that a multiprocessor has room for.
static int64_t room(const Gpu *gpu, const Gemm *m)
{
    const Tile *t = &m->tile;
    int64_t threads = tile_threads(*t);
    int64_t stages = larger(t->stages, 2);
    int64_t shared = stages * (t->rows + t->columns) * ROW_BYTES;
    int64_t registers = (int64_t)tile_registers(t, m->size.type) * threads;
    return larger(1, smaller(gpu->shared / shared, REGISTERS / registers));
}

int64_t gemm_time(const Gpu *gpu, const Gemm *m)
{
    const Tile *t = &m->tile;
    if (gpu->clock == 0) return 0;
    int64_t tiles = capped_product(
        m->size.times, tile_count(*t, m->size.rows, m->size.columns));
    int64_t blocks = capped_product(tiles, larger(m->splits, 1));
    int64_t depth = ceil_div(m->size.depth, larger(m->splits, 1));
    int64_t steps = ceil_div(depth, terms_of_step(m));
    int64_t each = larger(1, ceil_div(blocks, gpu->multiprocessors));
    // Unknown splits fill all multiprocessors: the average share of each, in
    // thousandths.
    int64_t share = m->splits == 0
                        ? capped_product(1000, blocks) / gpu->multiprocessors
                        : capped_product(1000, each);
    int64_t resident = room(gpu, m);
    if (m->splits > 0) resident = smaller(resident, each);
    int64_t warps = resident * tile_threads(*t) / WARP_THREADS;
    int64_t step = step_time(gpu, m);
    int64_t running = capped_product(steps, step);
    if (warps < BUSY) running = capped_product(running, BUSY) / warps;
    int64_t filling = larger(t->stages, 1) * step / resident;
    int64_t storing = time_at(element_bytes(m) * t->rows * t->columns *
                                  gpu->multiprocessors,
                              gpu->memory, gpu->elementwise);
    int64_t block = capped_sum(running, filling + storing);
    return larger(1, capped_product(share, block) / 1000);
}

// An average of the loops of depthwise kernels, as counted in machine code.
int64_t depthwise_time(const Gpu *gpu, int64_t products)
{
    enum { EACH = 3 };          // instructions of a product
    if (gpu->clock == 0) return 0;
    int64_t warps = capped_product(products, EACH) / WARP_THREADS;
    return time_at(warps, SCHEDULERS * gpu->clock * gpu->multiprocessors,
                   gpu->elementwise);
}

// ---- operands ---------------------------------------------------------------

// Returns the instructions of an element that n computes on load.  They are
// those of its own rule, its activation, and its operands computed on load.
static int work_on_load(const Graph *g, const Node *n)
{
    enum { SELECTING = 1, CURVE = 12 };
    const Op *act = n->act != NULL ? n->act
                  : n->op->flags & ACT && n->kernel == 0 ? n->op : NULL;
    int work = n->op->kernels[n->kernel].load_work;
    if (act != NULL) work += act->flags & GATES ? SELECTING : CURVE;
    for (int32_t k = 0; k < n->operand_count; k++) {
        ValueId v = n->operands[k];
        if (v != NONE && !is_stored(g, v))
            work += work_on_load(g, &g->nodes[g->values[v].def]);
    }
    return work;
}

GemmOperand gemm_operand(const Graph *g, ValueId v)
{
    enum { CONVERTING = 3 };    // to real and back, and the test of the bounds
    bool stored = is_stored(g, v);
    return (GemmOperand){
        .bytes = dtype_bytes(g->values[v].dtype),
        .work = stored ? 0
                       : CONVERTING +
                             work_on_load(g, &g->nodes[g->values[v].def]),
    };
}
