// From a source file to forward graphs.  A file is parsed once and resolved
// once for each mode.
#ifndef CNNC_COMPILE_H
#define CNNC_COMPILE_H

#include "../ir/gpu/gpu_model.h"
#include "ast.h"

typedef struct FrontendOptions {
    Mode         mode;
    int64_t      batch;         // 0: what the train section says, or 1
    int64_t      microbatch;    // samples at a time, where that is fewer than
                                // the batch; 0: all.  Where layers need all
                                // of it, between those
    bool         ghost;         // batches that are added up may each have
                                // statistics of their own
    DType        real;          // F32 or F64
    DType        map;           // F16 or BF16: what maps are stored in; else
                                // they are real
    bool         tf32;          // products round their operands to TF32
    const char **defines;       // NAME=V, from -D
    int          define_count;
    bool         keep_gradients;
    const Gpu   *gpu;           // of --gpu; NULL: the usual one
} FrontendOptions;

// The tree of the file at path and of those that it includes.  NULL where path
// can't be read, with the reason in *why; errors are counted in diag.
Ast *parse_file(Arena *arena, Diag *diag, const char *path, const char **why);

// The forward graph, loss and metrics in it but in mode infer; NULL after
// errors.
Graph *resolve(const Ast *ast, const FrontendOptions *options);

// microbatch_mixing.c: whether a layer or loss of the net needs all samples of
// a training step at once.
bool net_needs_whole_batch(const Ast *ast, const FrontendOptions *options);
// A note of the bytes that slices between layers that need the whole batch save
// in a placed training step, where options ask for slices.
void note_slices(const Graph *g, const FrontendOptions *options);

// check_literals.c: false, after an error at the call, if a launch is given a
// number that the precision's type can't hold.
bool check_literals(Graph *g);

// check_trained.c: warns of parameters that a training step does not change; an
// error at pos where there are parameters and it changes none.
void check_trained(const Graph *g, Pos pos);

#endif
