// Data sets: for each input of the net a column, which is one file or several one
// after the other.  All is checked when it is read, before the device is
// touched: shapes, types, as many samples in each column, labels in range.
#pragma once
#include "data.cuh"
#include "npy.cuh"
#include "tensors.cuh"

// DataPart: the samples of one file; those of a column are numbered through.
struct DataPart {
    DataArray array;
    long long first;
};

// DataPaths: files joined by commas, NULL where there are none, and the argument of the option that
// they come from.
struct DataPaths {
    const char *paths, *source;
};

// DataColumn: what feeds one input; no parts: nothing does.
struct DataColumn {
    const NetTensor *input;
    int type;                       // of the input: SafeTypeNumber
    bool is_map;                    // samples have rows and columns: images, masks
    long long height, width, depth; // elements of a sample; height and width 1 if it is no map
    int fill;                       // of pixels that --crop moves in from outside, in the file
    const double *mean, *std;       // one a channel, or NULL
    DataPaths from;                 // its files
    DataPart *parts;
    int part_count;
    long long count;
};

// DataSet: columns of as many samples.
struct DataSet {
    DataColumn *columns;
    int column_count;
    long long count;
};

static inline DataColumn describe_column(const NetTensor *input)
{
    bool is_map = input->rank >= 3;
    DataColumn c = {input, safe_type_of(input->dtype), is_map, is_map ? input->shape[1] : 1,
                    is_map ? input->shape[2] : 1, tensor_elements(input, is_map ? 3 : 1),
                    input->classes ? input->ignored : 0, NULL, NULL, {}, NULL, 0, 0};
    return c;
}

// Whether an input is an image [h, w, c], of numbers rather than classes.
static inline bool is_image(const NetTensor *input)
{
    return input->rank == 4 && !input->classes;
}

// Whether a sample of the array is one of the input; one of them may leave out a last 1.
static inline bool sample_matches(const char *path, const DataArray *a, const NetTensor *input)
{
    bool same = a->rank <= input->rank + 1 && a->rank >= input->rank - 1;
    for (int i = 1; same && (i < input->rank || i < a->rank); i++)
        same = (i < input->rank ? input->shape[i] : 1) == a->dims[i];
    bool image = is_image(input) && a->rank >= 3;
    return same ||
           complain("%s: %s are %s%s, and input %s is %s", path, image ? "images" : "samples",
                    shape_text(a->dims + 1, image && a->rank == 3 ? 3 : a->rank - 1).text,
                    image ? " (height, width, channels)" : "", input->name,
                    shape_text(input->shape + 1, input->rank - 1).text);
}

// Whether elements of the array may become the input's: classes are whole numbers, bytes are
// bytes, real numbers take anything.
static inline bool type_matches(const char *path, const DataArray *a, const NetTensor *input)
{
    int to = safe_type_of(input->dtype);
    bool whole = safe_types[a->type].name[0] != 'F' && a->type != SAFE_BF16;
    if (to == SAFE_F32 || to == SAFE_F64 || a->type == to || (input->classes && whole)) return true;
    if (to == SAFE_U8 && a->type == SAFE_BOOL) return true;
    return complain("%s: elements are %s, and input %s is %s%s", path, npy_types[a->type],
                    input->name, input->classes ? "classes" : input->dtype,
                    to == SAFE_U8 ? ": declare it f32" : "");
}

// Whether a label is one of the net's classes, or what its losses ignore.
static inline bool is_label(const NetTensor *input, double label)
{
    return (label >= 0 && label < input->classes) || (label >= 0 && label == input->ignored);
}

// Complains of a label that is none.
static inline bool complain_of_label(const char *path, const char *which, long long number,
                                     double label, const NetTensor *input)
{
    if (input->ignored >= input->classes)
        return complain("%s: %s %lld is %.0f, and the net has classes 0 to %d and ignores %d", path,
                        which, number, label, input->classes - 1, input->ignored);
    return complain("%s: %s %lld is %.0f, and the net has classes 0 to %d", path, which, number,
                    label, input->classes - 1);
}

// Whether every label is one.
static inline bool labels_match(const char *path, const DataArray *a, const NetTensor *input)
{
    size_t each = (size_t)tensor_elements(input, 1), bytes = safe_types[a->type].bytes;
    for (long long n = 0; n < a->dims[0]; n++)
        for (size_t i = 0; i < each; i++) {
            const unsigned char *at = a->data + (size_t)n * a->stride + i * bytes;
            double label = read_element(a->type, at, 0);
            if (!is_label(input, label)) return complain_of_label(path, "label", n, label, input);
        }
    return true;
}

// Reads the files of a column: paths joined by commas.
static inline bool read_column(const char *paths, DataColumn *column)
{
    const NetTensor *input = column->input;
    size_t bytes = strlen(paths) + 1;
    char *path = (char *)memcpy(take_memory(bytes), paths, bytes);
    int most = 1;
    for (const char *c = paths; *c; c++) most += *c == ',';
    column->parts = (DataPart *)take_memory((size_t)most * sizeof *column->parts);
    column->part_count = 0;
    column->count = 0;
    for (char *rest = path; rest; path = rest) {
        DataArray *a = &column->parts[column->part_count].array;
        if ((rest = strchr(path, ','))) *rest++ = 0;
        if (!read_array(path, input, a)) return false;
        if (a->dims[0] == 0) return complain("%s: has no samples", path);
        if (!sample_matches(path, a, input) || !type_matches(path, a, input) ||
            (input->classes && !labels_match(path, a, input)))
            return false;
        column->parts[column->part_count++].first = column->count;
        column->count += a->dims[0];
    }
    return true;
}

// Whether a column has as many samples as the first that was read, which sets the count.
static inline bool counts_match(DataSet *set, const DataColumn *column, const char *paths,
                                const char *first_paths)
{
    if (!set->count) set->count = column->count;
    return set->count == column->count ||
           complain("%s: wanted %lld %s, as %s has samples; it has %lld", paths, set->count,
                    column->input->classes ? "labels" : "samples", first_paths, column->count);
}

// The part that holds a sample.
static inline const DataPart *find_part(const DataColumn *column, long long sample)
{
    const DataPart *part = column->parts;
    int count = column->part_count;
    while (count > 1) {
        int half = count / 2;
        if (part[half].first <= sample) part += half, count -= half;
        else count = half;
    }
    return part;
}
