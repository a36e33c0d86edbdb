// A training step whose loss is not finite changes nothing that training reads.
// In the state only its header's counts change, and the counts of a metric that
// the next step drops.  For any net `probe` of these inputs, whose emitted file
// reads `planted`: the number of a guard that is taken out, or -1.
//
//     skips [PLANTED]
//
// METRIC_BYTES of the state after the parameters are the metric's.  COMPARABLE:
// a step depends on the number of updates before it, not of steps.
#include <cuda_runtime_api.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../runtime/support/net/header.cuh"
#include "probe.h"

enum { STEPS = 5, PIXELS = 4 * 4, NUMBERS = PIXELS * 2 };

typedef struct Batch {
    float image[PROBE_BATCH][NUMBERS];
    int32_t label[PROBE_BATCH][PIXELS];
} Batch;

int planted = -1;

static probe_context net;
static void *arena;
static unsigned char before[PROBE_STATE_BYTES], after[PROBE_STATE_BYTES];

// Reports the fault, and ends.
static void expect(int condition, const char *what)
{
    if (condition) return;
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static Batch batch_of(unsigned number)
{
    Batch b;
    unsigned x = 2654435761u * (number + 1);
    for (int n = 0; n < PROBE_BATCH; n++)
        for (int i = 0; i < NUMBERS; i++) {
            x = 1664525u * x + 1013904223u;
            b.image[n][i] = (float)(x >> 8) / 8388608.0f - 1.0f;
            b.label[n][i / 2] = (int32_t)(x >> 16) % 3;
        }
    return b;
}

static void train(const Batch *b)
{
    expect(!probe_train(&net, b->image[0], sizeof b->image, b->label[0], sizeof b->label),
           "a training step failed");
}

static void begin(void)
{
    expect(!probe_init(&net, arena, PROBE_ARENA_BYTES, NULL, NULL, 7), "init failed");
}

static void export_to(unsigned char *state)
{
    expect(!probe_export(&net, state, PROBE_STATE_BYTES), "export failed");
}

static int same(const unsigned char *a, const unsigned char *b)
{
    const size_t rest = PROBE_PARAMS_BYTES + METRIC_BYTES;
    return !memcmp(a + 256, b + 256, PROBE_PARAMS_BYTES - 256) &&
           !memcmp(a + rest, b + rest, PROBE_STATE_BYTES - rest);
}

// The step's counts in the header, and values that the step computed for
// itself: the rate, the scale of gradients, that it is skipped.
static void expect_skipped(void)
{
    struct StateHeader a, b;
    memcpy(&a, before, sizeof a);
    memcpy(&b, after, sizeof b);
    expect(same(before, after), "a skipped step changed parameters or what trains them");
    expect(b.skip == 1 && b.step == a.step + 1, "a skipped step is not counted");
    a.step = b.step, a.skip = b.skip, a.rate = b.rate, a.gradient_scale = b.gradient_scale;
    expect(!memcmp(&a, &b, sizeof a), "a skipped step changed the header");
}

static probe_figures figures_now(void)
{
    probe_figures f;
    expect(!probe_metrics(&net, &f, 0), "metrics failed");
    return f;
}

// A run of which step `at` is bad (STEPS: that step is left out), to its last state.
static probe_figures run(int at, int left_out, float bad, unsigned char *end)
{
    begin();
    for (int i = 0; i < STEPS; i++) {
        Batch b = batch_of((unsigned)i);
        if (i == at && left_out) continue;
        if (i == at) b.image[PROBE_BATCH - 1][3] = bad;
        if (i == at) export_to(before);
        train(&b);
        if (i == at) export_to(after), expect_skipped();
    }
    export_to(end);
    probe_figures f = figures_now();
    expect(f.updates == STEPS - 1 && f.samples == (STEPS - 1) * PROBE_BATCH,
           "updates or samples of a skipped step are counted");
    expect(isfinite(f.loss), "the loss of a skipped step is in the means");
    return f;
}

// A run with a bad step ends as one without that step.
static void compare_runs(int at, float bad)
{
    static unsigned char with[PROBE_STATE_BYTES], without[PROBE_STATE_BYTES];
    probe_figures a = run(at, 0, bad, with);
    if (!COMPARABLE) return;
    probe_figures b = run(at, 1, bad, without);
    expect(same(with, without), "after a skipped step training goes on differently");
    a.step = b.step;
    expect(!memcmp(&a, &b, sizeof a), "figures have something of a skipped step");
}

int main(int argc, char **argv)
{
    const float bad[] = {NAN, INFINITY, -INFINITY};
    if (argc > 1) planted = atoi(argv[1]);
    expect(!cudaMalloc(&arena, PROBE_ARENA_BYTES), "no arena");
    for (int k = 0; k < 3; k++)
        for (int at = 0; at < STEPS; at += 2) compare_runs(at, bad[k]);
    expect(!cudaFree(arena), "the arena can't be freed");
    return 0;
}
