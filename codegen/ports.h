// Inputs and outputs of a graph, and the parameters they become.
#ifndef CNNC_PORTS_H
#define CNNC_PORTS_H

#include "emitter.h"

typedef struct Ports {
    ValueId input[MAX_PORTS], output[MAX_PORTS];
    int     input_count, output_count;
} Ports;

Ports ports_of(const Graph *g);
// float, double, int32_t, uint8_t, f16, bf16: what callers and kernels know a dtype by.
const char *host_type(DType dtype);
// "const uint8_t *image", "size_t image_bytes" and so on, into items; returns
// how many there are.  before: "const " or nothing.
int parameters(Emitter *e, const Graph *g, const ValueId *values, int count,
               const char *before, const char **items);
// "int lenet_train(lenet_context *c, ...)" and tail, wrapped.
void function_head(Emitter *e, const char *name, const char *const *items,
                   int count, const char *tail);
// Those inputs of g that inference has too; returns how many.
int plain_inputs(const Graph *infer, const Graph *g, const Ports *p,
                 ValueId *inputs);

// wrappers.c: the place of this name among the inputs of g, or NONE.
int input_number(const Graph *g, const char *name);
// The samples of the trainer's training step, which are its batch.
int64_t main_batch(const Graph *g);
// The functions that the trainer calls with data.
void emit_wrappers(Emitter *e);

// A loss or metric: its layer's name, its operator, and its fields in the struct of figures, the
// mean and the weight.
typedef struct Figure {
    const char *name, *op, *field, *weight;
} Figure;

// Those of the net, losses first, in the order of the header's sums.  A single loss has the name
// `loss`, which of several is their sum.
typedef struct Figures {
    int    count, losses;
    Figure at[MAX_FIGURES];
} Figures;
Figures figures_of(Emitter *e);

#endif
