// Fresh parameters.
#pragma once
#include <stdint.h>
#include "elementwise.cuh"
#include "philox.cuh"
#include "real.cuh"

// init_parameter: w [count] uniform in [-limit, limit], or zeros where limit is 0.  A value
// depends on seed, number of the parameter and element alone.
__global__ void init_parameter(real *w, long long count, double limit, uint64_t seed,
                               uint32_t number)
{
    FOR_EACH(i, count) {
        uint32_t draw[4] = {(uint32_t)(i / 4), number, 0x696e6974u, 0xffffffffu};
        philox(draw, seed);
        const double u = (draw[i % 4] + 0.5) / 4294967296.0;
        w[i] = limit == 0 ? 0 : (real)(limit * (2 * u - 1));
    }
}
