// Generates text from a graph and its plan: the CUDA file, its header, --tune.
#ifndef CNNC_CODEGEN_H
#define CNNC_CODEGEN_H

#include <stdbool.h>
#include <stdio.h>

#include "../ir/base/tensors.h"
#include "../ir/op/op.h"
#include "../ir/plan/plan.h"
#include "../ir/gpu/gemm_tile.h"

// The input of one emitted file.  A training file contains the programs train and eval over one
// arena; an inference file contains infer (train and eval are NULL). Graphs have offsets, plans are
// verified, and the state of train and eval has the same offsets.  In a training file, infer tells
// which inputs inference needs.
typedef struct EmitInput {
    const Graph *train, *eval, *infer;
    const Plan  *train_plan, *eval_plan, *infer_plan;
    const char  *command_line;  // as typed, without directories
    bool         with_main;     // append the trainer program
    bool         with_trace;    // which can time the launches of a training step
    const char  *header_name;   // #include this; NULL: declare in place
    const char  *prefix;        // of all symbols and macros; NULL: the net's name
    const TensorFile *weights;  // all that the net keeps, as constants; NULL: none
    const char  *weights_name;  // their file
} EmitInput;

// The input of a program that measures tiles: a training step as compiled for a GPU, and one
// variant for each tile size.  A variant computes all products on tensor cores in tiles of that
// size, where they fit.  Launches are not fused horizontally.  Plans are verified.
typedef struct TuneInput {
    const Graph *plain, *tiled[TENSOR_TILES];
    const Plan  *plain_plan, *tiled_plan[TENSOR_TILES];
    const Gpu   *gpu;           // its own tuned tiles are of other products
    const char  *gpu_lines;     // the text of the GPU's file
    const char  *command_line;
} TuneInput;

// Prints the CUDA program of --tune.  The caller checks the stream for errors.
void emit_tune(const TuneInput *in, FILE *out);

// Returns the reason why this prefix of symbols is not allowed, or NULL.
const char *prefix_fault(const char *prefix);

// Print the CUDA file and the C99 header.  The caller checks the stream for errors.
void emit_cuda(const EmitInput *in, FILE *out);
void emit_header(const EmitInput *in, FILE *out);

#endif
