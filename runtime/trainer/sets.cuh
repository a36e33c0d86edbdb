// The files of data sets: named by options, or with usual names in one folder.
#pragma once
#include "options.cuh"

enum SetNumber { SET_TRAIN, SET_VAL, SET_TEST };

// SetNames: a set's word, its options, and the names of its files in the folder.
struct SetNames {
    const char *word;
    int named, images, labels;
    const char *image_names[9], *label_names[4];
};

// Indexed by SetNumber.
static const SetNames set_names[] = {
    {"train", OPTION_TRAIN, OPTION_TRAIN_IMAGES, OPTION_TRAIN_LABELS,
     {"train-images-idx3-ubyte", "train-images-idx4-ubyte", "train/images.npy",
      "train/images.jpegs",
      "data_batch_1.bin,data_batch_2.bin,data_batch_3.bin,data_batch_4.bin,data_batch_5.bin",
      "train.bin"},
     {"train-labels-idx1-ubyte", "train/labels.npy"}},
    {"val", OPTION_VAL, OPTION_VAL_IMAGES, OPTION_VAL_LABELS,
     {"val/images.npy", "val/images.jpegs"}, {"val/labels.npy"}},
    {"test", OPTION_TEST, OPTION_TEST_IMAGES, OPTION_TEST_LABELS,
     {"t10k-images-idx3-ubyte", "t10k-images-idx4-ubyte", "test-images-idx3-ubyte",
      "test-images-idx4-ubyte", "test/images.npy", "test/images.jpegs", "test_batch.bin",
      "test.bin"},
     {"t10k-labels-idx1-ubyte", "test-labels-idx1-ubyte", "test/labels.npy"}}};

// Returns paths of files in the folder, joined by commas as the names are, or NULL if the first
// does not exist.
static inline const char *find_in_folder(const char *folder, const char *names)
{
    struct stat status;
    size_t count = 1, room = strlen(folder) + 2;
    for (const char *c = names; *c; c++) count += *c == ',';
    char *paths = (char *)take_memory(strlen(names) + count * room), *to = paths;
    for (const char *at = names;; *to++ = ',') {
        size_t length = strcspn(at, ",");
        to += sprintf(to, "%s/", folder);
        memcpy(to, at, length);
        to += length;
        if (at == names && stat(paths, &status)) return NULL;
        at += length;
        if (!*at++) break;
    }
    return paths;
}

// Returns the only input that is a label (or is not one), or -1 if there is none or more than one.
// Among inputs that are no labels, such as an image and boxes, it is the only image.
static inline int only_column(const DataSet *set, bool label)
{
    int only = -1, count = 0, image = -1, images = 0;
    for (int i = 0; i < set->column_count; i++) {
        const NetTensor *input = set->columns[i].input;
        if ((class_count(input) > 0) != label) continue;
        only = i, count++;
        if (is_image(input)) image = i, images++;
    }
    return count == 1 ? only : images == 1 ? image : -1;
}

// Returns SET/NAME.npy in the folder, or NULL if it does not exist.
static inline const char *find_in_set(const char *folder, const char *set, const char *name)
{
    char *names = (char *)take_memory(strlen(set) + strlen(name) + 8);
    sprintf(names, "%s/%s.npy", set, name);
    return find_in_folder(folder, names);
}

// Returns the argument of the last --train INPUT=FILES (or --val, --test) for an input, or NULL.
static inline const char *named_source(const Trainer *t, int option, const char *input)
{
    size_t length = strlen(input);
    for (int i = t->given_count; i-- > 0;) {
        const char *text = t->given[i].text;
        if (t->given[i].option == option && !strncmp(text, input, length) && text[length] == '=')
            return text;
    }
    return NULL;
}

// True if a path holds both labels and images.
static inline bool holds_labels(const char *paths)
{
    FileBytes file = {};
    struct stat status;
    size_t length = strcspn(paths, ",");
    char *path = (char *)take_memory(length + 1);
    memcpy(path, paths, length);
    return !stat(path, &status) && S_ISREG(status.st_mode) && map_file(path, &file) &&
           !is_npy(&file) && !is_jpegs(&file) && !is_whole_idx(&file) && cifar_record(&file, true);
}

