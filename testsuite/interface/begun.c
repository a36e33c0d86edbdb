// Checks initial weights, and the effect of training on their averages and on
// the rate.
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "begun.h"

#define EXPECT(condition)                                                      \
    do {                                                                       \
        if (!(condition)) {                                                    \
            fprintf(stderr, "%s:%d: expected %s\n", __FILE__, __LINE__,        \
                    #condition);                                               \
            exit(1);                                                           \
        }                                                                      \
    } while (0)

enum { INPUTS = 64, UNITS = 600, PIXELS = 4 * 4 * 3, CLASSES = 3 };

static begun_context net;
static unsigned char state[BEGUN_STATE_BYTES];
static float x[BEGUN_BATCH][INPUTS], map[BEGUN_BATCH][PIXELS];
static const int32_t label[BEGUN_BATCH] = {0, 1, 2, 1};

static void draw_batch(void)
{
    unsigned seed = 1;
    for (int n = 0; n < BEGUN_BATCH; n++) {
        for (int i = 0; i < INPUTS; i++)
            x[n][i] = (float)((seed = 1664525u * seed + 1013904223u) >> 8) / 8388608.0f - 1;
        for (int i = 0; i < PIXELS; i++)
            map[n][i] = (float)((seed = 1664525u * seed + 1013904223u) >> 8) / 8388608.0f - 1;
    }
}

static void export_state(void)
{
    EXPECT(begun_export(&net, state, sizeof state) == 0);
}

// The parameter as the exported state has it.
static float *weight(const char *name, long *rows, long *columns)
{
    for (int i = 0; i < BEGUN_PARAM_COUNT; i++) {
        const begun_tensor *t = begun_param(i);
        if (strcmp(t->name, name)) continue;
        *rows = (long)t->shape[0];
        *columns = (long)(t->bytes / sizeof(float)) / *rows;
        return (float *)(void *)(state + t->offset);
    }
    fprintf(stderr, "no parameter is called %s\n", name);
    exit(1);
}

// ---- how weights begin -------------------------------------------------------

// Chooses rows, or columns where there are fewer columns.
static void expect_orthonormal(const char *name)
{
    long rows, columns;
    const float *w = weight(name, &rows, &columns);
    long count = rows < columns ? rows : columns, length = rows < columns ? columns : rows;
    long step = rows < columns ? columns : 1, stride = rows < columns ? 1 : columns;
    double worst = 0;
    for (long i = 0; i < count; i++)
        for (long j = 0; j <= i; j++) {
            double dot = 0;
            for (long k = 0; k < length; k++)
                dot += (double)w[i * step + k * stride] * w[j * step + k * stride];
            worst = fmax(worst, fabs(dot - (i == j)));
        }
    printf("%s: %ld x %ld, orthonormal within %.2g\n", name, rows, columns, worst);
    EXPECT(worst < 1e-6);
}

// The deviation within 2 %, which is five times the random error; no element of
// a uniform one past its limit, and some near it; of a normal one some past two
// deviations.
static void expect_deviation(const char *name, double variance, int uniform)
{
    long rows, columns;
    const float *w = weight(name, &rows, &columns);
    double deviation = sqrt(variance), sum = 0, squares = 0, most = 0;
    long count = rows * columns, beyond = 0;
    EXPECT(count == (long)INPUTS * UNITS);
    for (long i = 0; i < count; i++) {
        sum += w[i];
        squares += (double)w[i] * w[i];
        most = fmax(most, fabs((double)w[i]));
        beyond += fabs((double)w[i]) > 2 * deviation;
    }
    printf("%s: mean %.2g, deviation %.4g for %.4g, largest %.4g\n", name, sum / count,
           sqrt(squares / count), deviation, most);
    EXPECT(fabs(sum / count) < 5 * deviation / sqrt((double)count));
    EXPECT(fabs(sqrt(squares / count) / deviation - 1) < 0.02);
    if (uniform) EXPECT(most <= sqrt(3) * deviation * (1 + 1e-6) && most > 1.73 * deviation);
    else EXPECT(fabs((double)beyond / count - 0.0455) < 0.006 && most > 3 * deviation);
}

static void weights_begin_as_told(void)
{
    long rows, columns;
    export_state();
    expect_orthonormal("wide.weight");
    expect_orthonormal("tall.weight");
    expect_orthonormal("row.weight");
    expect_orthonormal("many.weight");
    expect_orthonormal("filters.weight");
    expect_deviation("he_u.weight", 2.0 / INPUTS, 1);
    expect_deviation("he_n.weight", 2.0 / INPUTS, 0);
    expect_deviation("glorot_u.weight", 2.0 / (INPUTS + UNITS), 1);
    expect_deviation("glorot_n.weight", 2.0 / (INPUTS + UNITS), 0);
    expect_deviation("lecun_u.weight", 1.0 / INPUTS, 1);
    expect_deviation("lecun_n.weight", 1.0 / INPUTS, 0);
    const float *w = weight("same.weight", &rows, &columns);
    for (long i = 0; i < rows * columns; i++) EXPECT(w[i] == 0.25f);
    w = weight("he_n.bias", &rows, &columns);
    for (long i = 0; i < rows; i++) EXPECT(w[i] == 0);
}

// ---- averages ----------------------------------------------------------------

static int train(const float *image)
{
    return begun_train(&net, image, sizeof x, map[0], sizeof map, label, sizeof label);
}

// The results of the net for the batch, and evaluate's loss.
static double infer(float logits[BEGUN_BATCH][CLASSES])
{
    begun_figures figures;
    EXPECT(begun_infer(&net, x[0], sizeof x, map[0], sizeof map, logits[0],
                       BEGUN_BATCH * CLASSES * sizeof(float)) == 0);
    EXPECT(begun_metrics(&net, &figures, 1) == 0);
    EXPECT(begun_evaluate(&net, x[0], sizeof x, map[0], sizeof map, label, sizeof label) == 0);
    EXPECT(begun_metrics(&net, &figures, 1) == 0);
    return figures.loss;
}

// Fills every parameter of the exported state, but no average, with a value.
static void overwrite_weights(float value)
{
    for (int i = 0; i < BEGUN_PARAM_COUNT; i++) {
        const begun_tensor *t = begun_param(i);
        for (size_t k = 0; k < t->bytes; k += sizeof value)
            memcpy(state + t->offset + k, &value, sizeof value);
    }
}

// Before training the averages are the weights, after it not; only they are inferred from.
static void inference_has_the_averages(void)
{
    float before[BEGUN_BATCH][CLASSES], after[BEGUN_BATCH][CLASSES], same[BEGUN_BATCH][CLASSES];
    begun_figures figures;
    double loss = infer(before);
    EXPECT(isfinite(loss));
    // A first step trains on the weights that were inferred from.
    EXPECT(train(x[0]) == 0 && begun_metrics(&net, &figures, 1) == 0);
    EXPECT(fabs(figures.loss - loss) < 1e-6);
    loss = infer(after);
    EXPECT(memcmp(before, after, sizeof before));
    export_state();
    overwrite_weights(0);
    EXPECT(begun_import(&net, state, sizeof state) == 0);
    EXPECT(infer(same) == loss && !memcmp(after, same, sizeof same));
    EXPECT(train(x[0]) == 0 && begun_metrics(&net, &figures, 1) == 0);
    EXPECT(fabs(figures.loss - log(CLASSES)) < 1e-6);
}

// ---- the rate, and steps that are skipped -------------------------------------

// Two steps have been taken of a warmup of four.
static void rates_follow_the_schedule(void)
{
    static const double factors[] = {0.75, 1, 1};
    begun_figures figures;
    for (int i = 0; i < 3; i++) {
        if (i == 2) EXPECT(begun_set(&net, BEGUN_RATE, 0.0625) == 0);
        EXPECT(train(x[0]) == 0 && begun_metrics(&net, &figures, 1) == 0);
        EXPECT(figures.learning_rate == (i == 2 ? 0.0625 : 0.125) * factors[i]);
    }
}

// A loss that is not finite: weights, moments and averages stay; the step counts.
static void skipped_steps_change_nothing(void)
{
    static unsigned char was[BEGUN_STATE_BYTES];
    begun_figures before, after;
    float bad[BEGUN_BATCH][INPUTS];
    memcpy(bad, x, sizeof bad);
    bad[2][5] = NAN;
    EXPECT(begun_metrics(&net, &before, 1) == 0);
    export_state();
    memcpy(was, state, sizeof was);
    EXPECT(train(bad[0]) == 0 && begun_metrics(&net, &after, 1) == 0);
    EXPECT(after.step == before.step + 1 && after.updates == before.updates);
    export_state();
    EXPECT(!memcmp(was + 256, state + 256, sizeof was - 256));
    EXPECT(train(x[0]) == 0 && begun_metrics(&net, &after, 1) == 0);
    EXPECT(after.updates == before.updates + 1);
    export_state();
    EXPECT(memcmp(was + 256, state + 256, sizeof was - 256));
}

int main(void)
{
    void *arena = NULL;
    cublasHandle_t cublas;
    EXPECT(cudaMalloc(&arena, BEGUN_ARENA_BYTES) == 0 && cublasCreate(&cublas) == 0);
    EXPECT(begun_init(&net, arena, BEGUN_ARENA_BYTES, NULL, cublas, 7) == 0);
    draw_batch();
    weights_begin_as_told();
    inference_has_the_averages();
    rates_follow_the_schedule();
    skipped_steps_change_nothing();
    EXPECT(cublasDestroy(cublas) == 0 && cudaFree(arena) == 0);
    return 0;
}
