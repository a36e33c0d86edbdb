// The time of a launch in each tile: the median of times between two events.  Tiles are measured in
// turn, so that a drifting clock affects all of them.
#pragma once
#include <algorithm>
#include <cuda_runtime.h>
#include <stdint.h>

#include "../support/vec/elementwise.cuh"
#include "../support/net/header.cuh"
#include "../support/net/launch.cuh"
#include "../trainer/clock.cuh"
#include "../trainer/complain.cuh"
#include "tuning.cuh"

enum {
    TUNE_TILES = 8,             // most tiles
    TUNE_LEAST = 3,             // fewest times of a launch in a tile, whatever the budget
    TUNE_MOST = 100,            // most times, whatever the budget
    TUNE_GROUP = 64             // most launches between two events
};

// TuneRun: the device's resources of a run, and its results: microseconds of a launch in each tile,
// -1 if the tile does not fit.
struct TuneRun {
    const Tuning *of;
    Arena arena;
    cudaStream_t stream;
    cudaEvent_t begin, end;
    double (*found)[TUNE_TILES];
};

// fill_numbers: fills with bytes that are ordinary numbers of either sign in every type.  Numbers
// of 16 bits are 1 to 2 in f16 and 2^-7 to 2 in bf16, 32 bits the same in float.
__global__ void fill_numbers(uint32_t *words, long long count)
{
    FOR_EACH(i, count) {
        uint32_t x = (uint32_t)i * 0x9e3779b9u;
        x = (x ^ x >> 16) * 0x7feb352du;
        x ^= x >> 15;
        words[i] = (x & 0x83ff83ffu) | 0x3c003c00u;
    }
}

static inline bool tune_check(cudaError_t error, const TuneLaunch *l, const char *tile_name)
{
    return error == cudaSuccess ||
           complain("%s in tiles of %s: %s", l->name, tile_name, cudaGetErrorString(error));
}

// Prepares the arena for a launch: a zero header, so that no step is skipped, then numbers.
static inline bool prepare_launch(const TuneRun *r, const TuneLaunch *l)
{
    cudaStream_t stream = r->stream;
    const long long words = (long long)(l->bytes / sizeof(uint32_t));
    LAUNCH(-1, fill_numbers, 1024, 256, (uint32_t *)r->arena.base, words);
    cudaError_t error = cudaGetLastError();
    if (error == cudaSuccess)
        error = cudaMemsetAsync(r->arena.base, 0, sizeof(StateHeader), stream);
    return error == cudaSuccess || complain("%s: %s", l->name, cudaGetErrorString(error));
}

// Times `group` launches between two events.  Returns microseconds of one.
static inline bool time_group(const TuneRun *r, const TuneLaunch *l, int tile, int group,
                              double *microseconds)
{
    float ms = 0;
    cudaError_t error = cudaEventRecord(r->begin, r->stream);
    for (int i = 0; i < group && error == cudaSuccess; i++) {
        l->launch(tile, r->arena, r->stream);
        error = cudaGetLastError();
    }
    if (error == cudaSuccess) error = cudaEventRecord(r->end, r->stream);
    if (error == cudaSuccess) error = cudaEventSynchronize(r->end);
    if (error == cudaSuccess) error = cudaEventElapsedTime(&ms, r->begin, r->end);
    *microseconds = 1e3 * ms / group;
    return tune_check(error, l, r->of->tiles[tile]);
}

// Launches below 0.1 ms are timed in groups that last at least 0.1 ms.
static inline int group_for(double microseconds)
{
    const double wanted = 100;
    if (microseconds * TUNE_GROUP <= wanted) return TUNE_GROUP;
    return microseconds >= wanted ? 1 : (int)(wanted / microseconds) + 1;
}

// Launches twice before measuring, because the first launch of a kernel loads it.  Sets *group to 0
// if the tile does not fit.
static inline bool warm_up(const TuneRun *r, const TuneLaunch *l, int tile, int *group)
{
    double microseconds = 0;
    *group = 0;
    if (!l->launch(tile, r->arena, r->stream)) return true;
    if (!tune_check(cudaGetLastError(), l, r->of->tiles[tile]) ||
        !time_group(r, l, tile, 1, &microseconds))
        return false;
    *group = group_for(microseconds);
    return true;
}

// Measures the launch in each tile for about `seconds`.
static inline bool measure_launch(const TuneRun *r, int number, double seconds)
{
    const TuneLaunch *const l = &r->of->launches[number];
    const double until = clock_seconds() + seconds;
    double times[TUNE_TILES][TUNE_MOST];
    int group[TUNE_TILES], taken = 0;

    if (!prepare_launch(r, l)) return false;
    for (int i = 0; i < r->of->tile_count; i++)
        if (!warm_up(r, l, i, &group[i])) return false;
    for (; taken < TUNE_LEAST || (taken < TUNE_MOST && clock_seconds() < until); taken++)
        for (int i = 0; i < r->of->tile_count; i++)
            if (group[i] > 0 && !time_group(r, l, i, group[i], &times[i][taken])) return false;
    for (int i = 0; i < r->of->tile_count; i++) {
        std::sort(times[i], times[i] + (group[i] > 0 ? taken : 0));
        r->found[number][i] = group[i] > 0 ? times[i][taken / 2] : -1;
    }
    return true;
}
