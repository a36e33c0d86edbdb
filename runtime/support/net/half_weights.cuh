// Weights of 16 bits, in a file that only infers: their first values, and an import that rounds the
// weights of a file that trains.  The emitter writes bf16 where the net has it.
#pragma once
#include <stdint.h>
#include <string.h>
#include "../vec/f16.cuh"
#include "header.cuh"
#include "init.cuh"
#include "interface.cuh"
#include "interface_types.cuh"
#include "launch.cuh"

// HalfWeight: the storage type of weights with two dimensions and more.
using HalfWeight = f16;

static long long net_elements(const net_tensor &t)
{
    long long count = 1;
    for (int i = 0; i < t.rank; i++) count *= t.shape[i];
    return count;
}

static bool net_is_half(const net_tensor &t)
{
    return t.bytes < (size_t)net_elements(t) * sizeof(real);
}

// Draws the parameters from the seed.
static int net_draw_mixed_parameters(net_context *c, uint64_t seed)
{
    const cudaStream_t stream = c->stream;
    for (int i = 0; i < NET_PARAM_COUNT + NET_STATISTIC_COUNT; i++) {
        const long long count = net_elements(net_params[i]), grid = (count + 1023) / 1024;
        unsigned char *const at = c->arena + net_params[i].offset;
        if (net_is_half(net_params[i]))
            STEP(-1, init_parameter<HalfWeight>, grid, 256, (HalfWeight *)at, count, inits[i],
                 seed);
        else
            STEP(-1, init_parameter<real>, grid, 256, (real *)at, count, inits[i], seed);
    }
    return NET_OK;
}

// Makes parameters of kind 3 orthogonal, after their first values were drawn.
static int net_make_halves_orthogonal(net_context *c)
{
    const cudaStream_t stream = c->stream;
    for (int i = 0; i < NET_PARAM_COUNT + NET_STATISTIC_COUNT; i++) {
        const long long count = net_elements(net_params[i]), rows = net_params[i].shape[0];
        unsigned char *const at = c->arena + net_params[i].offset;
        if (inits[i].kind != 3) continue;
        if (net_is_half(net_params[i]))
            STEP(-1, orthogonalize<HalfWeight>, 1, 1024, (HalfWeight *)at, rows, count / rows,
                 inits[i].scale);
        else
            STEP(-1, orthogonalize<real>, 1, 1024, (real *)at, rows, count / rows, inits[i].scale);
    }
    return NET_OK;
}

// Rounds numbers to the storage type of weights, in pieces that fit on the stack.
static int net_round(net_context *c, const net_tensor &t, const unsigned char *from)
{
    enum { PIECE = 2048 };
    HalfWeight piece[PIECE];
    const long long count = net_elements(t);
    for (long long first = 0, some; first < count; first += some) {
        some = count - first < PIECE ? count - first : (long long)PIECE;
        for (long long i = 0; i < some; i++) {
            float number;
            memcpy(&number, from + (size_t)(first + i) * sizeof number, sizeof number);
            piece[i] = number;
        }
        TRY(net_put(c, t.offset + (size_t)first * sizeof *piece, piece,
                    (size_t)some * sizeof *piece));
    }
    return NET_OK;
}

// Takes a state whose weights are f32: header, parameters and running statistics, each padded to a
// multiple of NET_ARENA_ALIGN bytes.
static int net_take_f32(net_context *c, const void *state, StateHeader header)
{
    const unsigned char *from = (const unsigned char *)state + net_params[0].offset;
    header.params_hash = NET_PARAMS_HASH;
    TRY(net_accept(c, header, "import"));
    for (int i = 0; i < NET_PARAM_COUNT + NET_STATISTIC_COUNT; i++) {
        const net_tensor &t = net_params[i];
        const size_t bytes = (size_t)net_elements(t) * sizeof(real);
        TRY(net_is_half(t) ? net_round(c, t, from) : net_put(c, t.offset, from, bytes));
        from += (bytes + NET_ARENA_ALIGN - 1) / NET_ARENA_ALIGN * NET_ARENA_ALIGN;
    }
    header.arrivals = 0;
    return net_put(c, 0, &header, sizeof header);
}

int net_import_any(net_context *c, const void *state, size_t bytes)
{
    StateHeader header;
    TRY(net_is_ready(c, "import"));
    if (!state || bytes != NET_F32_PARAMS_BYTES) return net_take_state(c, state, bytes);
    memcpy(&header, state, sizeof header);
    return header.params_hash == NET_F32_PARAMS_HASH ? net_take_f32(c, state, header)
                                                     : net_take_state(c, state, bytes);
}
