// Weights of another net: --init takes each tensor of a file whose name and shape fit.  It says
// which tensors the net and the file have left.
#pragma once
#include <fnmatch.h>

#include "options.cuh"

enum InitialLimits { MOST_LISTED = 8 };

// InitialList: the tensors that are left out, as text of which the first MOST_LISTED are written.
struct InitialList {
    char *text;
    size_t bytes;
    FILE *out;
    int count;
};

// Opens a list. The text is the stream's, and ends with the program.
static inline bool open_list(InitialList *list)
{
    *list = {};
    list->out = open_memstream(&list->text, &list->bytes);
    return list->out || complain("out of memory: %s", strerror(errno));
}

// Begins an entry of the list.  Returns false if it is one too many to write.
static inline bool lists_more(InitialList *list, const char *name)
{
    if (++list->count > MOST_LISTED) return false;
    fprintf(list->out, "%s%s", list->count > 1 ? ", " : "", name);
    return true;
}

static inline const char *close_list(InitialList *list)
{
    if (list->count > MOST_LISTED)
        fprintf(list->out, " and %d more", list->count - MOST_LISTED);
    fclose(list->out);
    return list->text;
}

// True if an --ignore, or PyTorch's habit, excludes a tensor of the file.
static inline bool is_ignored(const Trainer *t, const char *name)
{
    bool ignored = !fnmatch("*num_batches_tracked", name, 0);
    for (int i = 0; i < t->given_count; i++)
        ignored |= t->given[i].option == OPTION_IGNORE && !fnmatch(t->given[i].text, name, 0);
    return ignored;
}

// Warns of each --ignore that excludes nothing.
static inline void check_ignored(const Trainer *t, const SafeFile *file)
{
    for (int i = 0; i < t->given_count; i++) {
        bool matches = t->given[i].option != OPTION_IGNORE;
        for (int k = 0; k < file->count && !matches; k++)
            matches = !fnmatch(t->given[i].text, file->tensors[k].name, 0);
        if (!matches)
            give_warning("--ignore %s: %s has no such tensor", t->given[i].text, file->path);
    }
}

// Returns the tensor of the file that fits a parameter, or NULL after an entry of the list.
static inline const SafeTensor *fitting_tensor(const Trainer *t, const SafeFile *file,
                                               const NetTensor *want, InitialList *left)
{
    const SafeTensor *have = find_safe_tensor(file, want->name);
    if (have && is_ignored(t, want->name)) have = NULL;
    if (have && has_shape(have, want, 0)) return have;
    if (lists_more(left, want->name) && have)
        fprintf(left->out, " (wanted %s, found %s)", shape_text(want->shape, want->rank).text,
                shape_text(have->shape, have->rank).text);
    return NULL;
}

// Reads the tensors of --init's file that fit into the parameters, and into the averages that start
// as they do.  Prints what is left out.  Nothing is written if none fits or a number would change.
static inline bool init_weights(const Trainer *t, const char *path)
{
    const Net *net = t->net;
    SafeFile file;
    InitialList left, foreign;
    if (!are_weights(path) || !read_safetensors(path, &file) || !open_list(&left) ||
        !open_list(&foreign))
        return false;
    const NetList params = tensors_of(net, ROLE_PARAM), inferred = inferred_of(net);
    void **data = (void **)take_memory(((size_t)params.count + 1) * sizeof *data);
    int taken = 0;
    for (int i = 0; i < params.count; i++) {
        const SafeTensor *have = fitting_tensor(t, &file, &params.tensors[i], &left);
        data[i] = have ? take_memory(params.tensors[i].bytes) : NULL;
        if (have && !convert_tensor(path, have, safe_type_of(params.tensors[i].dtype), data[i]))
            return false;
        taken += have != NULL;
    }
    for (int i = 0; i < file.count; i++)
        if (!is_ignored(t, file.tensors[i].name) && !list_names(params, file.tensors[i].name))
            lists_more(&foreign, file.tensors[i].name);
    const char *missing = close_list(&left), *unknown = close_list(&foreign);
    if (!taken)
        return complain("%s: none of its %d tensors fits the net; wanted %s; found %s", path,
                        file.count, missing, *unknown ? unknown : "no other names");
    check_ignored(t, &file);
    if (!files_are_whole()) return false;
    for (int i = 0; i < params.count; i++) {
        const NetList one = {"param", &params.tensors[i], 1};
        const NetList average = {"param", &inferred.tensors[i], 1};
        if (data[i] && (!write_list(net, one, &data[i]) ||
                        (net->inferred && !write_list(net, average, &data[i]))))
            return false;
    }
    printf("%s: taken %d of %d%s%s%s%s\n", path, taken, params.count, *missing ? "; left: " : "",
           missing, *unknown ? "; the net has no " : "", unknown);
    fflush(stdout);
    return true;
}
