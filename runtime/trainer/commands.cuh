// The commands step, export and info.
#pragma once
#include "train.cuh"

// Reads a batch: a tensor for each input, by name.  All have the same number of samples, and labels
// are in range.
static inline bool read_batch(Trainer *t, const char *path, Staging *batch)
{
    const Net *net = t->net;
    SafeFile file;
    long long samples = 0, before = 0;
    if (!read_safetensors(path, &file)) return false;
    bool good = all_known(net, &file, 1 << ROLE_INPUT);
    batch->data = (void **)take_memory((size_t)net->input_count * sizeof *batch->data);
    batch->bytes = (size_t *)take_memory((size_t)net->input_count * sizeof *batch->bytes);
    for (int i = 0; i < net->input_count; i++, before = samples) {
        const NetTensor *input = &net->inputs[i];
        const int *labels = (const int *)(batch->data[i] = load_tensor(&file, input, &samples));
        if (!labels) return false;
        if (i > 0 && samples != before)
            return complain("%s: %s has %lld samples, and the input before it %lld", path,
                            input->name, samples, before);
        batch->bytes[i] = input->bytes / (size_t)net->batch * (size_t)samples;
        for (long long k = 0; input->classes && k < samples * tensor_elements(input, 1); k++)
            if (!is_label(input, labels[k]))
                return complain_of_label(path, input->name, k, labels[k], SAFE_I32, input);
    }
    return good;
}

// step: takes training steps on one batch, then writes all tensors that can be compared to a file.
static inline bool command_step(Trainer *t)
{
    const Net *net = t->net;
    const char *save = t->option[OPTION_SAVE];
    Staging batch = {};
    if (!paths_differ(t, 0, false) || !read_batch(t, t->option[OPTION_BATCH], &batch) ||
        !can_write(save) || !open_net(t) || !give_rate(t) || !files_are_whole())
        return false;
    int columns = 1 + net->metric_count, count = 1;
    size_t figure_bytes = (size_t)(t->steps * columns) * sizeof(double);
    double *row = (double *)take_memory(figure_bytes);
    int room = 1 + net->kept_count + net->param_count + net->state_count;
    SafeTensor *tensors = (SafeTensor *)take_memory((size_t)room * sizeof *tensors);
    tensors[0] = {"figures", SAFE_F64, 2, {t->steps, columns}, 0, figure_bytes,
                  (const unsigned char *)row};
    for (long long i = 0; i < t->steps; i++, row += columns) {
        NetFigures f;
        if (!call_ok(net, net->train(batch.data, batch.bytes)) ||
            !call_ok(net, net->figures(&f, 0)))
            return false;
        row[0] = f.loss;
        memcpy(row + 1, f.metric, (size_t)net->metric_count * sizeof *row);
        printf("step %lld loss %.9g\n", i + 1, f.loss);
    }
    const int roles[] = {ROLE_KEPT, ROLE_PARAM, ROLE_STATE};
    for (int role : roles) add_list(tensors_of(net, role), tensors, &count);
    return fetch_tensors(net, tensors + 1, count - 1) && write_safetensors(save, tensors, count);
}

// export: writes the state that the weights of --load make, for import of the C interface.
static inline bool command_export(Trainer *t)
{
    const Net *net = t->net;
    const char *path = t->option[OPTION_STATE];
    void *state = take_memory(net->state_bytes);
    BesideFile file = {};
    if (!paths_differ(t, 0, false) || !can_write(path) || !open_net(t) || !files_are_whole() ||
        !call_ok(net, net->export_state(state, net->state_bytes)) || !open_beside(path, &file) ||
        !close_beside(&file, fwrite(state, 1, net->state_bytes, file.out) == net->state_bytes))
        return false;
    printf("%s: %zu bytes for %s_import\n", path, net->state_bytes, net->name);
    return true;
}

// info: lists inputs and outputs, and with --tensors all tensors, a line each: role name dtype
// shape classes.  An input of labels of which losses ignore one has that one too.
static inline bool command_info(Trainer *t)
{
    bool every = t->option[OPTION_TENSORS] != NULL, maps = false;
    if (!every) print_net(t->net);
    for (int i = 0; i < t->net->input_count; i++) maps |= has_pixels(&t->net->inputs[i]);
    if (maps && !every)
        printf("images in files may be larger: training takes a random place, all else the "
               "centre\n");
    for (int role = 0; role < (every ? ROLE_COUNT : ROLE_PARAM); role++) {
        NetList list = tensors_of(t->net, role);
        for (int i = 0; i < list.count; i++) {
            const NetTensor *tensor = &list.tensors[i];
            printf("%s %s %s %s %d", list.role, tensor->name, tensor->dtype,
                   shape_text(tensor->shape, tensor->rank).text, tensor->classes);
            if (tensor->ignored != NO_LABEL) printf(" %d", tensor->ignored);
            putchar('\n');
        }
    }
    return true;
}
