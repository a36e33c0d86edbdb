// An emitted program as the runner sees it: emit_batch writes a table of them
// after the emitted text, and run_batch calls them.  C and C++.
#ifndef TESTSUITE_RANDOM_PROGRAM_H
#define TESTSUITE_RANDOM_PROGRAM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct CUstream_st;
struct cublasContext;

// Inputs and outputs are arrays of pointers and of bytes, in the order of the
// interface's parameters.  Functions return the interface's status.
typedef struct EmittedProgram {
    const char *path;           // of the net
    int         line;           // which of its lines "# run:", from 0
    size_t      arena_bytes, context_bytes, figures_bytes;
    int       (*init)(void *context, void *arena, size_t bytes,
                      struct CUstream_st *stream, struct cublasContext *cublas,
                      uint64_t seed);
    // NULL, as are evaluate and metrics, in a program for inference alone.
    int       (*train)(void *context, const void *const *in,
                       const size_t *in_bytes);
    int       (*evaluate)(void *context, const void *const *in,
                          const size_t *in_bytes);
    int       (*infer)(void *context, const void *const *in,
                       const size_t *in_bytes, void *const *out,
                       const size_t *out_bytes);
    int       (*metrics)(void *context, void *figures, int reset);
    // The message of the last call that failed.
    const char *(*text)(const void *context);
    int       (*step)(const void *context);
} EmittedProgram;

// The batch's programs; the last has a NULL path.
extern const EmittedProgram emitted_programs[];

#ifdef __cplusplus
}

// Converts to a pointer to whatever a parameter points to.
struct AnyPointer {
    const void *pointer;
    template <class T>
    operator T *() const
    {
        return (T *)const_cast<void *>(pointer);
    }
};
#endif

#endif
