// Fresh parameters.
#pragma once
#include <stdint.h>
#include "elementwise.cuh"
#include "philox.cuh"
#include "real.cuh"

// init_parameter: parameter `number`, w [count], uniform in [-limit, limit]; zeros where limit is
// 0.  A thread draws four elements at a time; a value depends on seed, number and element alone.
__global__ void init_parameter(real *w, long long count, double limit, uint64_t seed,
                               uint32_t number)
{
    for (long long quad = first_element(); 4 * quad < count; quad += element_stride()) {
        const RandomWords draw = philox((uint32_t)quad, number, 0x696e6974u, 0xffffffffu, seed);
        for (int j = 0; j < 4 && 4 * quad + j < count; j++) {
            const double u = (draw.word[j] + 0.5) / 4294967296.0;
            w[4 * quad + j] = limit == 0 ? (real)0 : (real)(limit * (2 * u - 1));
        }
    }
}
