// Tensors between files and the arena, by name.  A tensor that only the file or
// only the net has is an error that names it.  Nothing is written unless the
// whole file fits.
#pragma once
#include "net.cuh"
#include "safetensors.cuh"

// NetList: the tensors of one role.
struct NetList {
    const char *role;
    const NetTensor *tensors;
    int count;
};

enum NetRole { ROLE_INPUT, ROLE_OUTPUT, ROLE_PARAM, ROLE_STATE, ROLE_KEPT, ROLE_COUNT };

static inline NetList tensors_of(const Net *net, int role)
{
    const NetList lists[] = {{"input", net->inputs, net->input_count},
                             {"output", net->outputs, net->output_count},
                             {"param", net->params, net->param_count},
                             {"state", net->state, net->state_count},
                             {"kept", net->kept, net->kept_count}};
    return lists[role];
}

// Returns the tensors that inference reads: averages of the parameters, if the net has them, under
// the parameters' names.
static inline NetList inferred_of(const Net *net)
{
    return {"param", net->inferred ? net->inferred : net->params, net->param_count};
}

static const char scale_suffix[] = ".scale";

// True if a tensor of this name and shape is a scale of maps that quantization-aware training has
// measured.  It has two numbers, the one that a step uses and the average.
static inline bool is_trained_scale(const char *name, int rank, const long long *shape)
{
    const size_t length = strlen(name), suffix = strlen(scale_suffix);
    return rank == 1 && shape[0] == 2 && length > suffix &&
           !strcmp(name + length - suffix, scale_suffix);
}

// True if a call of the net succeeded; otherwise complains with the net's own sentence.
static inline bool call_ok(const Net *net, int status)
{
    return status == 0 || complain("%s", net->describe());
}

// ShapeText: `64x8x8x1`, or `scalar`.
struct ShapeText {
    char text[SAFE_RANK * 21];
};

static inline ShapeText shape_text(const long long *shape, int rank)
{
    ShapeText s = {"scalar"};
    for (int i = 0, length = 0; i < rank; i++)
        length += snprintf(s.text + length, sizeof s.text - (size_t)length, "%s%lld", i ? "x" : "",
                           shape[i]);
    return s;
}

// True if a tensor of a file has the shape of a net's, from dimension `first` on.
static inline bool has_shape(const SafeTensor *have, const NetTensor *want, int first)
{
    bool same = have->rank == want->rank;
    for (int i = first; same && i < want->rank; i++) same = have->shape[i] == want->shape[i];
    return same;
}

// True if a list has a tensor of this name.
static inline bool list_names(NetList list, const char *name)
{
    bool found = false;
    for (int i = 0; i < list.count && !found; i++) found = !strcmp(list.tensors[i].name, name);
    return found;
}

// Converts the tensor of this name into new memory, or returns NULL after a complaint.  If samples
// is not NULL, dimension 0 may be smaller than wanted, and is returned there.
static inline void *load_tensor(const SafeFile *file, const NetTensor *want, long long *samples)
{
    const SafeTensor *have = find_safe_tensor(file, want->name);
    void *data = take_memory(want->bytes);
    bool same = have && has_shape(have, want, samples != NULL);
    if (same && samples) same = have->shape[0] > 0 && have->shape[0] <= want->shape[0];
    if (!have) complain("%s: has no tensor %s", file->path, want->name);
    else if (!same)
        complain("%s: tensor %s: wanted %s%s, found %s", file->path, want->name,
                 shape_text(want->shape, want->rank).text, samples ? " or fewer samples" : "",
                 shape_text(have->shape, have->rank).text);
    if (!same || !convert_tensor(file->path, have, safe_type_of(want->dtype), data)) return NULL;
    if (samples) *samples = have->shape[0];
    return data;
}

