// The launches that the program of --tune measures.
#ifndef CNNC_TUNE_H
#define CNNC_TUNE_H

#include "../emitter.h"

// A launch that stands for all equal ones. In tiles of number k, step[k] is the step of the first
// one and sums[k] the step that adds its partial sums; NONE if absent.
typedef struct Trial {
    const Node *node;           // in the plain graph
    const Launch *launch;       // likewise
    const char *function;
    int         count;
    int64_t     bytes;          // in the arena
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

// tune_trials.c: sets products to those that fit tiles of more than one size, in the order of the
// net's steps.
void find_trials(Tuner *t);
// Sets the zero, one or two steps of a trial in tiles of number k; returns their number.
int trial_steps(const Trial *trial, int k, int steps[2]);
// Sets *all to every step that is measured; returns their number.
int measured_steps(const Tuner *t, int **all);

#endif
