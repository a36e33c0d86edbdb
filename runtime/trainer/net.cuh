// What the trainer knows of a net: a description that the emitted file fills at
// its end, from the same plan as its constants.  The functions wrap the net's C
// interface around one context, on one stream; they return 0, or a status whose sentence describe()
// gives.  The trainer owns the arena and all
// data; addresses it passes are the host's.
//
// A training file describes its training step: train, eval and infer are there,
// inputs are what evaluation reads, and all calls take them in that order (train
// and infer look at their own alone).  An inference file has no train and no eval; inputs are
// what infer reads.
#pragma once
#include <cuda_runtime.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>

// NetTensor: a tensor that lies in the arena.
struct NetTensor {
    const char *name;
    const char *dtype;          // f32 f64 i32 u8
    int rank;
    long long shape[5];         // inputs and outputs: the batch comes first
    size_t offset, bytes;       // in the arena; inputs: only bytes matter
    int classes;                // of a label: it is one of 0 .. classes - 1; else 0
    int infers;                 // of an input: infer reads it too
    int ignored;                // of a label: the value that all losses which read it ignore;
                                // -1: there is none
};

// NetSection: a part of the state, in bytes from its beginning; header, parameters and so on.
struct NetSection {
    const char *name;
    size_t offset, bytes;
};

// NetFigure: a loss or metric: its name, and its operator's.
struct NetFigure {
    const char *name, *op;
};

// NetMean: a mean since the last reset and its divisor: the samples, or what their labels count
// for; 0: a mean of nothing.
struct NetMean {
    double value, weight;
};

// NetFigures: what the state's header tells.
struct NetFigures {
    unsigned long long step, updates, samples;
    unsigned long long skipped; // training steps without an update so far: step - updates
    double rate;
    double loss_scale;          // of the next training step; 1: the loss is not scaled
    double loss, metric[7];     // of the last batch
    NetMean losses[16], metrics[7];
};

// Net: tensors by role, and calls.
struct Net {
    const char *name;
    int batch, epochs;
    size_t arena_bytes, arena_align, state_bytes;
    const NetTensor *inputs;
    int input_count;
    const NetTensor *outputs;
    int output_count;
    const NetTensor *params;    // all that inference needs: weights, running statistics
    int param_count;
    const NetTensor *state;     // the optimizer's
    int state_count;
    const NetTensor *kept;      // outputs and gradients that a training step leaves alive
    int kept_count;
    const NetFigure *losses;    // the loss is the sum of their means
    int loss_count;
    const NetFigure *metrics;
    int metric_count;
    int (*init)(void *arena, size_t bytes, unsigned long long seed);
    // One training step, or forward with loss and metrics; fewer bytes mean fewer samples.
    int (*train)(const void *const *inputs, const size_t *bytes);
    // The same of whole batches in one launch, if it was prepared for this pinned memory, at most
    // two places of it, and a graph could be made.
    int (*prepare)(const void *const *inputs, const size_t *bytes);
    int (*replay)(const void *const *inputs, const size_t *bytes);
    int (*eval)(const void *const *inputs, const size_t *bytes);
    int (*infer)(const void *const *inputs, const size_t *bytes, void *const *outputs,
                 const size_t *output_bytes);
    int (*figures)(NetFigures *figures, int reset);
    int (*set_rate)(double rate);
    int (*read)(size_t offset, void *to, size_t bytes);
    int (*write)(size_t offset, const void *from, size_t bytes);
    // The whole state, state_bytes of it; import refuses another net's.
    int (*export_state)(void *state, size_t bytes);
    int (*import_state)(const void *state, size_t bytes);
    const char *(*describe)(void);
    const cudaStream_t *stream; // what calls run on, from init on; infer does not wait for it
    const NetTensor *inferred;  // what inference reads in the place of params, by their names;
                                // NULL: params themselves
    uint64_t state_hash;
    const NetSection *sections; // of the state, one after the other, without a gap
    int section_count;
    const char *training;       // the optimizer, its rate and so on; "" where nothing trains
};

// Returns a mean, or NaN where nothing counts.
static inline double mean_of(NetMean mean)
{
    return mean.weight > 0 ? mean.value : NAN;
}

// Returns the sum of the means of all losses in which something counts, or NaN: nothing does.
static inline double mean_loss(const Net *net, const NetFigures *f)
{
    double sum = NAN;
    for (int i = 0; i < net->loss_count; i++)
        if (f->losses[i].weight > 0) sum = (isnan(sum) ? 0 : sum) + f->losses[i].value;
    return sum;
}

// The number of elements of a tensor, and of one sample of an input or output.
static inline long long tensor_elements(const NetTensor *t, int first_dim)
{
    long long count = 1;
    for (int i = first_dim; i < t->rank; i++) count *= t->shape[i];
    return count;
}
