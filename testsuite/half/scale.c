// Training steps of a net `probe` whose loss is scaled, as the argument says, a letter
// each; the state at the end goes to a file:
//
//     scale STEPS STATE [FROM]
//
// g: a good batch, the next of an endless row; o: one whose loss is finite, but not the
// second element of a gradient where the loss is scaled by more than 1024; n: one whose
// loss is not finite; f: one whose gradients are too large for f16 where the loss is
// scaled by more than 16384; h: a good batch of no row; s: the state is exported,
// forgotten, and imported again.  With ACCUM letters are calls of accum, and | is apply.
// FROM is the state to begin with.  After each training step a line: steps, updates,
// samples, the scale of the next step.
#include <cuda_runtime_api.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "probe.h"

enum { PIXELS = 4 * 4, NUMBERS = PIXELS * 2 };

typedef struct Batch {
    float image[PROBE_BATCH][NUMBERS];
    int32_t label[PROBE_BATCH][PIXELS];
    float gain[PROBE_BATCH][2];
} Batch;

int planted = -1;

static probe_context net;
static void *arena;
static unsigned char state[PROBE_STATE_BYTES];

static void expect(int condition, const char *what)
{
    if (condition) return;
    fprintf(stderr, "%s\n", what);
    exit(2);
}

static Batch batch_of(unsigned number, char kind)
{
    Batch b;
    unsigned x = 2654435761u * (number + 1);
    for (int n = 0; n < PROBE_BATCH; n++) {
        for (int i = 0; i < NUMBERS; i++) {
            x = 1664525u * x + 1013904223u;
            b.image[n][i] = (float)(x >> 8) / 8388608.0f - 1.0f;
            b.label[n][i / 2] = (int32_t)(x >> 16) % 3;
        }
        b.gain[n][0] = (float)(x >> 8) / 8388608.0f;
        b.gain[n][1] = b.gain[n][0] / 2;
    }
    if (kind == 'f') b.gain[PROBE_BATCH - 1][1] = 20;
    if (kind == 'o') b.gain[PROBE_BATCH - 1][1] = 1.5e18f;
    if (kind == 'n') b.gain[0][0] = NAN;
    return b;
}

static void read_state(const char *path)
{
    FILE *file = fopen(path, "rb");
    expect(file && fread(state, 1, sizeof state, file) == sizeof state, "no state to begin with");
    fclose(file);
    expect(!probe_import(&net, state, sizeof state), "import failed");
}

static void go_on(void)
{
    expect(!probe_export(&net, state, sizeof state), "export failed");
    expect(!probe_init(&net, arena, PROBE_ARENA_BYTES, NULL, NULL, 8), "init failed");
    expect(!probe_import(&net, state, sizeof state), "import failed");
}

static void tell(void)
{
    probe_figures f;
    expect(!probe_metrics(&net, &f, 0), "metrics failed");
#ifdef SCALED
    const double scale = f.loss_scale;
#else
    const double scale = 1;
#endif
    printf("%llu %llu %llu %g\n", (unsigned long long)f.step, (unsigned long long)f.updates,
           (unsigned long long)f.samples, scale);
    expect(isfinite(f.loss), "the loss of a skipped step is in the means");
}

static void take(char kind, unsigned number)
{
    const Batch b = batch_of(number, kind);
#ifdef ACCUM
    expect(!probe_accum(&net, b.image[0], sizeof b.image, b.label[0], sizeof b.label, b.gain[0],
                        sizeof b.gain), "accum failed");
#else
    expect(!probe_train(&net, b.image[0], sizeof b.image, b.label[0], sizeof b.label, b.gain[0],
                        sizeof b.gain), "train failed");
    tell();
#endif
}

int main(int argc, char **argv)
{
    unsigned good = 0;
    expect(argc == 3 || argc == 4, "usage: scale STEPS STATE [FROM]");
    if (getenv("PLANTED")) planted = atoi(getenv("PLANTED"));
    expect(!cudaMalloc(&arena, PROBE_ARENA_BYTES), "no arena");
    expect(!probe_init(&net, arena, PROBE_ARENA_BYTES, NULL, NULL, 7), "init failed");
    if (argc == 4) read_state(argv[3]);
    for (const char *at = argv[1]; *at; at++) {
        if (*at == 's') go_on();
#ifdef ACCUM
        else if (*at == '|') expect(!probe_apply(&net), "apply failed"), tell();
#endif
        else take(*at, *at == 'g' ? good++ : 1000);
    }
    FILE *file = fopen(argv[2], "wb");
    expect(!probe_export(&net, state, sizeof state), "export failed");
    expect(file && fwrite(state, 1, sizeof state, file) == sizeof state && !fclose(file),
           "the state can't be written");
    expect(!cudaFree(arena), "the arena can't be freed");
    return 0;
}