// Complains of each tensor of a file that is in no list of these roles (a bit each).
static inline bool all_known(const Net *net, const SafeFile *file, int roles)
{
    bool good = true;
    for (int i = 0; i < file->count; i++) {
        const SafeTensor *own = &file->tensors[i];
        // Calibration alone reads scales of training (calibrate.cuh).
        bool known = is_trained_scale(own->name, own->rank, own->shape);
        for (int role = 0; role < ROLE_COUNT; role++)
            known |= (roles >> role & 1) && list_names(tensors_of(net, role), own->name);
        if (!known) good = complain("%s: the net has no %s", file->path, own->name);
    }
    return good;
}

// Loads all tensors of a list into memory.  Returns NULL if one is missing or does not fit.
static inline void **load_list(const SafeFile *file, NetList list)
{
    void **data = (void **)take_memory(((size_t)list.count + 1) * sizeof *data);
    bool good = true;
    for (int i = 0; i < list.count; i++)
        good = (data[i] = load_tensor(file, &list.tensors[i], NULL)) && good;
    return good ? data : NULL;
}

static inline bool write_list(const Net *net, NetList list, void **data)
{
    for (int i = 0; i < list.count; i++) {
        const NetTensor *to = &list.tensors[i];
        if (!call_ok(net, net->write(to->offset, data[i], to->bytes))) return false;
    }
    return true;
}

// The first bytes of a file of --save-state.
static const char run_magic[9] = "cnnc-run";

// Complains of a file that is known not to contain weights.
static inline bool are_weights(const char *path)
{
    FileBytes file = {};
    if (!map_file(path, &file)) return false;
    if (file.size >= 8 && !memcmp(file.bytes, run_magic, 8))
        return complain("%s: is a state of --save-state, not weights: train --resume %s "
                        "--save FILE goes on with its run and writes the weights", path, path);
    if (file.size >= 4 && !memcmp(file.bytes, "PK\3\4", 4))
        return complain("%s: is an archive, as PyTorch and NumPy write: wanted safetensors", path);
    if (file.size >= 4 && !memcmp(file.bytes, "\x89HDF", 4))
        return complain("%s: is HDF5, as Keras writes: wanted safetensors", path);
    return true;
}

// Reads a file into the parameters, and into the optimizer's state if the file has any.  Otherwise
// averages start as the parameters.
static inline bool load_weights(const Net *net, const char *path)
{
    SafeFile file;
    if (!read_safetensors(path, &file)) return false;
    NetList params = tensors_of(net, ROLE_PARAM), state = tensors_of(net, ROLE_STATE);
    bool known = all_known(net, &file, 1 << ROLE_PARAM | 1 << ROLE_STATE), has_state = false;
    for (int i = 0; i < state.count; i++)
        if (const SafeTensor *own = find_safe_tensor(&file, state.tensors[i].name))
            has_state |= !is_trained_scale(own->name, own->rank, own->shape);
    if (!has_state) state.count = 0;
    void **param_data = load_list(&file, params), **state_data = load_list(&file, state);
    return known && param_data && state_data && files_are_whole() &&
           write_list(net, params, param_data) &&
           (has_state || !net->inferred || write_list(net, inferred_of(net), param_data)) &&
           write_list(net, state, state_data);
}

// Adds a list's tensors, with memory for them, to the tensors of a file.
static inline void add_list(NetList list, SafeTensor *tensors, int *count)
{
    for (int i = 0; i < list.count; i++) {
        const NetTensor *from = &list.tensors[i];
        SafeTensor *t = &tensors[(*count)++];
        snprintf(t->name, sizeof t->name, "%s", from->name);
        t->type = safe_type_of(from->dtype);
        t->rank = from->rank;
        memcpy(t->shape, from->shape, sizeof from->shape);
        t->begin = from->offset;
        t->bytes = from->bytes;
        t->data = (const unsigned char *)take_memory(from->bytes);
    }
}

// Copies the current values of these tensors from the arena.
static inline bool fetch_tensors(const Net *net, const SafeTensor *tensors, int count)
{
    for (int i = 0; i < count; i++)
        if (!call_ok(net, net->read(tensors[i].begin, (void *)tensors[i].data, tensors[i].bytes)))
            return false;
    return true;
}
