// How the steps of a program run.  The host runtime brings its own LAUNCH, ARENA_AT and
// LIBRARY_STEP (library.cuh), and so learns which step of the plan runs where.
#pragma once
#include <cuda_runtime.h>

// LAUNCH: a kernel on the stream in scope; step is its number in the plan, -1 outside it.  By its
// address, so that template arguments that are left out are the defaults, not the arguments' types.
#ifndef LAUNCH
#define LAUNCH(step, kernel, grid, block, ...)                                              \
    do {                                                                                    \
        const auto launched = kernel;                                                       \
        launched<<<grid, block, 0, stream>>>(__VA_ARGS__);                                  \
    } while (0)
#endif

// ARENA_AT: announces where an arena lies; false if the host runtime knows that it can't lie there.
#ifndef ARENA_AT
#define ARENA_AT(arena, bytes) true
#endif

// STEP: a launch that is checked; on failure the function returns.
#define STEP(step, kernel, grid, block, ...)                                                \
    do {                                                                                    \
        LAUNCH(step, kernel, grid, block, __VA_ARGS__);                                     \
        if (net_check(c, cudaGetLastError(), step, #kernel)) return c->error.status;        \
    } while (0)
