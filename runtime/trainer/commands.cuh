// The trainer's commands.  A batch is gathered on the host in the order of the
// epoch and handed to the net with its size in bytes: the last batch is smaller.
// Files are read and checked before the device is touched.
#pragma once
#include <cuda_runtime.h>
#include <math.h>

#include "idx.cuh"
#include "progress.cuh"
#include "shuffle.cuh"
#include "tensors.cuh"

// The options, in the order of trainer_options.
enum OptionNumber {
    OPTION_DATA, OPTION_TRAIN_IMAGES, OPTION_TRAIN_LABELS, OPTION_TEST_IMAGES, OPTION_TEST_LABELS,
    OPTION_EPOCHS, OPTION_SEED, OPTION_LR, OPTION_LOAD, OPTION_SAVE, OPTION_BATCH, OPTION_STEPS,
    OPTION_TENSORS, OPTION_COUNT
};

// Trainer: a run of the program.
struct Trainer {
    const Net *net;
    const char *option[OPTION_COUNT];   // as given; NULL where not
    long long epochs, seed, steps;
    double rate;
    void *arena;
    void **batch;                       // what is handed to the net, for each input, and its bytes
    size_t *batch_bytes;
    int image, label;                   // which input takes them; label -1: none does
};

// `digits: arena 1234567 bytes (1.18 MiB), state 4096 bytes, 12345 parameters, batch 64`
static inline void print_net(const Net *net)
{
    long long parameters = 0;
    for (int i = 0; i < net->param_count; i++) parameters += tensor_elements(&net->params[i], 0);
    printf("%s: arena %zu bytes (%.2f MiB), state %zu bytes, %lld parameters, batch %d\n",
           net->name, net->arena_bytes, (double)net->arena_bytes / (1 << 20), net->state_bytes,
           parameters, net->batch);
    fflush(stdout);
}

// Takes the arena and makes a net of fresh weights, or of those of --load.
static inline bool open_net(Trainer *t)
{
    const Net *net = t->net;
    cudaError_t error = cudaMalloc(&t->arena, net->arena_bytes);
    if (error != cudaSuccess)
        return complain("wanted %zu bytes of device memory for the arena: %s", net->arena_bytes,
                        cudaGetErrorString(error));
    if (!call_ok(net, net->init(t->arena, net->arena_bytes, (unsigned long long)t->seed)))
        return false;
    if (t->option[OPTION_LR] && !call_ok(net, net->set_rate(t->rate))) return false;
    return !t->option[OPTION_LOAD] || load_weights(net, t->option[OPTION_LOAD]);
}

// Finds the one image input and the one label input, and takes memory for a batch; an inference
// file has no label input, but its labels are gathered all the same.
static inline bool take_batch(Trainer *t)
{
    const Net *net = t->net;
    t->image = t->label = -1;
    for (int i = 0; i < net->input_count; i++)
        *(net->inputs[i].classes ? &t->label : &t->image) = i;
    if (t->image < 0 || (net->train && t->label < 0) || net->input_count != 1 + (t->label >= 0))
        return complain("files of images and labels feed a net of one image input and one class "
                        "input; %s has other inputs: use step", net->name);
    if (t->label < 0) t->label = 1;
    t->batch = (void **)take_memory(2 * sizeof *t->batch);
    t->batch_bytes = (size_t *)take_memory(2 * sizeof *t->batch_bytes);
    t->batch[t->image] = take_memory(net->inputs[t->image].bytes);
    t->batch[t->label] = take_memory((size_t)net->batch * sizeof(int));
    return true;
}

// Where data lie: the file of the option, or one in the data directory.
static inline const char *data_path(const Trainer *t, int option)
{
    static const char *const names[][3] = {
        {"train-images-idx3-ubyte", "train-images-idx4-ubyte"}, {"train-labels-idx1-ubyte"},
        {"t10k-images-idx3-ubyte", "t10k-images-idx4-ubyte"}, {"t10k-labels-idx1-ubyte"},
        {"test-images-idx3-ubyte", "test-images-idx4-ubyte"}, {"test-labels-idx1-ubyte"}};
    const char *folder = t->option[OPTION_DATA];
    int row = option - OPTION_TRAIN_IMAGES;
    if (t->option[option]) return t->option[option];
    if (!folder) complain("wanted --data DIR, or each file by an option of its own");
    const char *path = folder ? find_data_file(folder, names[row]) : NULL;
    if (folder && !path && row >= 2) path = find_data_file(folder, names[row + 2]);
    if (folder && !path)
        complain("%s: wanted %s there%s", folder, names[row][0], row < 2 ? "" : ", or test-*");
    return path;
}

