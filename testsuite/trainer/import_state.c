// Infers with an exported state:
//
//     import_state STATE IMAGES LOGITS
//
// IMAGES has one batch of images as plain numbers, and LOGITS gets the outputs.  With FROM_F32 the
// weights of STATE are f32 and those of the net are not.
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <stdio.h>

#include "exported.h"

#ifdef FROM_F32
enum { BYTES = EXPORTED_F32_PARAMS_BYTES };
#else
enum { BYTES = EXPORTED_STATE_BYTES };
#endif
enum { IMAGES = EXPORTED_BATCH * 6 * 6 * 2, LOGITS = EXPORTED_BATCH * 3 };

static int read_all(const char *path, void *to, size_t bytes)
{
    FILE *in = fopen(path, "rb");
    size_t have = in ? fread(to, 1, bytes, in) : 0;
    if (in) fclose(in);
    return have == bytes;
}

int main(int argc, char **argv)
{
    static unsigned char state[BYTES];
    static float images[IMAGES], logits[LOGITS];
    exported_context net = { .ready = 0 };
    cublasHandle_t cublas;
    void *arena;
    FILE *out;

    if (argc != 4 || !read_all(argv[1], state, sizeof state) ||
        !read_all(argv[2], images, sizeof images) ||
        (out = fopen(argv[3], "wb")) == NULL ||
        cudaMalloc(&arena, EXPORTED_ARENA_BYTES) || cublasCreate(&cublas))
        return 2;
    if (exported_init(&net, arena, EXPORTED_ARENA_BYTES, NULL, cublas, 1) ||
        exported_import(&net, state, sizeof state) ||
        exported_infer(&net, images, sizeof images, logits, sizeof logits) ||
        cudaStreamSynchronize(NULL)) {
        fprintf(stderr, "%s\n",
                exported_strerror(exported_last_error(&net)->status));
        return 1;
    }
    return fwrite(logits, sizeof logits, 1, out) != 1 || fclose(out) != 0;
}
