// A training build and an inference build of one net in one program: learn.h
// and serve.h.  The training state begins with the whole inference state.
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <stdio.h>

#include "learn.h"
#include "serve.h"

enum { SIZE = 8, PIXELS = SIZE * SIZE, STEPS = 200, TRIES = 200 };

// Both builds have the same parameters.
typedef char same_size[LEARN_PARAMS_BYTES == SERVE_STATE_BYTES ? 1 : -1];
typedef char same_hash[LEARN_PARAMS_HASH == SERVE_PARAMS_HASH ? 1 : -1];

static uint8_t image[LEARN_BATCH][PIXELS];
static int32_t kind[LEARN_BATCH];
static uint32_t seed = 5;

static int next_random(int below)
{
    seed = 1664525u * seed + 1013904223u;
    return (int)((seed >> 8) % (uint32_t)below);
}

// Draws stripes with noise.  Returns 1 if they are vertical, or 0.
static int draw(uint8_t *pixels)
{
    int stand = next_random(2), width = 1 + next_random(2);
    int offset = next_random(4);
    for (int i = 0; i < PIXELS; i++) {
        int at = stand ? i % SIZE : i / SIZE;
        pixels[i] = (uint8_t)((at + offset) / width % 2 * 150 +
                              next_random(100));
    }
    return stand;
}

static int train(learn_context *net, int steps, double *loss)
{
    learn_figures figures;
    for (int i = 0; i < steps; i++) {
        for (int n = 0; n < LEARN_BATCH; n++) kind[n] = draw(image[n]);
        if (learn_train(net, image[0], sizeof image, kind, sizeof kind) ||
            cudaStreamSynchronize(NULL))
            return 1;
    }
    if (learn_metrics(net, &figures, 1)) return 1;
    *loss = figures.loss;
    return 0;
}

// Infers images one by one.  Returns how many of TRIES are correct, or -1.
static int count_right(serve_context *net)
{
    int right = 0;
    for (int i = 0; i < TRIES; i++) {
        float logits[2];
        int stand = draw(image[0]);
        if (serve_infer(net, image[0], PIXELS, logits, sizeof logits) ||
            cudaStreamSynchronize(NULL))
            return -1;
        right += (logits[1] > logits[0]) == stand;
    }
    return right;
}

static int run(void *learn_arena, void *serve_arena, cublasHandle_t cublas)
{
    static unsigned char state[LEARN_STATE_BYTES];
    learn_context learn = { .ready = 0 };
    serve_context serve = { .ready = 0 };
    double before, after;
    int right;

    if (learn_init(&learn, learn_arena, LEARN_ARENA_BYTES, NULL, cublas, 1) ||
        serve_init(&serve, serve_arena, SERVE_ARENA_BYTES, NULL, cublas, 1) ||
        train(&learn, 10, &before) || train(&learn, STEPS, &after) ||
        train(&learn, 10, &after) ||
        learn_export(&learn, state, sizeof state) ||
        serve_import(&serve, state, SERVE_STATE_BYTES) ||
        (right = count_right(&serve)) < 0) {
        fprintf(stderr, "learn: %s\nserve: %s\n",
                learn_strerror(learn_last_error(&learn)->status),
                serve_strerror(serve_last_error(&serve)->status));
        return 1;
    }
    printf("learn: loss %.4f before, %.4f after\n", before, after);
    printf("serve: %d of %d right\n", right, TRIES);
    return after < before / 2 && right > TRIES * 9 / 10 ? 0 : 1;
}

int main(void)
{
    cublasHandle_t cublas;
    void *learn_arena, *serve_arena;
    if (cudaMalloc(&learn_arena, LEARN_ARENA_BYTES) ||
        cudaMalloc(&serve_arena, SERVE_ARENA_BYTES) || cublasCreate(&cublas))
        return 1;
    int status = run(learn_arena, serve_arena, cublas);
    cublasDestroy(cublas);
    cudaFree(learn_arena);
    cudaFree(serve_arena);
    return status;
}