// Finds the paths of a column of a set.  They are named for the column or as the only one of its
// kind, or are in the folder or the images' file.
static inline DataPaths find_paths(const Trainer *t, int number, const DataSet *set, int column)
{
    const SetNames *names = &set_names[number];
    const char *input = set->columns[column].input->name, *folder = t->option[OPTION_DATA];
    bool label = class_count(set->columns[column].input) > 0;
    bool only = only_column(set, label) == column;
    const char *named = named_source(t, names->named, input), *paths = NULL;
    if (named) return {named + strlen(input) + 1, named};
    const char *kind = only ? t->option[label ? names->labels : names->images] : NULL;
    if (kind) return {kind, kind};
    const char *const *usual = label ? names->label_names : names->image_names;
    // Probabilities come before labels.
    const bool target = set->columns[column].input->use == USE_TARGET;
    if (target && folder) paths = find_in_set(folder, names->word, input);
    for (; !paths && folder && only && *usual; usual++) paths = find_in_folder(folder, *usual);
    if (!paths && folder) paths = find_in_set(folder, names->word, input);
    // Labels of pixels, as cnnc-pack-images names them.
    if (!paths && folder && label && set->columns[column].is_map)
        paths = find_in_set(folder, names->word, "masks");
    int images = only_column(set, false);
    if (!paths && label && only && images >= 0) {
        DataPaths found = find_paths(t, number, set, images);
        if (found.paths && holds_labels(found.paths)) return found;
    }
    return {paths, folder};
}

// True if an option or the folder has a file of the set.
static inline bool is_set_given(const Trainer *t, int number, const DataSet *set)
{
    const SetNames *names = &set_names[number];
    bool given = t->option[names->named] || t->option[names->images] || t->option[names->labels];
    for (int i = 0; i < set->column_count && !given; i++)
        given = find_paths(t, number, set, i).paths != NULL;
    return given;
}

// Complains of a folder that has no file for an input.  It may be no folder, or that of one set;
// its files may be compressed or have other names.
static inline bool complain_of_folder(const char *folder, const SetNames *names,
                                      const NetTensor *input, bool only)
{
    struct stat status;
    const char *usual = (class_count(input) ? names->label_names : names->image_names)[0];
    char packed[64];
    snprintf(packed, sizeof packed, "%.50s.gz", usual);
    if (stat(folder, &status))
        return complain("--data %s: this folder can't be read: %s", folder, strerror(errno));
    if (!S_ISDIR(status.st_mode)) return complain("--data %s: wanted a folder", folder);
    if (find_in_folder(folder, "images.npy") || find_in_folder(folder, "labels.npy"))
        return complain("--data %s: is the folder of one set: wanted that above it, which has a "
                        "folder %s", folder, names->word);
    if (only && find_in_folder(folder, packed))
        return complain("--data %s: wanted %s, which is there compressed: gunzip it", folder,
                        usual);
    if (only)
        return complain("--data %s: wanted %s there, or %s/%s.npy or %s/%s.npy, or another of the "
                        "names that %s --help lists", folder, usual, names->word,
                        class_count(input) ? "labels" : "images", names->word, input->name,
                        program_name);
    return complain("--data %s: wanted %s/%s.npy there", folder, names->word, input->name);
}

static inline bool complain_of_path(const Trainer *t, int number, const DataSet *set, int column)
{
    const SetNames *names = &set_names[number];
    const NetTensor *input = set->columns[column].input;
    const char *folder = t->option[OPTION_DATA];
    bool only = only_column(set, class_count(input) > 0) == column;
    if (!folder && only)
        return complain("wanted --data DIR, or each file by an option of its own: --%s-%s FILE",
                        names->word, class_count(input) ? "labels" : "images");
    if (!folder) return complain("wanted --%s %s=FILE", names->word, input->name);
    return complain_of_folder(folder, names, input, only);
}

// True if options name existing inputs, and there is only one input to which --SET-images or
// --SET-labels can refer.
static inline bool names_match(const Trainer *t, int number, const DataSet *set)
{
    const SetNames *names = &set_names[number];
    for (int i = 0; i < t->given_count; i++) {
        const GivenOption *given = &t->given[i];
        bool known = given->option != names->named;
        for (int k = 0; k < set->column_count; k++) {
            const char *input = set->columns[k].input->name;
            size_t length = strlen(input);
            known |= !strncmp(given->text, input, length) && given->text[length] == '=';
        }
        if (!known)
            return complain("--%s %s: wanted INPUT=FILES, of an input of the net", names->word,
                            given->text);
        for (int label = 0; label < 2; label++)
            if (given->option == (label ? names->labels : names->images) &&
                only_column(set, label) < 0)
                return complain("--%s-%s: the net has not one such input: wanted --%s INPUT=FILES",
                                names->word, label ? "labels" : "images", names->word);
    }
    return true;
}

