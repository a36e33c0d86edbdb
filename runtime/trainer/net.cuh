// The trainer's description of a net.  The emitted file fills it at its end from the plan that its
// constants come from.  The functions wrap the net's C interface around one context on one stream;
// they return 0, or a status that describe() explains.  The trainer owns the arena and all data; it
// passes host addresses.
//
// A training file has train, eval and infer.  Inputs are those that evaluation reads, and all calls
// take them in that order; train and infer ignore the others.  An inference file has no train and
// no eval; inputs are those that infer reads.
#pragma once
#include <cuda_runtime.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "../support/net/launch_marks.cuh"

// NO_LABEL: a number that is no label.
static constexpr int NO_LABEL = INT32_MIN;

// InputUse: the purpose of an input, which follows from the loss that reads it.
enum InputUse {
    USE_OTHER,
    USE_BOXES,                  // boxes [left, top, right, bottom] of objects, of the image's sides
    USE_KINDS,                  // their classes; 0: no object
    USE_TARGET                  // a probability for each class
};

// NetTensor: a tensor of the net, in the arena.
struct NetTensor {
    const char *name;
    const char *dtype;          // f32 f64 i32 u8
    int rank;
    long long shape[5];         // inputs and outputs: dimension 0 is the batch
    size_t offset, bytes;       // offset in the arena; inputs have bytes alone
    int classes;                // of a label: its values are 0 .. classes - 1; otherwise 0
    int infers;                 // of an input: 1 if infer reads it
    int ignored;                // of a label: the value that all losses which read it ignore, or
                                // NO_LABEL
    InputUse use = USE_OTHER;  // of an input
};

// Returns the number of classes of an input's samples, which are labels or targets, or 0.
static inline int class_count(const NetTensor *input)
{
    return input->use == USE_TARGET ? (int)input->shape[1] : input->classes;
}

// NetSection: a part of the state (header, parameters ...); the offset is from its beginning.
struct NetSection {
    const char *name;
    size_t offset, bytes;
};

// NetFigure: the names of a loss or metric and of its operator, and whether more of it is better.
struct NetFigure {
    const char *name, *op;
    bool rises;
};

// NetLaunch: a launch of a training step, as the plan has it.
struct NetLaunch {
    const char *name, *phase;
    int line;
    long long moved_bytes, flops, live_bytes;   // live: of the arena
};

// NetMean: a mean since the last reset and its divisor, which is the number of samples or the sum
// of label weights.  The mean of nothing has weight 0.
struct NetMean {
    double value, weight;
};

// NetFigures: values from the state's header.
struct NetFigures {
    unsigned long long step, updates, samples;
    unsigned long long skipped; // training steps so far without an update: step - updates
    double rate;
    double loss_scale;          // of the next training step; 1: no scaling
    double loss, metric[7];     // means over the last batch
    NetMean losses[16], metrics[7];
};

// Net: its tensors by role, and its calls.
struct Net {
    const char *name;
    int batch, epochs;
    size_t arena_bytes, arena_align, state_bytes;
    const NetTensor *inputs;
    int input_count;
    const NetTensor *outputs;
    int output_count;
    const NetTensor *params;    // weights and running statistics, which inference needs
    int param_count;
    const NetTensor *state;     // the optimizer's
    int state_count;
    const NetTensor *kept;      // outputs and gradients that a training step leaves alive
    int kept_count;
    const NetFigure *losses;    // the total loss is the sum of their means
    int loss_count;
    const NetFigure *metrics;
    int metric_count;
    int (*init)(void *arena, size_t bytes, unsigned long long seed);
    // train: one training step; eval: forward pass, loss and metrics.  Fewer bytes are fewer
    // samples.
    int (*train)(const void *const *inputs, const size_t *bytes);
    // prepare captures a training step on whole batches in this pinned memory as a CUDA graph, for
    // at most two addresses.  replay launches that graph; without one it does the same as train.
    int (*prepare)(const void *const *inputs, const size_t *bytes);
    int (*replay)(const void *const *inputs, const size_t *bytes);
    int (*eval)(const void *const *inputs, const size_t *bytes);
    int (*infer)(const void *const *inputs, const size_t *bytes, void *const *outputs,
                 const size_t *output_bytes);
    int (*figures)(NetFigures *figures, int reset);
    int (*set_rate)(double rate);
    int (*read)(size_t offset, void *to, size_t bytes);
    int (*write)(size_t offset, const void *from, size_t bytes);
    // The whole state has state_bytes bytes.  import_state refuses the state of another net.
    int (*export_state)(void *state, size_t bytes);
    int (*import_state)(const void *state, size_t bytes);
    const char *(*describe)(void);
    const cudaStream_t *stream; // the stream of all calls after init; infer does not wait for it
    const NetTensor *inferred;  // averages that inference reads instead of params, by the same
                                // names, or NULL
    uint64_t state_hash;
    const NetSection *sections; // parts of the state, adjacent and in order
    int section_count;
    const char *training;       // the optimizer, its rate and so on; "" in an inference file
    bool trained;               // init sets the weights that the file contains
    const char *pruned;         // the zeros that training ends with; "" if it prunes nothing
    const NetLaunch *launches;  // of a training step, by number; NULL without cnnc --trace
    LaunchMarks *marks;         // NULL likewise
    size_t host_bytes;          // pinned memory that init takes for maps of --offload
};

// Returns a mean, or NaN where nothing counts.
static inline double mean_of(NetMean mean)
{
    return mean.weight > 0 ? mean.value : NAN;
}

// Returns the sum of the means of all losses in which a label counts, or NaN if none does.
static inline double mean_loss(const Net *net, const NetFigures *f)
{
    double sum = NAN;
    for (int i = 0; i < net->loss_count; i++)
        if (f->losses[i].weight > 0) sum = (isnan(sum) ? 0 : sum) + f->losses[i].value;
    return sum;
}

// Returns the number of elements of a tensor; with first_dim 1, of one sample of an input or
// output.
static inline long long tensor_elements(const NetTensor *t, int first_dim)
{
    long long count = 1;
    for (int i = first_dim; i < t->rank; i++) count *= t->shape[i];
    return count;
}
