// Two nets in one program, trained in turn.  Each has its context and its arena; one cuBLAS handle
// serves both.  Arenas of different nets may be in one allocation, here adjacent.
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <string.h>

#include "dots.h"
#include "sides.h"

enum { SIZE = 8, PIXELS = SIZE * SIZE, STEPS = 300, BATCH = DOTS_BATCH };

// Both were made with --batch 24, and the second arena begins where the first
// ends.
typedef char same_batch[DOTS_BATCH == SIDES_BATCH ? 1 : -1];
typedef char aligned[DOTS_ARENA_BYTES % SIDES_ARENA_ALIGN == 0 ? 1 : -1];

static uint8_t image[BATCH][PIXELS];
static int32_t label[BATCH];
static uint32_t seed = 5;

static int next_random(int below)
{
    seed = 1664525u * seed + 1013904223u;
    return (int)((seed >> 8) % (uint32_t)below);
}

// Draws `count` dark pixels.
static void dot(uint8_t *pixels, int count)
{
    memset(pixels, 0, PIXELS);
    while (count > 0) {
        int at = next_random(PIXELS);
        if (pixels[at] == 0) pixels[at] = 255, count--;
    }
}

static int train_dots(dots_context *net)
{
    for (int n = 0; n < BATCH; n++) {
        label[n] = next_random(4);
        dot(image[n], label[n] + 1);
    }
    return dots_train(net, image[0], sizeof image, label, sizeof label);
}

static int train_sides(sides_context *net)
{
    for (int n = 0; n < BATCH; n++) {
        dot(image[n], 1);
        const uint8_t *at = memchr(image[n], 255, PIXELS);
        label[n] = (at - image[n]) % SIZE >= SIZE / 2;
    }
    return sides_train(net, image[0], sizeof image, label, sizeof label);
}

// Takes training steps of both nets in turn, and sets their mean figures.  A new batch is drawn
// after the stream has read the previous one.
static int train(dots_context *dots, sides_context *sides, int steps,
                 dots_figures *of_dots, sides_figures *of_sides)
{
    for (int i = 0; i < steps; i++)
        if (train_dots(dots) || cudaStreamSynchronize(NULL) ||
            train_sides(sides) || cudaStreamSynchronize(NULL))
            return 1;
    return dots_metrics(dots, of_dots, 1) || sides_metrics(sides, of_sides, 1);
}

static int run(unsigned char *arena, cublasHandle_t cublas)
{
    dots_context dots = { .ready = 0 };
    sides_context sides = { .ready = 0 };
    dots_figures dots_before, dots_after;
    sides_figures sides_before, sides_after;

    if (dots_init(&dots, arena, DOTS_ARENA_BYTES, NULL, cublas, 1) ||
        sides_init(&sides, arena + DOTS_ARENA_BYTES, SIDES_ARENA_BYTES, NULL,
                   cublas, 1) ||
        train(&dots, &sides, 10, &dots_before, &sides_before) ||
        train(&dots, &sides, STEPS, &dots_after, &sides_after) ||
        train(&dots, &sides, 10, &dots_after, &sides_after)) {
        fprintf(stderr, "dots: %s\nsides: %s\n",
                dots_strerror(dots_last_error(&dots)->status),
                sides_strerror(sides_last_error(&sides)->status));
        return 1;
    }
    printf("dots:  loss %.4f before, %.4f after\n", dots_before.loss,
           dots_after.loss);
    printf("sides: loss %.4f before, %.4f after\n", sides_before.loss,
           sides_after.loss);
    return dots_after.loss < dots_before.loss / 2 &&
           sides_after.loss < sides_before.loss / 2 ? 0 : 1;
}

int main(void)
{
    cublasHandle_t cublas;
    void *arena;
    if (cudaMalloc(&arena, DOTS_ARENA_BYTES + SIDES_ARENA_BYTES) ||
        cublasCreate(&cublas))
        return 1;
    int status = run(arena, cublas);
    cublasDestroy(cublas);
    cudaFree(arena);
    return status;
}
