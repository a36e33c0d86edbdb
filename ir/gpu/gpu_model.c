// The table of GPUs, and the model:
//
//     time       = launch + max(arithmetic, memory)
//     arithmetic = max(products / (rate * product), tiles of a GEMM)
//                  + other operations / (rate * elementwise)
//     memory     = bytes / (memory * elementwise)
//
// The time of tiles is in gemm_time.c.  A copy to host memory or back takes
// launch + bytes / host.  The achieved shares of peak rates and the launch
// overhead are assumptions, equal for all GPUs.  Nothing is measured here.
#include "gpu_model.h"
#include "offload.h"
#include "../launch_group.h"
#include "../op/op.h"

enum { MILLION = 1000000 };

// ---- the table --------------------------------------------------------------

#define TERA INT64_C(1000000000000)

// Two microseconds for each launch, and nine tenths of each peak.
#define LAUNCH 2 * MILLION
#define SHARES 9 * MILLION / 10, 9 * MILLION / 10, NULL, 0
#define ROW(integrated, name, fp64, fp32, tf32, bf16, fp16, memory, host, sm,  \
            count, kib, mhz)                                                   \
    { #name, fp64 * INT64_C(1000000000), fp32 * INT64_C(1000000000),           \
      tf32 * INT64_C(1000000000), bf16 * INT64_C(1000000000),                  \
      fp16 * INT64_C(1000000000), memory * INT64_C(1000000000),                \
      host * INT64_C(1000000000), integrated, LAUNCH, sm, count,               \
      (kib) * 1024, mhz * INT64_C(1000000), SHARES }
#define GPU(...) ROW(0, __VA_ARGS__)
#define INTEGRATED(...) ROW(1, __VA_ARGS__)

// Peaks at boost clock in 1e9 per second, tensor cores without sparsity, with
// sums in fp32.  Sources are NVIDIA's data sheets and architecture white
// papers.  The data center GPUs are H200 and H100 SXM, A100 SXM 80 GB, V100
// SXM2, L4 and T4.  The others are GeForce RTX 4090, 3090 and 3060 12 GB and
// Jetson AGX Orin 64 GB.
//
// host is the assumed rate of pinned memory, one way, on each GPU's link: PCI
// Express 5, 4 or 3 with 16 lanes, of 63, 31.5 and 15.8 GB/s.  Orin is
// integrated: it shares one memory with its host, which a copy reads and
// writes.  Compute capability, multiprocessors and the KiB of shared memory for
// blocks of each are from the same papers and the CUDA C++ Programming Guide.
// The clock is the boost clock by which the peaks are stated.
const Gpu gpus[GPU_COUNT] = {
    //             fp64   fp32    tf32    bf16    fp16   mem host
    //  sm  no.  KiB   MHz
    GPU(h200,     34000, 67000, 494000, 989000, 989000, 4800, 55,
        90, 132, 228, 1980),
    GPU(h100,     34000, 67000, 494000, 989000, 989000, 3350, 55,
        90, 132, 228, 1980),
    GPU(a100,      9700, 19500, 156000, 312000, 312000, 2039, 26,
        80, 108, 164, 1410),
    GPU(v100,      7800, 15700,  15700,  15700, 125000,  900, 13,
        70,  80,  96, 1530),
    GPU(l4,         473, 30300,  60000, 121000, 121000,  300, 26,
        89,  58, 100, 2040),
    GPU(t4,         254,  8100,   8100,   8100,  65000,  320, 13,
        75,  40,  64, 1590),
    GPU(rtx4090,   1290, 82600,  82600, 165200, 165200, 1008, 26,
        89, 128, 100, 2520),
    GPU(rtx3090,    556, 35600,  35600,  71000,  71000,  936, 26,
        86,  82, 100, 1695),
    GPU(rtx3060,    199, 12700,  12700,  25500,  25500,  360, 26,
        86,  28, 100, 1777),
    INTEGRATED(orin,    83,  5300,  21000,  42500,  42500,  204, 100,
        87,  16, 164, 1300),
    // No real GPU: it counts only operations, as published overheads of
    // recomputation do.
    { "flops", TERA, TERA, TERA, TERA, TERA, 100000 * TERA, 100000 * TERA, 0,
      0, 90, 132, 228 * 1024, 0, MILLION, MILLION, NULL, 0 },
};

const Gpu *graph_gpu(const Graph *g)
{
    return g->gpu != NULL ? g->gpu : &gpus[0];
}

// ---- the model --------------------------------------------------------------

// Divides digit by digit, since the product would overflow 2^63.
int64_t time_at(int64_t amount, int64_t rate, int64_t millionths)
{
    enum { DIGITS = 12 };
    int64_t had = rate / MILLION * millionths;
    int64_t time = amount / had, rest = amount % had;
    for (int i = 0; i < DIGITS; i++) {
        rest *= 10;
        time = capped_sum(capped_product(time, 10), rest / had);
        rest %= had;
    }
    return capped_sum(time, rest > 0);
}

int64_t cost_time(const Cost *cost, const Graph *g, const Gpu *gpu)
{
    int64_t rate = g->real == F64 ? gpu->fp64 : gpu->fp32;
    int64_t products = g->tf32 ? gpu->tf32
                     : g->map == F16 ? gpu->fp16
                     : g->map == BF16 ? gpu->bf16 : rate;
    int64_t others = cost->flops - cost->products;
    int64_t gemm = larger(time_at(cost->products, products, gpu->product),
                          cost->tiles);
    int64_t arithmetic =
        capped_sum(gemm, time_at(others, rate, gpu->elementwise));
    int64_t memory = time_at(cost->bytes, gpu->memory, gpu->elementwise);
    int64_t longer = arithmetic > memory ? arithmetic : memory;
    int64_t time = capped_sum(gpu->launch, longer);
    return time > 0 ? time : 1;
}

int64_t copy_time(int64_t bytes, const Gpu *gpu)
{
    return capped_sum(gpu->launch, time_at(bytes, gpu->host, MILLION));
}

int64_t node_time(const Graph *g, const Node *n, const Gpu *gpu)
{
    Cost cost;
    if (!is_launch(n) || is_copy(n)) return 0;
    node_cost(g, n, &cost);
    return cost_time(&cost, g, gpu);
}

void step_cost(const Graph *g, const Gpu *gpu, bool apart,
               PhaseCost sums[PHASE_COUNT])
{
    for (int phase = 0; phase < PHASE_COUNT; phase++)
        sums[phase] = (PhaseCost){ .launches = 0 };
    for (NodeId i = 0, end; i < g->node_count; i = end) {
        const Node *n = &g->nodes[i];
        PhaseCost *sum = &sums[n->phase];
        Cost cost;
        end = apart ? i + 1 : group_end(g, i);
        if (!is_launch(n) || is_copy(n)) continue;
        if (apart) node_cost(g, n, &cost);
        else group_cost(g, i, &cost);
        cost_add(&sum->cost, &cost);
        sum->launches++;
        sum->time = capped_sum(sum->time, cost_time(&cost, g, gpu));
    }
}
