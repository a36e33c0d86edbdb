// The net on a data set: loss, metrics, predictions.
#pragma once
#include "detection.cuh"
#include "initial_weights.cuh"
#include "predict.cuh"
#include "progress.cuh"

// Returns the number of elements of all tensors in a section of the state.
static inline long long numbers_in(const Net *net, const char *name)
{
    long long count = 0;
    for (int s = 0; s < net->section_count; s++) {
        const NetSection *section = &net->sections[s];
        if (strcmp(section->name, name)) continue;
        for (int i = 0; i < net->param_count; i++) {
            const NetTensor *tensor = &net->params[i];
            if (tensor->offset >= section->offset &&
                tensor->offset < section->offset + section->bytes)
                count += tensor_elements(tensor, 0);
        }
    }
    return count;
}

// Prints `digits: arena 1234567 bytes (1.18 MiB), state 4096 bytes, 12345 parameters, batch 64`.
// The running statistics follow the parameters if the net has any.
static inline void print_net(const Net *net)
{
    const long long statistics = numbers_in(net, "statistics");
    printf("%s: arena %zu bytes (%.2f MiB), state %zu bytes, %lld parameters, ", net->name,
           net->arena_bytes, (double)net->arena_bytes / (1 << 20), net->state_bytes,
           numbers_in(net, "parameters"));
    if (statistics) printf("%lld running statistics, ", statistics);
    printf("batch %d\n", net->batch);
    if (net->pruned[0]) printf("pruning: %s\n", net->pruned);
    fflush(stdout);
}

// Prints the memory of a program that is ready: the arena, other memory of the device, pinned
// memory of the host.  The second number is of libraries, kernels and graphs since before the
// arena.  Another program that takes or frees device memory meanwhile changes it.
static inline bool print_memory(const Trainer *t, const DataSet *set)
{
    const Net *net = t->net;
    size_t left = 0, all = 0, pinned = net->host_bytes;
    for (int i = 0; i < set->column_count; i++) pinned += 2 * set->columns[i].input->bytes;
    const cudaError_t error = cudaMemGetInfo(&left, &all);
    if (error != cudaSuccess)
        return complain("the device's free memory is unknown: %s", cudaGetErrorString(error));
    const long long taken = (long long)t->free_before - (long long)left;
    printf("memory: arena %zu bytes, %lld more of the device, %zu pinned of the host; %.0f of %.0f "
           "MiB were taken before (CUDA's context, other programs)\n",
           net->arena_bytes, taken - (long long)net->arena_bytes, pinned,
           (double)(t->device_bytes - t->free_before) / (1 << 20),
           (double)t->device_bytes / (1 << 20));
    return !fflush(stdout);
}

// Allocates the arena, and initializes the net with new weights or those of --load or --init.
static inline bool open_net(Trainer *t)
{
    const Net *net = t->net;
    cudaError_t error = cudaMemGetInfo(&t->free_before, &t->device_bytes);
    if (error != cudaSuccess)
        return complain("the device's free memory is unknown: %s", cudaGetErrorString(error));
    error = cudaMalloc(&t->arena, net->arena_bytes);
    if (error != cudaSuccess)
        return complain("wanted %zu bytes of device memory for the arena: %s", net->arena_bytes,
                        cudaGetErrorString(error));
    if (!call_ok(net, net->init(t->arena, net->arena_bytes, (unsigned long long)t->seed)))
        return false;
    const char *load = t->option[OPTION_LOAD], *init = t->option[OPTION_INIT];
    return (!load || (are_weights(load) && load_weights(net, load))) &&
           (!init || init_weights(t, init));
}

// Sets the learning rate of --lr, if it is given.
static inline bool give_rate(const Trainer *t)
{
    return !t->option[OPTION_LR] || call_ok(t->net, t->net->set_rate(t->rate));
}

// Computes the means over `count` samples in `order` (NULL: the first ones); an inference file has
// none.  The means and f->samples exclude batches whose loss was not finite.  The name of the pass
// in progress lines is `word`.  If not NULL, `matrix` counts predictions, and `detection` objects.
static inline bool evaluate_samples(Trainer *t, const char *word, const DataSet *set,
                                    const long long *order, long long count, NetFigures *f,
                                    ConfusionMatrix *matrix, DetectionCounts *detection)
{
    const Net *net = t->net;
    bool failed;
    if (net->eval && !call_ok(net, net->figures(f, 1))) return false;
    PassProgress progress = begin_pass_progress(word, count);
    begin_pass(&t->reader, set, order, 0, count, NULL);
    while (Staging *s = take_batch(&t->reader, &failed)) {
        long long done = s->first + s->samples;
        if ((net->eval && !call_ok(net, net->eval(s->data, s->bytes))) ||
            (matrix && !count_confusion(net, s, matrix)) ||
            (detection && !count_detections(net, s, detection)) ||
            !give_batch(&t->reader, s, *net->stream))
            return false;
        show_pass(&progress, done);
    }
    end_pass_progress(&progress);
    return !failed && (!net->eval || call_ok(net, net->figures(f, 1)));
}

