// Fresh parameters.
#pragma once
#include <math.h>
#include <stdint.h>
#include "elementwise.cuh"
#include "philox.cuh"
#include "real.cuh"

// Init: how a parameter begins.  0: all are scale; 1: uniform in [-scale, scale]; 2: normal, of
// mean 0 and deviation scale; 3: scale times orthonormal rows, or columns where those are fewer.
struct Init { int kind; double scale; };

// init_parameter: w [count], of kind 0 to 2 (for 3 a normal start).  A value depends on seed,
// number of the parameter and element alone.  Normal by Box and Muller (1958).
__global__ void init_parameter(real *w, long long count, Init init, uint64_t seed,
                               uint32_t number)
{
    FOR_EACH(i, count) {
        uint32_t draw[4] = {(uint32_t)(i / 4), number, 0x696e6974u, 0xffffffffu};
        philox(draw, seed);
        const double u = (draw[i % 4] + 0.5) / 4294967296.0;
        const double v = (draw[i % 4 ^ 1] + 0.5) / 4294967296.0;
        const double pair[] = {cos(2 * 3.14159265358979323846 * v),
                               sin(2 * 3.14159265358979323846 * u)};
        const double radius = sqrt(-2 * log(i % 2 ? v : u));
        const double value[] = {1, 2 * u - 1, radius * pair[i % 2], radius * pair[i % 2]};
        w[i] = (real)(init.kind == 3 ? value[2] : init.scale * value[init.kind]);
    }
}
