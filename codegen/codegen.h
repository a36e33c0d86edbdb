// Graph and plan in, text out.
#ifndef CNNC_CODEGEN_H
#define CNNC_CODEGEN_H

#include <stdbool.h>
#include <stdio.h>

#include "../ir/op/op.h"
#include "../ir/plan/plan.h"
#include "../ir/gpu/gemm_tile.h"

// What an emitted file is made from.  A training file holds the programs train
// and eval over one arena; an inference file (train and eval NULL) holds infer.
// Graphs are placed, plans are verified, and the state of train and eval lies
// at the same offsets.  infer tells a training file what inference alone needs.
typedef struct EmitInput {
    const Graph *train, *eval, *infer;
    const Plan  *train_plan, *eval_plan, *infer_plan;
    const char  *command_line;  // as typed, without directories
    bool         with_main;     // append the trainer program
    const char  *header_name;   // #include this; NULL: declare in place
    const char  *prefix;        // of all symbols and macros; NULL: the net's name
} EmitInput;

// What a program that measures tiles is made from: a training step as it is
// compiled for a GPU, and as it is with all products on tensor cores in tiles of
// each size, where such fit; launches are not put together.  Plans are verified.
typedef struct TuneInput {
    const Graph *plain, *tiled[TENSOR_TILES];
    const Plan  *plain_plan, *tiled_plan[TENSOR_TILES];
    const Gpu   *gpu;           // whose tuned tiles are of other products
    const char  *gpu_lines;     // its numbers, as its file has them
    const char  *command_line;
} TuneInput;

// The CUDA program of --tune.  It only prints; the caller checks the stream.
void emit_tune(const TuneInput *in, FILE *out);

// Returns the reason why symbols can't begin with this prefix, or NULL.
const char *prefix_fault(const char *prefix);

// The CUDA file, the C99 header.  Both only print; the caller checks the stream.
void emit_cuda(const EmitInput *in, FILE *out);
void emit_header(const EmitInput *in, FILE *out);

#endif
