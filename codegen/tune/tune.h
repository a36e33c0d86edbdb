// What the program of --tune measures.
#ifndef CNNC_TUNE_H
#define CNNC_TUNE_H

#include "../emitter.h"

// A launch, and those that are alike: step[k] is the first one's in tiles of number k, sums[k]
// that of what adds up its partial sums; NONE where there is none.
typedef struct Trial {
    const Node *node;           // of the plain graph
    const Launch *launch;       // likewise
    const char *function;
    int         count;
    int64_t     bytes;          // of the arena
    int         step[TENSOR_TILES], sums[TENSOR_TILES];
} Trial;

typedef struct Product {
    ProductSize size;
    Trial      *trials;
    int32_t     count, capacity;
} Product;

typedef struct Tuner {
    const TuneInput *in;
    Emitter  e;
    Product *products;
    int32_t  count, capacity;
    int64_t  arena_bytes;
} Tuner;

#define FOR_TRIALS(t, product, trial)                                                  \
    for (Product *product = (t)->products; product < (t)->products + (t)->count; product++) \
        for (Trial *trial = product->trials; trial < product->trials + product->count; trial++)

// tune_trials.c: fills products: those that fit tiles of more than one size, in the order of the
// net's steps.
void find_trials(Tuner *t);
// The steps of a trial in tiles of number k, none, one or two; returns how many.
int trial_steps(const Trial *trial, int k, int steps[2]);
// Every step that is measured, in *all; returns how many.
int measured_steps(const Tuner *t, int **all);

#endif
