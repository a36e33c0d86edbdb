/* A training step by accum and apply is that by train, whatever comes between; what is refused,
   what is skipped, what is forgotten. */
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sums.h"

#define EXPECT(condition)                                                      \
    do {                                                                       \
        if (!(condition)) {                                                    \
            fprintf(stderr, "%s:%d: expected %s\n", __FILE__, __LINE__,        \
                    #condition);                                               \
            exit(1);                                                           \
        }                                                                      \
    } while (0)

enum { PIXELS = 36, HEADER = 256, COUNT = 24 };

static cudaStream_t stream;
static cublasHandle_t blas;
static uint8_t image[COUNT][PIXELS];
static int32_t label[COUNT];

typedef struct Net {
    sums_context  c;
    void         *arena;
    unsigned char state[SUMS_STATE_BYTES];
} Net;
static Net whole, parts;

static void draw_samples(void)
{
    unsigned seed = 7;
    for (int n = 0; n < COUNT; n++) {
        for (int i = 0; i < PIXELS; i++)
            image[n][i] = (uint8_t)((seed = 1664525u * seed + 1013904223u) >> 24);
        label[n] = n * 7 % 4;
    }
}

static void start(Net *net)
{
    if (!net->arena) EXPECT(cudaMalloc(&net->arena, SUMS_ARENA_BYTES) == cudaSuccess);
    EXPECT(sums_init(&net->c, net->arena, SUMS_ARENA_BYTES, stream, blas, 5) == SUMS_OK);
}

static int train(Net *net, int first, int count)
{
    return sums_train(&net->c, image[first], (size_t)count * PIXELS, label + first,
                      (size_t)count * sizeof *label);
}

static int accum(Net *net, int first, int count)
{
    return sums_accum(&net->c, image[first], (size_t)count * PIXELS, label + first,
                      (size_t)count * sizeof *label);
}

static int apply(Net *net)
{
    return sums_apply(&net->c);
}

static sums_figures figures_of(Net *net)
{
    sums_figures f;
    EXPECT(sums_metrics(&net->c, &f, 0) == SUMS_OK);
    return f;
}

static void export_state(Net *net)
{
    EXPECT(sums_export(&net->c, net->state, sizeof net->state) == SUMS_OK);
}

/* All after the header is doubles. */
#define expect_alike() are_alike(__LINE__)
static void are_alike(int line)
{
    double difference = 0, norm = 0;
    export_state(&whole);
    export_state(&parts);
    for (size_t at = HEADER; at < SUMS_STATE_BYTES; at += sizeof(double)) {
        double a, b;
        memcpy(&a, whole.state + at, sizeof a);
        memcpy(&b, parts.state + at, sizeof b);
        difference += (a - b) * (a - b);
        norm += a * a;
    }
    if (!(sqrt(difference) <= 1e-9 * sqrt(norm)))
        fprintf(stderr, "line %d: %g of %g\n", line, sqrt(difference), sqrt(norm));
    EXPECT(sqrt(difference) <= 1e-9 * sqrt(norm));
    sums_figures f = figures_of(&whole), g = figures_of(&parts);
    EXPECT(f.step == g.step && f.updates == g.updates && f.samples == g.samples);
    EXPECT(fabs(f.loss - g.loss) <= 1e-9 * f.loss && fabs(f.accuracy - g.accuracy) < 1e-9);
    EXPECT(fabs(f.counted - g.counted) <= 1e-9 * f.counted && f.counted_weight == g.counted_weight);
}

static void start_both(void)
{
    start(&whole);
    start(&parts);
}

/* ---- the same training step --------------------------------------------------------------- */

static void parts_are_the_whole(void)
{
    start_both();
    for (int step = 0; step < 3; step++) {
        EXPECT(train(&whole, 8 * step, 8) == SUMS_OK);
        EXPECT(accum(&parts, 8 * step, 5) == SUMS_OK && accum(&parts, 8 * step + 5, 1) == SUMS_OK);
        EXPECT(accum(&parts, 8 * step + 6, 2) == SUMS_OK && apply(&parts) == SUMS_OK);
        expect_alike();
    }
    EXPECT(train(&whole, 0, 7) == SUMS_OK && train(&parts, 0, 7) == SUMS_OK);
    expect_alike();
}

/* A step of more samples than a call takes; both have it in parts, of other sizes. */
static void larger_than_a_batch(void)
{
    start_both();
    EXPECT(accum(&whole, 0, 8) == SUMS_OK && accum(&whole, 8, 8) == SUMS_OK);
    EXPECT(accum(&whole, 16, 4) == SUMS_OK && apply(&whole) == SUMS_OK);
    for (int first = 0; first < 20; first += 5) EXPECT(accum(&parts, first, 5) == SUMS_OK);
    EXPECT(apply(&parts) == SUMS_OK);
    EXPECT(figures_of(&parts).samples == 20);
    expect_alike();
}

static void others_may_come_between(void)
{
    double logits[8][4];
    start_both();
    EXPECT(train(&whole, 0, 8) == SUMS_OK);
    EXPECT(accum(&parts, 0, 4) == SUMS_OK);
    EXPECT(sums_evaluate(&parts.c, image[8], 8 * PIXELS, label + 8, 8 * sizeof *label) == SUMS_OK);
    EXPECT(accum(&parts, 4, 4) == SUMS_OK);
    EXPECT(sums_infer(&parts.c, image[8], 8 * PIXELS, logits[0], sizeof logits) == SUMS_OK);
    EXPECT(apply(&parts) == SUMS_OK);
    EXPECT(sums_evaluate(&whole.c, image[8], 8 * PIXELS, label + 8, 8 * sizeof *label) == SUMS_OK);
    EXPECT(figures_of(&parts).samples == 16);
    sums_figures f;     /* that loss was of other weights */
    EXPECT(sums_metrics(&whole.c, &f, 1) == SUMS_OK && sums_metrics(&parts.c, &f, 1) == SUMS_OK);
    EXPECT(train(&whole, 0, 8) == SUMS_OK && train(&parts, 0, 8) == SUMS_OK);
    expect_alike();
}

/* ---- steps that are skipped --------------------------------------------------------------- */

/* The state stays, except the header's figures of the step. */
static void expect_skipped(const unsigned char *before, sums_figures was)
{
    sums_figures f = figures_of(&parts);
    export_state(&parts);
    EXPECT(!memcmp(before + HEADER, parts.state + HEADER, SUMS_STATE_BYTES - HEADER));
    EXPECT(f.step == was.step + 1 && f.updates == was.updates && f.samples == was.samples);
    EXPECT(f.loss == was.loss && f.accuracy == was.accuracy);
}

/* The sample `bad` of a step of eight has a label that is none. */
static void skips_with(int bad)
{
    unsigned char before[SUMS_STATE_BYTES];
    sums_figures was = figures_of(&parts);
    int32_t right = label[bad];
    export_state(&parts);
    memcpy(before, parts.state, sizeof before);
    label[bad] = 99;
    EXPECT(accum(&parts, 0, 4) == SUMS_OK && accum(&parts, 4, 4) == SUMS_OK);
    export_state(&parts);
    EXPECT(!memcmp(before + HEADER, parts.state + HEADER, SUMS_STATE_BYTES - HEADER));
    EXPECT(apply(&parts) == SUMS_OK);
    expect_skipped(before, was);
    label[bad] = right;
}

static void bad_losses_are_skipped(void)
{
    unsigned char before[SUMS_STATE_BYTES];
    start_both();
    EXPECT(train(&whole, 0, 8) == SUMS_OK && train(&parts, 0, 8) == SUMS_OK);
    for (int bad = 0; bad < 8; bad += 7) {
        skips_with(bad);
        int32_t right = label[0];
        label[0] = 99;
        EXPECT(train(&whole, 0, 8) == SUMS_OK);     /* its steps count too */
        label[0] = right;
    }
    sums_figures was = figures_of(&parts);
    export_state(&parts);
    memcpy(before, parts.state, sizeof before);
    EXPECT(apply(&parts) == SUMS_OK);               /* of no samples */
    expect_skipped(before, was);
    label[3] += 99;
    EXPECT(train(&whole, 0, 8) == SUMS_OK);
    label[3] -= 99;
    EXPECT(train(&whole, 8, 8) == SUMS_OK);
    EXPECT(accum(&parts, 8, 4) == SUMS_OK && accum(&parts, 12, 4) == SUMS_OK);
    EXPECT(apply(&parts) == SUMS_OK);
    EXPECT(figures_of(&parts).updates == was.updates + 1);
    expect_alike();
}

/* ---- forgotten sums, and refused calls ---------------------------------------------------- */

static void expect_forgotten(void)
{
    EXPECT(train(&whole, 8, 8) == SUMS_OK && train(&parts, 8, 8) == SUMS_OK);
    expect_alike();
}

static void states_have_no_sums(void)
{
    static unsigned char amid[SUMS_STATE_BYTES];
    start_both();
    EXPECT(train(&whole, 0, 8) == SUMS_OK && train(&parts, 0, 8) == SUMS_OK);
    EXPECT(accum(&parts, 0, 8) == SUMS_OK);
    EXPECT(sums_export(&parts.c, amid, sizeof amid) == SUMS_OK);
    EXPECT(sums_import(&parts.c, amid, sizeof amid) == SUMS_OK);
    expect_forgotten();
    EXPECT(accum(&parts, 0, 8) == SUMS_OK);
    EXPECT(sums_attach(&parts.c, parts.arena, SUMS_ARENA_BYTES, stream, blas) == SUMS_OK);
    expect_forgotten();
    EXPECT(accum(&parts, 0, 8) == SUMS_OK);
    start_both();
    expect_forgotten();
}

static void sizes_are_checked(void)
{
    sums_context none;
    memset(&none, 0, sizeof none);
    EXPECT(sums_apply(&none) == SUMS_NOT_READY);
    EXPECT(sums_accum(&none, image[0], PIXELS, label, sizeof *label) == SUMS_NOT_READY);
    EXPECT(sums_apply(NULL) == SUMS_BAD_ARGUMENT);
    start_both();
    EXPECT(SUMS_BATCH == 8);
    EXPECT(accum(&parts, 0, 9) == SUMS_BAD_ARGUMENT && accum(&parts, 0, 0) == SUMS_BAD_ARGUMENT);
    EXPECT(strstr(sums_last_error(&parts.c)->call, "accum") != NULL);
    EXPECT(sums_accum(&parts.c, image[0], 3 * PIXELS, label, 2 * sizeof *label) ==
           SUMS_BAD_ARGUMENT);
    expect_forgotten();         /* nothing of them was added */
}

/* ---- graphs ------------------------------------------------------------------------------- */

static cudaGraphExec_t capture(Net *net, const uint8_t *images, const int32_t *labels)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    EXPECT(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
    int status = images ? sums_accum(&net->c, images, 4 * PIXELS, labels, 4 * sizeof *labels)
                        : apply(net);
    EXPECT(status == SUMS_OK && cudaStreamEndCapture(stream, &graph) == cudaSuccess);
    EXPECT(cudaGraphInstantiate(&exec, graph, 0) == cudaSuccess);
    EXPECT(cudaGraphDestroy(graph) == cudaSuccess);
    return exec;
}

static void graphs_are_the_calls(void)
{
    uint8_t *images;
    int32_t *labels;
    start_both();
    EXPECT(cudaMalloc((void **)&images, sizeof image) == cudaSuccess);
    EXPECT(cudaMalloc((void **)&labels, sizeof label) == cudaSuccess);
    EXPECT(cudaMemcpy(images, image, sizeof image, cudaMemcpyHostToDevice) == cudaSuccess);
    EXPECT(cudaMemcpy(labels, label, sizeof label, cudaMemcpyHostToDevice) == cudaSuccess);
    cudaGraphExec_t add[2] = {capture(&parts, images, labels),
                              capture(&parts, images + 4 * PIXELS, labels + 4)};
    cudaGraphExec_t end = capture(&parts, NULL, NULL);
    for (int step = 0; step < 3; step++) {
        EXPECT(train(&whole, 0, 8) == SUMS_OK);
        for (int i = 0; i < 2; i++) EXPECT(cudaGraphLaunch(add[i], stream) == cudaSuccess);
        EXPECT(cudaGraphLaunch(end, stream) == cudaSuccess);
        expect_alike();
    }
    for (int i = 0; i < 2; i++) EXPECT(cudaGraphExecDestroy(add[i]) == cudaSuccess);
    EXPECT(cudaGraphExecDestroy(end) == cudaSuccess);
    EXPECT(cudaFree(images) == cudaSuccess && cudaFree(labels) == cudaSuccess);
}

int main(void)
{
    draw_samples();
    EXPECT(cudaStreamCreate(&stream) == cudaSuccess);
    EXPECT(cublasCreate(&blas) == CUBLAS_STATUS_SUCCESS);
    parts_are_the_whole();
    larger_than_a_batch();
    others_may_come_between();
    bad_losses_are_skipped();
    states_have_no_sums();
    sizes_are_checked();
    graphs_are_the_calls();
    EXPECT(cudaFree(whole.arena) == cudaSuccess && cudaFree(parts.arena) == cudaSuccess);
    EXPECT(cublasDestroy(blas) == CUBLAS_STATUS_SUCCESS);
    EXPECT(cudaStreamDestroy(stream) == cudaSuccess);
    puts("accum and apply are train");
    return 0;
}
