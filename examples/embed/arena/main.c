// Trains a net and runs it, in an arena that this program owns.  The arena's size is a constant,
// and nothing is allocated after init.
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

#include "bars.h"

enum { SIZE = 12, WAYS = 3 };

typedef struct Batch {
    float   image[BARS_BATCH][SIZE][SIZE];
    int32_t way[BARS_BATCH];
} Batch;

// Ends the program if a call failed, with the net's own message.
static void check(int status, const bars_context *net)
{
    const bars_error *e = bars_last_error(net);
    if (status == BARS_OK) return;
    fprintf(stderr, "%s: %s: %s (line %d of the net)\n", bars_strerror(status),
            e->call, e->text, e->line);
    exit(1);
}

static void check_cuda(int status, const char *what)
{
    if (status == 0) return;
    fprintf(stderr, "%s failed: %d\n", what, status);
    exit(1);
}

static uint32_t next_random(uint32_t *seed)
{
    *seed = 1664525u * *seed + 1013904223u;
    return *seed >> 8;
}

// Draws bars of 2 to 3 pixels along x, along y or along the diagonal, with noise.
static void draw(Batch *b, uint32_t *seed)
{
    for (int n = 0; n < BARS_BATCH; n++) {
        int way = (int)(next_random(seed) % WAYS);
        int wide = 2 + (int)(next_random(seed) % 2);
        int shift = (int)(next_random(seed) % 6);
        b->way[n] = way;
        for (int y = 0; y < SIZE; y++)
            for (int x = 0; x < SIZE; x++) {
                int across = way == 0 ? y : way == 1 ? x : x + y;
                float noise = (float)next_random(seed) / (1 << 24);
                b->image[n][y][x] =
                    (float)((across + shift) / wide % 2) + noise - 0.5f;
            }
    }
}

// Returns the loss on a batch that is not used for training.
static bars_figures evaluate(bars_context *net, const Batch *b)
{
    bars_figures figures;
    check(bars_metrics(net, &figures, 1), net);
    check(bars_evaluate(net, b->image[0][0], sizeof b->image, b->way,
                        sizeof b->way), net);
    check(bars_metrics(net, &figures, 1), net);
    return figures;
}

// The batch may change only after the stream has read it.  A faster program would fill another one
// meanwhile.
static void train(bars_context *net, int steps, uint32_t seed)
{
    Batch b;
    for (int i = 0; i < steps; i++) {
        draw(&b, &seed);
        check(bars_train(net, b.image[0][0], sizeof b.image, b.way,
                         sizeof b.way), net);
        check_cuda(cudaStreamSynchronize(net->stream), "waiting for the stream");
    }
}

// Infers a single image.  Returns the class with the largest logit.
static int classify(bars_context *net, const Batch *b, int n)
{
    float logits[WAYS];
    int best = 0;
    check(bars_infer(net, b->image[n][0], sizeof b->image[n], logits,
                     sizeof logits), net);
    check_cuda(cudaStreamSynchronize(net->stream), "waiting for the stream");
    for (int k = 1; k < WAYS; k++)
        if (logits[k] > logits[best]) best = k;
    return best;
}

// usage: arena [STEPS]
int main(int argc, char **argv)
{
    static const char *const words[WAYS] = { "along", "upright", "slanted" };
    static unsigned char state[BARS_STATE_BYTES];
    static Batch test;
    bars_context net;
    cublasHandle_t cublas;
    cudaStream_t stream;
    void *arena;
    uint32_t seed = 7;
    int steps = argc > 1 ? atoi(argv[1]) : 150;

    check_cuda(cudaMalloc(&arena, BARS_ARENA_BYTES), "cudaMalloc");
    check_cuda(cudaStreamCreate(&stream), "cudaStreamCreate");
    check_cuda(cublasCreate(&cublas), "cublasCreate");
    check(bars_init(&net, arena, BARS_ARENA_BYTES, stream, cublas, 1), &net);
    for (int i = 0; i < BARS_PARAM_COUNT; i++)
        printf("%-22s %6zu bytes\n", bars_param(i)->name, bars_param(i)->bytes);

    draw(&test, &seed);
    bars_figures before = evaluate(&net, &test);
    train(&net, steps, 1234);
    bars_figures after = evaluate(&net, &test);
    printf("loss %.4f before, %.4f after %d steps, %.0f %% right\n",
           before.loss, after.loss, steps, 100 * after.accuracy);

    // Exports the whole state to the host, and imports it into a new arena.
    check(bars_export(&net, state, sizeof state), &net);
    check(bars_init(&net, arena, BARS_ARENA_BYTES, stream, cublas, 2), &net);
    check(bars_import(&net, state, sizeof state), &net);
    bars_figures restored = evaluate(&net, &test);
    printf("loss %.4f from its state, an image is %s and was taken for %s\n",
           restored.loss, words[test.way[0]], words[classify(&net, &test, 0)]);

    cublasDestroy(cublas);
    cudaStreamDestroy(stream);
    cudaFree(arena);
    return after.loss < before.loss / 2 && restored.loss == after.loss ? 0 : 1;
}
