// A net for tests of the trainer. Logits = weight x / 255 + bias on u8[8, 8, 1]
// images of ten classes, softmax cross entropy, plain gradient descent. All is
// on the CPU, with the arena as the one place of its tensors.  It sees when a
// batch changes that a device might still be copying.
#pragma once
#include <cuda_runtime.h>
#include <math.h>
#include <mutex>
#include <signal.h>
#include <string.h>

#include "../../runtime/trainer/files.cuh"
#include "../../runtime/trainer/net.cuh"

enum { BATCH = 64, PIXELS = 64, CLASSES = 10, WEIGHTS = PIXELS * CLASSES };

// The arena.
struct LinearArena {
    double rate;
    unsigned long long step, updates, samples;
    double loss, accuracy, loss_sum, accuracy_sum;
    float weight[WEIGHTS], bias[CLASSES]; // the state ends here
    float d_weight[WEIGHTS], logits[BATCH * CLASSES];
};

static LinearArena *linear;
static const char *linear_error = "all is well";
static unsigned long long linear_fails_at; // the step that fails; 0: none
static unsigned long long linear_stops_at; // the step in which a signal comes
static int linear_signal;                  // which
static int linear_inits;                   // how often
static char linear_stream_place;
static const cudaStream_t linear_stream = (cudaStream_t)&linear_stream_place; // of all calls

// A device that copies late. A given batch must stay as it was until a wait for
// the event recorded after it, or until a call that waits.  One entry a buffer.
struct LinearCopy {
    const void *from;
    size_t bytes;
    unsigned long long sum;
    cudaEvent_t event;
};

static LinearCopy linear_copies[2];
static std::mutex linear_lock;
static int linear_overwritten, linear_waited; // how often

static unsigned long long linear_sum(const void *from, size_t bytes)
{
    unsigned long long sum = 0;
    for (size_t i = 0; i < bytes; i++)
        sum = sum * 31 + ((const unsigned char *)from)[i];
    return sum;
}

// Copies now, if that was not done before.
static void linear_copy(LinearCopy *c)
{
    if (c->from) linear_overwritten += linear_sum(c->from, c->bytes) != c->sum;
    *c = {};
}

static void linear_wait()
{
    std::lock_guard<std::mutex> hold(linear_lock);
    for (LinearCopy &c : linear_copies) linear_copy(&c);
}

static cudaError_t linear_stream_wait(cudaStream_t stream)
{
    if (stream == linear_stream) linear_wait();
    return cudaSuccess;
}

static void linear_give(const void *from, size_t bytes)
{
    std::lock_guard<std::mutex> hold(linear_lock);
    LinearCopy *c = &linear_copies[linear_copies[0].from != NULL];
    linear_overwritten += c->from != NULL; // a third buffer: one was refilled
    *c = {from, bytes, linear_sum(from, bytes), NULL};
}

static cudaError_t linear_record(cudaEvent_t event, cudaStream_t stream)
{
    if (stream != linear_stream) return cudaSuccess; // after no work of the net
    std::lock_guard<std::mutex> hold(linear_lock);
    for (LinearCopy &c : linear_copies)
        if (!c.event) c.event = event;
    return cudaSuccess;
}

static cudaError_t linear_synchronize(cudaEvent_t event)
{
    std::lock_guard<std::mutex> hold(linear_lock);
    for (LinearCopy &c : linear_copies)
        if (c.from && c.event == event) linear_copy(&c), linear_waited++;
    return cudaSuccess;
}

static int linear_init(void *arena, size_t bytes, unsigned long long)
{
    for (LinearCopy &c : linear_copies) c = {};
    linear_inits++;
    if (bytes != sizeof(LinearArena))
        return linear_error = "the arena is too small", 1;
    linear = (LinearArena *)arena;
    memset(arena, 0, bytes);
    linear->rate = 0.5;
    return 0;
}