// Reads the set whose images the option names, and its labels.
static inline bool read_option_set(const Trainer *t, int images, LabelledSet *set)
{
    const Net *net = t->net;
    const char *image_path = data_path(t, images);
    const char *label_path = image_path ? data_path(t, images + 1) : NULL;
    int classes = t->label < net->input_count ? net->inputs[t->label].classes
                                              : (int)tensor_elements(&net->outputs[0], 1);
    return label_path && read_set(image_path, label_path, &net->inputs[t->image], classes, set);
}

// Gathers samples order[first], ... (without order: first, ...) into the batch; how many.
static inline int gather_batch(const Trainer *t, const LabelledSet *set, const long long *order,
                               long long first)
{
    int count = t->net->batch;
    if (count > set->count - first) count = (int)(set->count - first);
    unsigned char *images = (unsigned char *)t->batch[t->image];
    size_t bytes = (size_t)tensor_elements(&t->net->inputs[t->image], 1);
    for (int i = 0; i < count; i++) {
        size_t from = (size_t)(order ? order[first + i] : first + i);
        memcpy(images + (size_t)i * bytes, set->images.data + from * bytes, bytes);
        ((int *)t->batch[t->label])[i] = set->labels.data[from];
    }
    t->batch_bytes[t->image] = (size_t)count * bytes;
    t->batch_bytes[t->label] = (size_t)count * sizeof(int);
    return count;
}

// Infers the batch; adds the samples whose greatest output is at their label to *right.
static inline bool count_right(const Trainer *t, int samples, double *right)
{
    const Net *net = t->net;
    size_t outputs = (size_t)net->output_count;
    size_t *bytes = (size_t *)take_memory(outputs * sizeof *bytes);
    void **data = (void **)take_memory(outputs * sizeof *data);
    for (size_t i = 0; i < outputs; i++) {
        bytes[i] = net->outputs[i].bytes / (size_t)net->batch * (size_t)samples;
        data[i] = take_memory(bytes[i]);
    }
    if (!call_ok(net, net->infer(t->batch, t->batch_bytes, data, bytes))) return false;
    int type = safe_type_of(net->outputs[0].dtype);
    size_t classes = (size_t)tensor_elements(&net->outputs[0], 1);
    for (int i = 0; i < samples; i++) {
        size_t row = (size_t)i * classes, best = row;
        for (size_t k = row; k < row + classes; k++)
            if (read_element(type, data[0], k) > read_element(type, data[0], best)) best = k;
        *right += (int)(best - row) == ((int *)t->batch[t->label])[i];
    }
    return true;
}

// `test accuracy 97.22 % (350/360), loss 0.0812`; an inference file knows no loss.
static inline bool evaluate_set(const Trainer *t, const LabelledSet *set)
{
    const Net *net = t->net;
    NetFigures f = {};
    double right = 0, count = (double)set->count;
    if (net->eval && !call_ok(net, net->figures(&f, 1))) return false;
    for (long long first = 0; first < set->count; first += net->batch) {
        int samples = gather_batch(t, set, NULL, first);
        if (net->eval ? !call_ok(net, net->eval(t->batch, t->batch_bytes))
                      : !count_right(t, samples, &right))
            return false;
    }
    if (!net->eval)
        return printf("test accuracy %.2f %% (%.0f/%.0f)\n", 100 * right / count, right, count) > 0;
    if (!call_ok(net, net->figures(&f, 1))) return false;
    printf("test ");
    for (int i = 0; i < net->metric_count; i++) {
        double mean = f.metric_mean[i];
        if (strcmp(net->metrics[i], "accuracy")) printf("%s %.4f, ", net->metrics[i], mean);
        else printf("accuracy %.2f %% (%.0f/%.0f), ", 100 * mean, mean * count, count);
    }
    printf("loss %.4f\n", f.loss_mean);
    return true;
}

// One epoch in its own order; the figures begin anew.
static inline bool train_epoch(const Trainer *t, const LabelledSet *set, Progress *progress,
                               long long *order, int epoch)
{
    const Net *net = t->net;
    NetFigures before, f;
    if (!call_ok(net, net->figures(&before, 1))) return false;
    shuffle_order(order, set->count, (uint64_t)t->seed, (uint64_t)epoch);
    for (long long first = 0; first < set->count; first += net->batch) {
        int count = gather_batch(t, set, order, first);
        if (!call_ok(net, net->train(t->batch, t->batch_bytes))) return false;
        if (!progress_is_due(progress)) continue;
        if (!call_ok(net, net->figures(&f, 0))) return false;
        show_progress(progress, net, &f, epoch, first + count);
    }
    if (!call_ok(net, net->figures(&f, 0))) return false;
    end_epoch(progress, net, &f, epoch, f.skipped - before.skipped);
    return true;
}

