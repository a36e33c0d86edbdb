// Shared by the tests of the C interface: arenas, batches, expectations. C99,
// as the emitted headers are.
#ifndef NETS_H
#define NETS_H

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "one.h"
#include "two.h"

#define EXPECT(condition)                                                      \
    do {                                                                       \
        if (!(condition)) {                                                    \
            fprintf(stderr, "%s:%d: expected %s\n", __FILE__, __LINE__,        \
                    #condition);                                               \
            exit(1);                                                           \
        }                                                                      \
    } while (0)

#define EXPECT_OK(call) EXPECT((call) == 0)

enum { ONE_PIXELS = 6 * 6 * 2, TWO_PIXELS = 4 * 4 };

// One context of net `one`, with all that it needs.
typedef struct One {
    one_context c;
    void *arena;
    cublasHandle_t cublas;
} One;

// A batch of net `one`; other numbers make another batch.
typedef struct Batch {
    float image[ONE_BATCH][ONE_PIXELS];
    int32_t label[ONE_BATCH];
} Batch;

typedef struct State {
    unsigned char bytes[ONE_STATE_BYTES];
} State;

static inline void *new_arena(size_t bytes)
{
    void *arena = NULL;
    EXPECT_OK(cudaMalloc(&arena, bytes));
    return arena;
}

static inline One *new_one(uint64_t seed)
{
    One *one = (One *)calloc(1, sizeof *one);
    one->arena = new_arena(ONE_ARENA_BYTES);
    EXPECT_OK(cublasCreate(&one->cublas));
    EXPECT_OK(one_init(&one->c, one->arena, ONE_ARENA_BYTES, NULL, one->cublas, seed));
    return one;
}

static inline void free_one(One *one)
{
    EXPECT_OK(cublasDestroy(one->cublas));
    EXPECT_OK(cudaFree(one->arena));
    free(one);
}

static inline Batch batch_of(unsigned number)
{
    Batch b;
    unsigned x = 2654435761u * (number + 1);
    for (int n = 0; n < ONE_BATCH; n++) {
        for (int i = 0; i < ONE_PIXELS; i++) {
            x = 1664525u * x + 1013904223u;
            b.image[n][i] = (float)(x >> 8) / 8388608.0f - 1.0f;
        }
        b.label[n] = (int32_t)(x >> 16) % 3;
    }
    return b;
}

// A training step on the first samples of a batch.
static inline int train_some(One *one, const Batch *b, size_t samples)
{
    return one_train(&one->c, b->image[0], samples * sizeof b->image[0], b->label,
                     samples * sizeof b->label[0]);
}

static inline int evaluate_some(One *one, const Batch *b, size_t samples)
{
    return one_evaluate(&one->c, b->image[0], samples * sizeof b->image[0], b->label,
                        samples * sizeof b->label[0]);
}

static inline int infer_some(One *one, const Batch *b, size_t samples, float *logits)
{
    return one_infer(&one->c, b->image[0], samples * sizeof b->image[0], logits,
                     samples * 3 * sizeof *logits);
}

static inline State state_of(One *one)
{
    State s;
    EXPECT_OK(one_export(&one->c, s.bytes, sizeof s.bytes));
    return s;
}

static inline one_figures metrics_of(One *one, int reset)
{
    one_figures m;
    EXPECT_OK(one_metrics(&one->c, &m, reset));
    return m;
}

// All of a state, or all but its header of 256 bytes: parameters and optimizer.
static inline int same_state(const State *a, const State *b)
{
    return !memcmp(a->bytes, b->bytes, sizeof a->bytes);
}

static inline int same_weights(const State *a, const State *b)
{
    return !memcmp(a->bytes + 256, b->bytes + 256, sizeof a->bytes - 256);
}

#endif
