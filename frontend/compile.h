// The front end: from a source file to forward graphs.  A file is parsed once
// and resolved once for each mode.
#ifndef CNNC_COMPILE_H
#define CNNC_COMPILE_H

#include "../ir/gpu/gpu_model.h"
#include "ast.h"
#include "flat_program.h"

typedef struct FrontendOptions {
    Mode         mode;
    int64_t      batch;         // 0: the train section's, or 1
    int64_t      microbatch;    // samples at a time, if less than the batch;
                                // 0: all.  Layers that need the whole batch
                                // still get it; slices are between them
    bool         ghost;         // batches of one step may each have their own
                                // statistics
    DType        real;          // F32 or F64
    DType        map;           // F16 or BF16: the storage type of maps; else
                                // equal to real
    bool         calibrates;    // of int8: the program that finds the scales
    bool         caller_inputs; // the caller's memory has them, not the arena
    bool         tf32;          // GEMMs round operands to TF32
    const char **defines;       // NAME=V, from -D
    int          define_count;
    const char **freeze;        // globs on names of parameters, from --freeze
    int          freeze_count;
    bool         keep_gradients;
    const Gpu   *gpu;           // of --gpu; NULL: the default
    FlatProgram *flat;          // gets the calls and constants; NULL: nothing
                                // wants them
} FrontendOptions;

// Returns the tree of the file at path and its included files.  NULL if path
// can't be read, with the reason in *why.  Errors are counted in diag.
Ast *parse_file(Arena *arena, Diag *diag, const char *path, const char **why);

// Returns the forward graph; loss and metrics are absent in mode infer.  NULL
// after errors.
Graph *resolve(const Ast *ast, const FrontendOptions *options);

// resolve.c: the types of inputs.
enum { INPUT_TYPES = 4 };
extern const char *const input_types[INPUT_TYPES];

// microbatch_mixing.c: true if a layer or loss of the net needs all samples of
// a training step at once.
bool net_needs_whole_batch(const Ast *ast, const FrontendOptions *options);
// Notes the bytes that slices between whole-batch layers save in the arena of a
// training step, if the options ask for slices.
void note_slices(const Graph *g, const FrontendOptions *options);

// check_literals.c: false if the precision's type can't hold a number of a
// launch; reports the error at the call.
bool check_literals(Graph *g);

// check_trained.c: warns of parameters that training does not change.  Reports
// an error at pos if there are parameters and training changes none.
void check_trained(const Graph *g, Pos pos);

#endif
