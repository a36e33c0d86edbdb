// How the steps of a program run.  The host runtime brings its own LAUNCH, ARENA_AT and
// LIBRARY_STEP (library.cuh), and so learns which step of the plan runs where.
#pragma once
#include <cuda_runtime.h>

// LAUNCH: a kernel on the stream in scope; step is its number in the plan, or -1.  The launch is by
// address: template arguments that are left out are then the defaults.
#ifndef LAUNCH
#define LAUNCH(step, kernel, grid, block, ...)                                              \
    do {                                                                                    \
        const auto launched = kernel;                                                       \
        launched<<<grid, block, 0, stream>>>(__VA_ARGS__);                                  \
    } while (0)
#endif

// ARENA_AT: false if the host runtime knows that the arena's bytes are not of one allocation.
#ifndef ARENA_AT
#define ARENA_AT(arena, bytes) true
#endif

// TRY: a call that returns a status; on failure the function returns it.
#define TRY(call)                                                                           \
    if (const int status = (call)) return status

// STEP: a launch that is checked.
#define STEP(step, kernel, grid, block, ...)                                                \
    do {                                                                                    \
        LAUNCH(step, kernel, grid, block, __VA_ARGS__);                                     \
        TRY(net_check(c, cudaGetLastError(), step, #kernel));                               \
    } while (0)
