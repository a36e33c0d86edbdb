// Infers with weights of a trainer, and compares the outputs with
// those of its command predict:
//
//     trained test-images-idx3-ubyte logits.npy WEIGHTS.bin
//     constant test-images-idx3-ubyte logits.npy
//
// The second program is built with CONSTANT: cnnc put the weights into the net.
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <string.h>

#include "digits.h"

enum { PIXELS = 64, CLASSES = 10, IDX_HEAD = 16, NPY_HEAD = 10 };

// Opens a file and skips a header.  Returns NULL after a complaint.
static FILE *open_after(const char *path, long bytes)
{
    FILE *in = fopen(path, "rb");
    if (in == NULL || fseek(in, bytes, SEEK_SET) != 0) {
        perror(path);
        return NULL;
    }
    return in;
}

// Returns the length of an NPY file's header: its bytes 8 and 9 count the rest.
static long npy_header(const char *path)
{
    unsigned char head[NPY_HEAD] = { 0 };
    FILE *in = open_after(path, 0);
    size_t have = in ? fread(head, 1, sizeof head, in) : 0;
    if (in) fclose(in);
    return have == sizeof head ? NPY_HEAD + head[8] + 256L * head[9] : 0;
}

// Infers all images in batches.  Returns their number, or -1 if an output
// differs or a call fails.
static long infer_all(digits_context *net, FILE *images, FILE *expected)
{
    static unsigned char pixels[DIGITS_BATCH][PIXELS];
    static float logits[DIGITS_BATCH][CLASSES], wanted[DIGITS_BATCH][CLASSES];
    long total = 0;
    size_t count;

    while ((count = fread(pixels, PIXELS, DIGITS_BATCH, images)) > 0) {
        if (digits_infer(net, pixels[0], count * PIXELS, logits[0],
                         count * sizeof logits[0]) ||
            cudaStreamSynchronize(NULL) ||
            fread(wanted, sizeof wanted[0], count, expected) != count ||
            memcmp(logits, wanted, count * sizeof logits[0]) != 0)
            return -1;
        total += (long)count;
    }
    return total;
}

#ifdef CONSTANT
enum { ARGUMENTS = 3 };

static int take_weights(digits_context *net, char **argv)
{
    (void)argv;
    return digits_init_trained(net);
}
#else
enum { ARGUMENTS = 4 };

static int take_weights(digits_context *net, char **argv)
{
    static unsigned char state[DIGITS_STATE_BYTES];
    FILE *in = open_after(argv[3], 0);
    size_t have = in ? fread(state, 1, sizeof state, in) : 0;
    if (in) fclose(in);
    if (have == sizeof state) return digits_import(net, state, have);
    fprintf(stderr, "%s: wanted %zu bytes\n", argv[3], sizeof state);
    return 1;
}
#endif

static int run(char **argv, void *arena, cublasHandle_t cublas)
{
    digits_context net = { .ready = 0 };
    FILE *images = open_after(argv[1], IDX_HEAD);
    FILE *expected = open_after(argv[2], npy_header(argv[2]));
    long count;

    if (images == NULL || expected == NULL) return 1;
    if (digits_init(&net, arena, DIGITS_ARENA_BYTES, NULL, cublas, 1) ||
        take_weights(&net, argv) ||
        (count = infer_all(&net, images, expected)) <= 0) {
        fprintf(stderr, "%s: other outputs than predict's, or: %s\n", argv[0],
                digits_strerror(digits_last_error(&net)->status));
        return 1;
    }
    printf("%ld images, the bits of predict\n", count);
    return 0;
}

int main(int argc, char **argv)
{
    cublasHandle_t cublas;
    void *arena;
    if (argc != ARGUMENTS) {
        fprintf(stderr, "usage: %s IMAGES LOGITS.npy%s\n", argv[0],
                ARGUMENTS == 4 ? " WEIGHTS.bin" : "");
        return 2;
    }
    if (cudaMalloc(&arena, DIGITS_ARENA_BYTES) || cublasCreate(&cublas))
        return 1;
    return run(argv, arena, cublas);
}
