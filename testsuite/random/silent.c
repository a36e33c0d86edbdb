// Programs that end the process that runs them, with the seed for a status, and
// say nothing. The runner, which they are linked with, must say it for them.
#include <stdlib.h>
#include "program.h"

static int end(void *context, void *arena, size_t bytes,
               struct CUstream_st *stream, struct cublasContext *cublas,
               uint64_t seed)
{
    (void)context, (void)arena, (void)bytes, (void)stream, (void)cublas;
    exit((int)seed);
}

const EmittedProgram emitted_programs[] = {
    { .path = "silent.cnn", .line = 0, .arena_bytes = 1, .init = end },
    { .path = "silent.cnn", .line = 1, .arena_bytes = 1, .init = end },
    { .path = NULL },
};
