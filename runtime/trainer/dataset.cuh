// Data sets: a column for each input of the net, of one or more files in a row.
// Shapes, types, equal numbers of samples and ranges of labels are checked when
// a set is read, before the device is used.
#pragma once
#include "data.cuh"
#include "npy.cuh"
#include "tensors.cuh"

// DataPart: the samples of one file.  `first` is the number of its first sample in the column.
struct DataPart {
    DataArray array;
    long long first;
};

// DataPaths: files joined by commas, or NULL, and the option argument that named them.
struct DataPaths {
    const char *paths, *source;
};

// DataColumn: the samples of one input.  Without parts, the input has no data.
struct DataColumn {
    const NetTensor *input;
    int type;                       // of the input's elements: a SafeTypeNumber
    bool is_map;                    // samples have rows and columns: images, masks
    long long height, width, depth; // elements of a sample; height and width are 1 if not a map
    int fill;                       // value of the pixels that --crop moves in, as in the file
    const double *mean, *std;       // one per channel, or NULL
    DataPaths from;                 // the files of the column
    DataPart *parts;
    int part_count;
    long long count;
};

// DataSet: columns with the same number of samples.
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

// True if an input is an image [h, w, c] of numbers, not of classes.
static inline bool is_image(const NetTensor *input)
{
    return input->rank == 4 && !input->classes;
}

// True if a sample of the array has the input's shape.  Either may omit a last dimension of 1.
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

// True if the input can take the array's elements: a class takes integers, a byte takes bytes, a
// real number takes any type.
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

// True if a label is a class of the net, or the value that its losses ignore.
static inline bool is_label(const NetTensor *input, double label)
{
    return (label >= 0 && label < input->classes) || (label >= 0 && label == input->ignored);
}

// Complains of an invalid label.
static inline bool complain_of_label(const char *path, const char *which, long long number,
                                     double label, const NetTensor *input)
{
    if (input->ignored >= input->classes)
        return complain("%s: %s %lld is %.0f, and the net has classes 0 to %d and ignores %d", path,
                        which, number, label, input->classes - 1, input->ignored);
    return complain("%s: %s %lld is %.0f, and the net has classes 0 to %d", path, which, number,
                    label, input->classes - 1);
}

// True if every label is valid.
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

// Reads the files of a column, whose paths are joined by commas.
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

// True if a column has as many samples as the first one that was read, which sets the count.
static inline bool counts_match(DataSet *set, const DataColumn *column, const char *paths,
                                const char *first_paths)
{
    if (!set->count) set->count = column->count;
    return set->count == column->count ||
           complain("%s: wanted %lld %s, as %s has samples; it has %lld", paths, set->count,
                    column->input->classes ? "labels" : "samples", first_paths, column->count);
}

// Returns the part that contains a sample.
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