// train: epochs over the training set, then the test set; the weights go to a file.
static inline bool command_train(Trainer *t)
{
    LabelledSet set, test;
    const char *save = t->option[OPTION_SAVE];
    if (!take_batch(t) || !read_option_set(t, OPTION_TRAIN_IMAGES, &set) ||
        !read_option_set(t, OPTION_TEST_IMAGES, &test) || (save && !can_write(save)) ||
        !open_net(t))
        return false;
    long long *order = (long long *)take_memory((size_t)set.count * sizeof *order);
    Progress progress = begin_progress((int)t->epochs, set.count);
    for (int epoch = 0; epoch < t->epochs; epoch++)
        if (!train_epoch(t, &set, &progress, order, epoch)) return false;
    int count = 0;
    SafeTensor *tensors = (SafeTensor *)take_memory((size_t)t->net->param_count * sizeof *tensors);
    return (!save || (fetch_list(t->net, ROLE_PARAM, tensors, &count) &&
                      write_safetensors(save, tensors, count))) && evaluate_set(t, &test);
}

// eval: the test set through the net of --load.
static inline bool command_eval(Trainer *t)
{
    LabelledSet test;
    return take_batch(t) && read_option_set(t, OPTION_TEST_IMAGES, &test) && open_net(t) &&
           evaluate_set(t, &test);
}

// Reads a batch, a tensor for each input by name: as many samples of each, labels in range.
static inline bool read_batch(Trainer *t, const char *path)
{
    const Net *net = t->net;
    SafeFile file;
    long long samples = 0, before = 0;
    if (!read_safetensors(path, &file)) return false;
    bool good = all_known(net, &file, 1 << ROLE_INPUT);
    t->batch = (void **)take_memory((size_t)net->input_count * sizeof *t->batch);
    t->batch_bytes = (size_t *)take_memory((size_t)net->input_count * sizeof *t->batch_bytes);
    for (int i = 0; i < net->input_count; i++, before = samples) {
        const NetTensor *input = &net->inputs[i];
        const int *labels = (const int *)(t->batch[i] = load_tensor(&file, input, &samples));
        if (!labels) return false;
        if (i > 0 && samples != before)
            return complain("%s: %s has %lld samples, and the input before it %lld", path,
                            input->name, samples, before);
        t->batch_bytes[i] = input->bytes / (size_t)net->batch * (size_t)samples;
        for (long long k = 0; input->classes && k < samples; k++)
            if (labels[k] < 0 || labels[k] >= input->classes)
                return complain("%s: %s %lld is %d, and the net has classes 0 to %d", path,
                                input->name, k, labels[k], input->classes - 1);
    }
    return good;
}

// step: some training steps on one batch; then all that can be compared goes to a file.
static inline bool command_step(Trainer *t)
{
    const Net *net = t->net;
    const char *save = t->option[OPTION_SAVE];
    if (!read_batch(t, t->option[OPTION_BATCH]) || !can_write(save) || !open_net(t)) return false;
    int columns = 1 + net->metric_count, count = 1;
    size_t figure_bytes = (size_t)(t->steps * columns) * sizeof(double);
    double *row = (double *)take_memory(figure_bytes);
    int room = 1 + net->kept_count + net->param_count + net->state_count;
    SafeTensor *tensors = (SafeTensor *)take_memory((size_t)room * sizeof *tensors);
    tensors[0] = {"figures", SAFE_F64, 2, {t->steps, columns}, 0, figure_bytes,
                  (const unsigned char *)row};
    for (long long i = 0; i < t->steps; i++, row += columns) {
        NetFigures f;
        if (!call_ok(net, net->train(t->batch, t->batch_bytes)) ||
            !call_ok(net, net->figures(&f, 1)))
            return false;
        row[0] = f.loss;
        memcpy(row + 1, f.metric, (size_t)net->metric_count * sizeof *row);
        printf("step %lld loss %.9g\n", i + 1, f.loss);
    }
    return fetch_list(net, ROLE_KEPT, tensors, &count) &&
           fetch_list(net, ROLE_PARAM, tensors, &count) &&
           fetch_list(net, ROLE_STATE, tensors, &count) && write_safetensors(save, tensors, count);
}

// info: what the net takes and gives; with --tensors a line each: role name dtype shape classes.
static inline bool command_info(Trainer *t)
{
    bool every = t->option[OPTION_TENSORS] != NULL;
    if (!every) print_net(t->net);
    for (int role = 0; role < (every ? ROLE_COUNT : ROLE_PARAM); role++) {
        NetList list = tensors_of(t->net, role);
        for (int i = 0; i < list.count; i++) {
            const NetTensor *tensor = &list.tensors[i];
            printf("%s %s %s %s %d\n", list.role, tensor->name, tensor->dtype,
                   shape_text(tensor->shape, tensor->rank).text, tensor->classes);
        }
    }
    return true;
}