// Returns the number of classes of a matrix that may have names: 0 unless labels are of whole
// samples.
static inline int named_classes(const DataSet *set, const ConfusionMatrix *m)
{
    return set->columns[m->column].input->rank == 1 ? m->classes : 0;
}

// Prints `test accuracy 97.22 % (350/360), loss 0.0812` and `words`.  An inference file has no
// loss.
static inline bool evaluate_set(Trainer *t, const DataSet *set, const char *words)
{
    const Net *net = t->net;
    NetFigures f = {};
    ConfusionMatrix matrix = {};
    ClassNames names = {};
    DetectionCounts detection;
    bool confusion = t->option[OPTION_CONFUSION] || !net->eval;
    const bool detects = begin_detection(net, set, &detection);
    if ((confusion && !begin_confusion(net, set, &matrix)) ||
        (confusion && !name_known_classes(t, set, named_classes(set, &matrix), &names)) ||
        !evaluate_samples(t, "test", set, NULL, set->count, &f, confusion ? &matrix : NULL,
                          detects ? &detection : NULL))
        return false;
    printf("test ");
    for (int i = 0; net->eval && i < net->metric_count; i++) {
        double mean = mean_of(f.metrics[i]), count = f.metrics[i].weight;
        const NetFigure *metric = &net->metrics[i];
        if (strcmp(metric->op, "accuracy")) printf("%s %.4f, ", metric->name, mean);
        else if (count == 0) printf("%s nan (0/0), ", metric->name);
        else printf("%s %.2f %% (%.0f/%.0f), ", metric->name, 100 * mean, mean * count, count);
    }
    long long all, right = net->eval ? 0 : confusion_right(&matrix, &all);
    if (net->eval) printf("loss %.4f%s\n", mean_loss(net, &f), words);
    else printf("accuracy %.2f %% (%lld/%lld)\n", 100 * (double)right / (double)all, right, all);
    if (net->eval) print_losses(net, &f, -1, 0, NULL);
    if (net->eval) tell_dropped(&f, set->count);
    if (detects) print_detection("", &detection);
    if (t->option[OPTION_CONFUSION]) print_confusion(&matrix, &names);
    return true;
}

// Opens the net and the test set for a command that doesn't train.
static inline bool open_test(Trainer *t, bool infers, DataSet *set)
{
    return describe_set(t, set) && read_set(t, SET_TEST, infers, set) &&
           sources_are_read(t, &set, 1) &&
           start_reader(&t->reader, set, t->net->batch, (int)t->workers) && open_net(t) &&
           files_are_whole() && print_memory(t, set);
}

// eval: evaluates the test set with the weights of --load.
static inline bool command_eval(Trainer *t)
{
    DataSet test;
    return open_test(t, false, &test) && evaluate_set(t, &test, "");
}

// Infers a set batch by batch, and writes the outputs to the files, if any.  The name of the pass
// in progress lines is `word`.
static inline bool predict_samples(Trainer *t, const char *word, const DataSet *set,
                                   PredictionFiles *files)
{
    const Net *net = t->net;
    OutputBuffers outputs = take_outputs(net);
    bool failed;
    PassProgress progress = begin_pass_progress(word, set->count);
    begin_pass(&t->reader, set, NULL, 0, set->count, NULL);
    while (Staging *s = take_batch(&t->reader, &failed)) {
        long long done = s->first + s->samples;
        if (!infer_batch(net, s, &outputs)) return false;
        write_predictions(net, s, &outputs, files);
        if (!give_batch(&t->reader, s, *net->stream)) return false;
        show_pass(&progress, done);
    }
    end_pass_progress(&progress);
    return !failed;
}

// predict: writes the net's outputs for the test set, which needs no labels.
static inline bool command_predict(Trainer *t)
{
    DataSet test;
    PredictionFiles files = {};
    if (!t->option[OPTION_OUTPUT] && !t->option[OPTION_CLASSES])
        return complain("predict needs --output DIR, --classes FILE or both");
    if (!paths_differ(t, 1 << SET_TEST, false)) return false;
    bool good = open_test(t, true, &test) && open_predictions(t, &test, &files) &&
                predict_samples(t, "predict", &test, &files);
    if (!close_predictions(t->net, &files, good)) return false;
    return printf("%lld samples\n", test.count) > 0;
}
