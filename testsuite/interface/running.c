// Running statistics: training moves them towards the batch's, a step that is
// skipped leaves them alone, and evaluation and inference use them unchanged.
#include <math.h>

#include "nets.h"
#include "running.h"

enum { SAMPLES = RUNNING_BATCH, WIDTH = 3 };

static const float momentum = 0.25f;
static const int32_t labels[SAMPLES] = {2, 0, 1, 1};
static float batch[SAMPLES][WIDTH] = {
    {1, -20, 0.5f}, {3, -22, 0.25f}, {-2, -21.5f, 0}, {5, -19, 1}};

typedef struct Norm {
    float weight[WIDTH], bias[WIDTH], mean[WIDTH], variance[WIDTH];
} Norm;

static Norm norm_of(running_context *c)
{
    unsigned char state[RUNNING_STATE_BYTES];
    Norm n;
    EXPECT_OK(running_export(c, state, sizeof state));
    memcpy(n.weight, state + RUNNING_NORM_WEIGHT_OFFSET, sizeof n.weight);
    memcpy(n.bias, state + RUNNING_NORM_BIAS_OFFSET, sizeof n.bias);
    memcpy(n.mean, state + RUNNING_NORM_MEAN_OFFSET, sizeof n.mean);
    memcpy(n.variance, state + RUNNING_NORM_VARIANCE_OFFSET, sizeof n.variance);
    return n;
}

static int near(double a, double b)
{
    return fabs(a - b) <= 1e-5 * (1 + fabs(b));
}

static void train(running_context *c, int samples)
{
    EXPECT_OK(running_train(c, batch[0], (size_t)samples * sizeof batch[0], labels,
                            (size_t)samples * sizeof labels[0]));
}

// After a step on the first samples: old statistics moved to theirs, whose
// variance is over one less than there are, unless that is none.
static void expect_moved(const Norm *old, const Norm *now, int samples)
{
    for (int k = 0; k < WIDTH; k++) {
        double mean = 0, squares = 0;
        for (int n = 0; n < samples; n++) mean += batch[n][k] / samples;
        for (int n = 0; n < samples; n++) squares += pow(batch[n][k] - mean, 2);
        double variance = samples > 1 ? squares / (samples - 1) : 0;
        EXPECT(near(now->mean[k], old->mean[k] + momentum * (mean - old->mean[k])));
        EXPECT(near(now->variance[k],
                    old->variance[k] + momentum * (variance - old->variance[k])));
    }
}

static void training_moves(running_context *c)
{
    static const int samples[] = {SAMPLES, 3, 1, SAMPLES};
    Norm old = norm_of(c);
    for (int k = 0; k < WIDTH; k++) EXPECT(old.mean[k] == 0 && old.variance[k] == 1);
    for (int i = 0; i < 4; i++) {
        train(c, samples[i]);
        Norm now = norm_of(c);
        expect_moved(&old, &now, samples[i]);
        old = now;
    }
}

static void skipped_steps_do_not(running_context *c)
{
    Norm old = norm_of(c);
    const float was = batch[2][1];
    batch[2][1] = NAN;
    train(c, SAMPLES);
    batch[2][1] = was;
    Norm now = norm_of(c);
    EXPECT(!memcmp(&old, &now, sizeof now));
}

// The value for one sample alone, whose own statistics would make it 0.
static void inference_reads(running_context *c)
{
    Norm old = norm_of(c);
    running_figures figures;
    for (int n = 0; n < SAMPLES; n++) {
        float logits[WIDTH];
        double sum = 0;
        EXPECT_OK(running_infer(c, batch[n], sizeof batch[n], logits, sizeof logits));
        for (int k = 0; k < WIDTH; k++) {
            double x = (batch[n][k] - old.mean[k]) / sqrt(old.variance[k] + 1e-5);
            EXPECT(near(logits[k], x * old.weight[k] + old.bias[k]));
            sum += exp(logits[k]);
        }
        EXPECT_OK(running_metrics(c, &figures, 1));
        EXPECT_OK(running_evaluate(c, batch[n], sizeof batch[n], &labels[n], sizeof labels[n]));
        EXPECT_OK(running_metrics(c, &figures, 1));
        EXPECT(figures.samples == 1 && near(figures.loss, log(sum) - logits[labels[n]]));
    }
    Norm now = norm_of(c);
    EXPECT(!memcmp(&old, &now, sizeof now));
}

// Running statistics are no parameters: each kind has an index and a count of its own.
static void tensors_are_counted_apart(void)
{
    EXPECT(RUNNING_PARAMETERS == 2 * WIDTH && RUNNING_PARAM_COUNT == 2);
    EXPECT(RUNNING_STATISTICS == 2 * WIDTH && RUNNING_STATISTIC_COUNT == 2);
    EXPECT(!strcmp(running_param(0)->name, "norm.weight"));
    EXPECT(!strcmp(running_param(1)->name, "norm.bias"));
    EXPECT(running_param(-1) == NULL && running_param(2) == NULL);
    EXPECT(!strcmp(running_statistic(0)->name, "norm.mean"));
    EXPECT(!strcmp(running_statistic(1)->name, "norm.variance"));
    EXPECT(running_statistic(-1) == NULL && running_statistic(2) == NULL);
    EXPECT(running_statistic(0)->offset == RUNNING_STATISTICS_OFFSET);
}

int main(void)
{
    running_context c;
    void *arena = new_arena(RUNNING_ARENA_BYTES);
    EXPECT_OK(running_init(&c, arena, RUNNING_ARENA_BYTES, NULL, NULL, 1));
    tensors_are_counted_apart();
    training_moves(&c);
    skipped_steps_do_not(&c);
    inference_reads(&c);
    EXPECT_OK(cudaFree(arena));
    return 0;
}