// Loss, accuracy and the gradient of the logits (over the logits) of one
// sample.
static void linear_sample(const unsigned char *x, int label, float *logits)
{
    double sum = 0, most = -1e30;
    int best = 0;
    for (int k = 0; k < CLASSES; k++) {
        logits[k] = linear->bias[k];
        for (int i = 0; i < PIXELS; i++)
            logits[k] += linear->weight[k * PIXELS + i] * x[i] / 255;
        if (logits[k] > most) most = logits[best = k];
    }
    for (int k = 0; k < CLASSES; k++) sum += exp(logits[k] - most);
    linear->loss += log(sum) + most - logits[label];
    linear->accuracy += best == label;
    for (int k = 0; k < CLASSES; k++)
        logits[k] = (float)(exp(logits[k] - most) / sum) - (k == label);
}

static int linear_run(const void *const *inputs, const size_t *bytes,
                      bool train)
{
    const unsigned char *x = (const unsigned char *)inputs[0];
    const int *labels = (const int *)inputs[1];
    int samples = (int)(bytes[0] / PIXELS);
    if (bytes[1] != samples * sizeof(int))
        return linear_error = "sizes differ", 1;
    linear->loss = linear->accuracy = 0;
    memset(linear->d_weight, 0, sizeof linear->d_weight);
    float d_bias[CLASSES] = {};
    for (int n = 0; n < samples; n++, x += PIXELS) {
        float *d = &linear->logits[n * CLASSES];
        linear_sample(x, labels[n], d);
        for (int k = 0; k < CLASSES; k++) {
            d_bias[k] += d[k];
            for (int i = 0; i < PIXELS; i++)
                linear->d_weight[k * PIXELS + i] += d[k] * x[i] / 255 / samples;
        }
    }
    linear->loss_sum += linear->loss;
    linear->accuracy_sum += linear->accuracy;
    linear->samples += samples;
    linear->loss /= samples;
    linear->accuracy /= samples;
    linear->step += train;
    linear_give(inputs[0], bytes[0]);
    if (train && linear->step == linear_fails_at)
        return linear_error = "the step that fails", 1;
    if (!train || !isfinite(linear->loss)) return 0;
    linear->updates++;
    for (int i = 0; i < WEIGHTS; i++)
        linear->weight[i] -= (float)linear->rate * linear->d_weight[i];
    for (int k = 0; k < CLASSES; k++)
        linear->bias[k] -= (float)linear->rate * d_bias[k] / samples;
    return 0;
}

// How much memory the trainer holds at a step, and the growth since the first.
static long long linear_blocks, linear_more_blocks;

static void linear_count_blocks()
{
    long long blocks = 0;
    for (MemoryBlock *b = memory_blocks; b; b = b->next) blocks++;
    if (linear->step == 0) linear_blocks = blocks, linear_more_blocks = 0;
    linear_more_blocks += blocks - linear_blocks;
}

static int linear_train(const void *const *inputs, const size_t *bytes)
{
    linear_count_blocks();
    if (linear_stops_at && linear->step + 1 == linear_stops_at)
        raise(linear_signal);
    return linear_run(inputs, bytes, true);
}

static int linear_eval(const void *const *inputs, const size_t *bytes)
{
    return linear_run(inputs, bytes, false);
}

static int linear_infer(const void *const *inputs, const size_t *bytes,
                        void *const *outputs, const size_t *output_bytes)
{
    const unsigned char *x = (const unsigned char *)inputs[0];
    float *logits = (float *)outputs[0];
    if (output_bytes[0] != bytes[0] / PIXELS * CLASSES * sizeof(float))
        return linear_error = "sizes differ", 1;
    for (size_t n = 0; n < bytes[0] / PIXELS; n++)
        linear_sample(x + n * PIXELS, 0, logits + n * CLASSES);
    for (size_t n = 0; n < bytes[0] / PIXELS; n++) logits[n * CLASSES] += 1;
    return 0;
}

