// How the steps of a program run.  The host runtime defines its own LAUNCH, ARENA_AT and
// LIBRARY_STEP (library.cuh), so it knows the step of each launch in the plan.
#pragma once
#include <cuda_runtime.h>

// LAUNCH: a kernel on the stream in scope; step is its number in the plan, or -1.  It launches by
// address, so that omitted template arguments get their defaults.
#ifndef LAUNCH
#define LAUNCH(step, kernel, grid, block, ...)                                              \
    do {                                                                                    \
        const auto launched = kernel;                                                       \
        launched<<<grid, block, 0, stream>>>(__VA_ARGS__);                                  \
    } while (0)
#endif

// ARENA_AT: false if the host runtime knows that the arena is not inside one allocation.
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
