// Inputs and outputs of a graph, and the C parameters that stand for them.
#ifndef CNNC_PORTS_H
#define CNNC_PORTS_H

#include "emitter.h"

typedef struct Ports {
    ValueId input[MAX_PORTS], output[MAX_PORTS];
    int     input_count, output_count;
} Ports;

Ports ports_of(const Graph *g);
// Returns the dtype's name for callers and kernels: float, int32_t, f16 and so on.
const char *host_type(DType dtype);
// Sets items to "const uint8_t *image", "size_t image_bytes" and so on, and returns their number.
// before: "const " or nothing.
int parameters(Emitter *e, const Graph *g, const ValueId *values, int count,
               const char *before, const char **items);
// Prints "int lenet_train(lenet_context *c, ...)" and tail, wrapped.
void function_head(Emitter *e, const char *name, const char *const *items,
                   int count, const char *tail);
// Sets inputs to the inputs of g that inference has too, and returns their number.
int plain_inputs(const Graph *infer, const Graph *g, const Ports *p,
                 ValueId *inputs);

// wrappers.c: returns the index of this name among the inputs of g, or NONE.
int input_number(const Graph *g, const char *name);
// Returns the batch of the trainer's training step, in samples.
int64_t main_batch(const Graph *g);
// Prints the functions that the trainer calls with data.
void emit_wrappers(Emitter *e);

// A loss or metric: the names of its layer, its operator and its two fields in the struct of
// figures, mean and weight.  It rises if more is better: only operators without a gradient, which
// can't be losses, are scores.
typedef struct Figure {
    const char *name, *op, *field, *weight;
    bool rises;
} Figure;

// The net's figures, losses first, in the order of the header's sums. A single loss has the name
// `loss`; with several losses that name is their sum.
typedef struct Figures {
    int    count, losses;
    Figure at[MAX_FIGURES];
} Figures;
Figures figures_of(Emitter *e);

#endif