static int linear_figures(NetFigures *f, int reset)
{
    linear_wait();
    double samples = (double)linear->samples;
    *f = {linear->step,
          linear->updates,
          linear->samples,
          linear->step - linear->updates,
          linear->rate,
          1,
          linear->loss,
          {linear->accuracy},
          {{samples > 0 ? linear->loss_sum / samples : 0, samples}},
          {{samples > 0 ? linear->accuracy_sum / samples : 0, samples}}};
    if (reset) linear->samples = 0, linear->loss_sum = linear->accuracy_sum = 0;
    return 0;
}

static int linear_rate(double rate)
{
    linear->rate = rate;
    return 0;
}

static int linear_read(size_t offset, void *to, size_t bytes)
{
    linear_wait();
    memcpy(to, (char *)linear + offset, bytes);
    return 0;
}

static int linear_write(size_t offset, const void *from, size_t bytes)
{
    memcpy((char *)linear + offset, from, bytes);
    return 0;
}

static int linear_export(void *state, size_t bytes)
{
    if (bytes != offsetof(LinearArena, d_weight))
        return linear_error = "the size of the state is wrong", 1;
    return linear_read(0, state, bytes);
}

static int linear_import(const void *state, size_t bytes)
{
    if (bytes != offsetof(LinearArena, d_weight))
        return linear_error = "the size of the state is wrong", 1;
    return linear_write(0, state, bytes);
}

static const char *linear_describe(void)
{
    return linear_error;
}

#define PLACED(field) offsetof(LinearArena, field), sizeof(LinearArena::field)

static const NetTensor linear_inputs[] = {
    {"image", "u8", 4, {BATCH, 8, 8, 1}, 0, BATCH * PIXELS, 0, 1, -1},
    {"label", "i32", 1, {BATCH}, 0, BATCH * sizeof(int), CLASSES, 0, -1}};
static const NetTensor linear_outputs[] = {
    {"logits", "f32", 2, {BATCH, CLASSES}, PLACED(logits), 0, 0, -1}};
static const NetTensor linear_params[] = {
    {"fc.weight", "f32", 2, {CLASSES, PIXELS}, PLACED(weight), 0, 0, -1},
    {"fc.bias", "f32", 1, {CLASSES}, PLACED(bias), 0, 0, -1}};
static const NetTensor linear_kept[] = {
    {"d.fc.weight", "f32", 2, {CLASSES, PIXELS}, PLACED(d_weight), 0, 0, -1}};
static const NetFigure linear_losses[] = {{"loss", "softmax_cross_entropy", false}};
static const NetFigure linear_metrics[] = {{"accuracy", "accuracy", true}};

static const NetSection linear_sections[] = {
    {"header", 0, offsetof(LinearArena, weight)},
    {"parameters", PLACED(weight)},
    {"statistics", PLACED(bias)}};

// The net; if it does not train, an inference file's, with no label.
static inline Net linear_net(bool trains)
{
    Net net = {};
    net.name = "linear";
    net.batch = BATCH;
    net.epochs = 12;
    net.arena_bytes = sizeof(LinearArena);
    net.arena_align = 256;
    net.state_bytes = offsetof(LinearArena, d_weight);
    net.inputs = linear_inputs, net.input_count = trains ? 2 : 1;
    net.outputs = linear_outputs, net.output_count = 1;
    net.params = linear_params, net.param_count = 2;
    net.kept = linear_kept, net.kept_count = trains ? 1 : 0;
    net.losses = linear_losses, net.loss_count = trains ? 1 : 0;
    net.metrics = linear_metrics, net.metric_count = trains ? 1 : 0;
    net.init = linear_init;
    net.train = trains ? linear_train : NULL;
    net.prepare = [](const void *const *, const size_t *) { return 0; };
    net.replay = net.train;
    net.eval = trains ? linear_eval : NULL;
    net.infer = linear_infer;
    net.figures = linear_figures;
    net.set_rate = linear_rate;
    net.read = linear_read;
    net.write = linear_write;
    net.export_state = linear_export;
    net.import_state = linear_import;
    net.describe = linear_describe;
    net.stream = &linear_stream;
    net.state_hash = 0x11ea6;
    net.sections = linear_sections, net.section_count = 3;
    net.training = "sgd lr=0.5";
    net.pruned = "";
    return net;
}
