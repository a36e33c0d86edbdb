// Shared by the files of the runner: one program on its way.
#ifndef TESTSUITE_RANDOM_RUNNING_H
#define TESTSUITE_RANDOM_RUNNING_H

#include "program.h"
#include "reference.h"

enum { MOST_TENSORS = 64, MOST_CONTEXT = 4096,
       FIGURES_BYTES = 512 };

typedef struct Running {
    Arena                *arena;
    const EmittedProgram *program;
    const Case           *of;
    const Reference      *ref;
    Graph                *train, *infer;    // as the program was made
    void                 *memory;           // its arena
    union { uint64_t align; unsigned char bytes[MOST_CONTEXT]; } context;
    const void           *in[MOST_TENSORS], *in_infer[MOST_TENSORS];
    size_t                in_bytes[MOST_TENSORS], infer_bytes[MOST_TENSORS];
    int                   compared[3], loose;  // at each moment; in all
    bool                  good;
} Running;

// Reports failures on standard output.
void complain(Running *r, const char *text);

// compare.c: each reports differences from the reference at a moment.
// A moment that is not proved to be finite, or exact, is not compared.

// One tensor, whose elements are data.
void compare_tensor(Running *r, int moment, const Expected *e, DType dtype,
                    const void *data);
// The contents of the arena: all of the state, and values kept from the step.
void compare_arena(Running *r, int moment, const Graph *g);
// Compares metrics() with the header.
void compare_metrics(Running *r, int moment);

#endif
