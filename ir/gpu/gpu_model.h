// A GPU as its peak rates, and how long a launch takes there: a model to choose
// by, not a measurement.  All arithmetic is on integers, so that a choice is
// the same on every machine.
#ifndef CNNC_GPU_MODEL_H
#define CNNC_GPU_MODEL_H

#include "../op/cost.h"

// What a product on tensor cores is to the tables that know of such, a number a
// field: its ProductType and ProductRole (gemm_tile.h), and `times` tables of
// rows x columns sums of depth terms each.
typedef struct ProductKey {
    int     type, role;
    int64_t rows, columns, depth, times;
} ProductKey;
// That such products are cut into such tiles, as was measured.
typedef struct TunedTile {
    ProductKey key;
    int        tile_rows, tile_columns;
} TunedTile;

typedef struct Gpu {
    const char *name;
    int64_t fp64, fp32;         // operations a second outside of tensor cores
    int64_t tf32, bf16, fp16;   // products a second inside, sums in fp32; that
                                // of fp32 where there is no such
    int64_t memory;             // bytes a second
    int64_t host;               // likewise, copied to host memory or from it
    int64_t integrated;         // 1: its memory is the host's, so that a copy
                                // there frees nothing; else 0
    int64_t launch;             // picoseconds that each launch takes beside
    int64_t sm;                 // of tensor cores: its compute capability, 90
    int64_t multiprocessors;    // how many it has, and the shared memory of
    int64_t shared;             // each, in bytes
    int64_t product;            // millionths of these rates that products and
    int64_t elementwise;        // everything else, memory too, get in truth
    const TunedTile *tuned;     // what is known better than by these
    int     tuned_count;
} Gpu;

enum { GPU_COUNT = 11 };
extern const Gpu gpus[GPU_COUNT];       // known by name; the first is meant
                                        // where none is given
// That of g, or the first of the table.
const Gpu *graph_gpu(const Graph *g);

// Picoseconds for so many at so many a second of which millionths are had,
// rounded up and capped.
int64_t time_at(int64_t amount, int64_t rate, int64_t millionths);
// Picoseconds of so much work in g's precision: at least 1, and capped.
int64_t cost_time(const Cost *cost, const Graph *g, const Gpu *gpu);
// Of a copy of so many bytes to host memory, or from it; capped.
int64_t copy_time(int64_t bytes, const Gpu *gpu);
// Of launch n of g; 0 if it is none.
int64_t node_time(const Graph *g, const Node *n, const Gpu *gpu);

// Of all launches of a phase.
typedef struct PhaseCost {
    int32_t launches;
    Cost    cost;
    int64_t time;               // picoseconds: they run one after the other
} PhaseCost;
// Where `apart`, of each launch as if none were grouped.
void step_cost(const Graph *g, const Gpu *gpu, bool apart,
               PhaseCost sums[PHASE_COUNT]);

#endif
