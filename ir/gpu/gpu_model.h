// The model of a GPU: its peak rates, and the time of a launch.  It serves
// choices and is no measurement.  All arithmetic is on integers, so that
// choices are the same on every machine.
#ifndef CNNC_GPU_MODEL_H
#define CNNC_GPU_MODEL_H

#include "../op/cost.h"

// The key of a product on tensor cores in tables of tiles.  It has the
// ProductType, the ProductRole (gemm_tile.h) and the size: `times` matrices of
// rows x columns sums of depth terms.
typedef struct ProductKey {
    int     type, role;
    int64_t rows, columns, depth, times;
} ProductKey;
// The tile measured as the fastest for a product.
typedef struct TunedTile {
    ProductKey key;
    int        tile_rows, tile_columns;
} TunedTile;

typedef struct Gpu {
    const char *name;
    int64_t fp64, fp32;         // operations a second outside of tensor cores
    int64_t tf32, bf16, fp16;   // products a second on tensor cores, sums in
                                // fp32; the rate of fp32 if there are none
    int64_t memory;             // bytes a second
    int64_t host;               // bytes a second of copies to and from the host
    int64_t integrated;         // 1: it shares the host's memory, so that a
                                // copy there frees nothing; else 0
    int64_t launch;             // overhead of each launch in picoseconds
    int64_t sm;                 // for tensor cores: compute capability, 90
    int64_t multiprocessors;    // their number, and the shared memory of each,
    int64_t shared;             // in bytes
    int64_t clock;              // of multiprocessors in Hz; 0: the time of
                                // GEMMs is that of their operations alone
    int64_t product;            // achieved millionths of these rates: of
    int64_t elementwise;        // products, and of all others and memory
    const TunedTile *tuned;     // measured tiles
    int     tuned_count;
} Gpu;

enum { GPU_COUNT = 11 };
extern const Gpu gpus[GPU_COUNT];       // the first is the
                                        // default
// Returns the GPU of g, or the first of the table.
const Gpu *graph_gpu(const Graph *g);

// Returns the picoseconds for `amount` units at `rate` per second, of which
// millionths / 1e6 is achieved.  Rounds up and saturates.
int64_t time_at(int64_t amount, int64_t rate, int64_t millionths);
// Returns the picoseconds of a cost in g's precision: at least 1; saturates.
int64_t cost_time(const Cost *cost, const Graph *g, const Gpu *gpu);
// Returns the picoseconds of a copy to or from host memory; saturates.
int64_t copy_time(int64_t bytes, const Gpu *gpu);
// Returns the picoseconds of launch n of g; 0 if it is no launch.
int64_t node_time(const Graph *g, const Node *n, const Gpu *gpu);

// The cost of all launches of a phase.
typedef struct PhaseCost {
    int32_t launches;
    Cost    cost;
    int64_t time;               // picoseconds, launches in sequence
} PhaseCost;
// Sets the costs of all phases.  With `apart`, grouped launches count singly.
void step_cost(const Graph *g, const Gpu *gpu, bool apart,
               PhaseCost sums[PHASE_COUNT]);

#endif
