// Trains a net in an arena that is an array of the module.  The program
// allocates nothing, and the linker knows how much memory it needs.
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <math.h>
#include <stdio.h>

#include "pulse.h"

enum { LENGTH = 64, KINDS = 3, STEPS = 200 };

static pulse_context net;
static float readings[PULSE_BATCH][LENGTH];
static int32_t kind[PULSE_BATCH];
static uint32_t seed = 11;

static float next_random(void)
{
    seed = 1664525u * seed + 1013904223u;
    return (float)(seed >> 8) / (1 << 24);
}

// Draws noise, alone or with an arch of 24 or 8 readings.
static void draw(void)
{
    for (int n = 0; n < PULSE_BATCH; n++) {
        int k = kind[n] = (int)(KINDS * next_random());
        int length = k == 1 ? 24 : 8;
        int start = (int)((LENGTH - length) * next_random());
        for (int i = 0; i < LENGTH; i++) {
            int inside = k > 0 && i >= start && i < start + length;
            float phase = 3.1416f * (float)(i - start) / (float)length;
            readings[n][i] = (inside ? 2 * sinf(phase) : 0) +
                             0.5f * (next_random() - 0.5f);
        }
    }
}

static int failed(int status)
{
    if (status != PULSE_OK)
        fprintf(stderr, "%s: %s\n", pulse_strerror(status),
                pulse_last_error(&net)->text);
    return status != PULSE_OK;
}

// Takes training steps.  Returns the mean loss, negative after an error.
static double train(int steps)
{
    pulse_figures figures;
    for (int i = 0; i < steps; i++) {
        draw();
        if (failed(pulse_train(&net, readings[0], sizeof readings, kind,
                               sizeof kind)) ||
            cudaStreamSynchronize(net.stream))  // the data may change after
                                                // this
            return -1;
    }
    return failed(pulse_metrics(&net, &figures, 1)) ? -1 : figures.loss;
}

int main(void)
{
    cublasHandle_t cublas;
    if (cublasCreate(&cublas) != CUBLAS_STATUS_SUCCESS) return 1;
    if (failed(pulse_init(&net, pulse_static_arena(), PULSE_ARENA_BYTES, NULL,
                          cublas, 3)))
        return 1;
    double before = train(10), between = train(STEPS), after = train(10);
    printf("an arena of %d bytes; loss %.4f at first, %.4f in the last steps\n",
           PULSE_ARENA_BYTES, before, after);
    cublasDestroy(cublas);
    return before > 0 && between > 0 && after > 0 && after < before / 2 ? 0 : 1;
}