// True if each option that names files or their folder has a file that is read.  sets: those read.
static inline bool sources_are_read(const Trainer *t, const DataSet *const *sets, int set_count)
{
    for (int i = 0; i < t->given_count; i++) {
        const GivenOption *given = &t->given[i];
        bool is_source = given->option == OPTION_DATA, is_read = false;
        for (const SetNames &names : set_names)
            is_source |= given->option == names.named || given->option == names.images ||
                         given->option == names.labels;
        for (int k = 0; is_source && k < set_count; k++)
            for (int c = 0; c < sets[k]->column_count; c++)
                is_read |= sets[k]->columns[c].from.source == given->text;
        if (is_source && !is_read)
            return complain("%s %s has no effect: no input is read from there",
                            trainer_options[given->option].name, given->text);
    }
    return true;
}

// Reads a set: all columns, or only those that inference reads.
static inline bool read_set(const Trainer *t, int number, bool infers, DataSet *set)
{
    const char *first = NULL;
    if (!names_match(t, number, set)) return false;
    for (int i = 0; i < set->column_count; i++) {
        DataColumn *column = &set->columns[i];
        if (infers && !column->input->infers) continue;
        DataPaths found = find_paths(t, number, set, i);
        if (!found.paths) return complain_of_path(t, number, set, i);
        if (!first) first = found.paths;
        column->from = found;
        if (!read_column(found.paths, column) || !counts_match(set, column, found.paths, first))
            return false;
    }
    if (!set->count) return complain("%s reads no input", t->net->name);
    return jpegs_have_no_masks(set) && crops_match(set);
}

// Sets --mean and --std for the images of a set.  An image that only a loss reads, such as a mask,
// keeps its values.  The options are refused if they would change nothing: for byte inputs, and if
// no input is an image.
static inline bool normalise_set(const Trainer *t, DataSet *set)
{
    const char *name = trainer_options[t->option[OPTION_MEAN] ? OPTION_MEAN : OPTION_STD].name;
    int images = 0;
    if (!t->option[OPTION_MEAN] && !t->option[OPTION_STD]) return true;
    for (int i = 0; i < set->column_count; i++) {
        DataColumn *c = &set->columns[i];
        if (!is_image(c->input) || !c->input->infers) continue;
        if (c->type == SAFE_U8)
            return complain("%s: input %s is u8; wanted f32", name, c->input->name);
        double *mean, *deviation;
        if (!parse_channels(t, OPTION_MEAN, c->type, c->depth, &mean) ||
            !parse_channels(t, OPTION_STD, c->type, c->depth, &deviation))
            return false;
        c->mean = mean;
        c->std = deviation;
        images++;
    }
    return images || complain("%s: wanted an image, f32[height, width, channels], that inference "
                              "reads; no input of %s is one", name, t->net->name);
}

// Lists the columns that a set of this net has, still without files: the inputs.  An inference file
// reads no label, so it has the classes of its first output too.
static inline void describe_columns(const Trainer *t, DataSet *set)
{
    const Net *net = t->net;
    int count = net->input_count + !net->train;
    *set = {(DataColumn *)take_memory((size_t)count * sizeof *set->columns), count, 0};
    for (int i = 0; i < net->input_count; i++) set->columns[i] = describe_column(&net->inputs[i]);
    if (!net->train) {
        NetTensor *label = (NetTensor *)take_memory(sizeof *label);
        const NetTensor *output = &net->outputs[0];
        *label = *output;
        label->name = "label";
        label->dtype = "i32";
        label->infers = 0;
        label->ignored = NO_LABEL;
        label->rank = output->rank - 1;
        label->classes = (int)output->shape[output->rank - 1];
        label->bytes = (size_t)tensor_elements(label, 0) * sizeof(int);
        set->columns[net->input_count] = describe_column(label);
    }
}

// Lists the columns, and sets --mean and --std.
static inline bool describe_set(const Trainer *t, DataSet *set)
{
    describe_columns(t, set);
    return normalise_set(t, set);
}
