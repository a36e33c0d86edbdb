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
    void *levels;                   // [channel][byte]: the input's elements for bytes, or NULL
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

// True if a sample of an input has rows and columns: images, masks.
static inline bool has_pixels(const NetTensor *input)
{
    return input->rank >= 3 && input->use != USE_BOXES;
}

static inline DataColumn describe_column(const NetTensor *input)
{
    bool is_map = has_pixels(input);
    DataColumn c = {input, safe_type_of(input->dtype), is_map, is_map ? input->shape[1] : 1,
                    is_map ? input->shape[2] : 1, tensor_elements(input, is_map ? 3 : 1),
                    input->classes ? input->ignored : 0, NULL, NULL, NULL, {}, NULL, 0, 0};
    return c;
}

// Returns the rows and columns of a file's samples, which are maps.
static inline MapSize map_size(const DataArray *a)
{
    return {a->dims[1], a->dims[2]};
}

// Returns the rows and columns of a column's input.
static inline MapSize input_size(const DataColumn *c)
{
    return {c->height, c->width};
}

// True if an input is an image [h, w, c] of numbers, not of classes.
static inline bool is_image(const NetTensor *input)
{
    return input->rank == 4 && !input->classes;
}

// True if a file has an integer for each sample of a target: the class whose probability is 1.
static inline bool is_label_of_target(const NetTensor *input, const DataArray *a)
{
    const bool whole = safe_types[a->type].name[0] != 'F' && a->type != SAFE_BF16;
    return input->use == USE_TARGET && whole && a->rank <= 2 && a->dims[1] == 1 &&
           input->shape[1] > 1;
}

// True if a sample of the array has the input's shape.  Either may omit a last dimension of 1.  A
// map may have more rows and columns.
static inline bool sample_matches(const char *path, const DataArray *a, const NetTensor *input)
{
    bool same = a->rank <= input->rank + 1 && a->rank >= input->rank - 1;
    if (is_label_of_target(input, a)) return true;
    for (int i = 1; same && (i < input->rank || i < a->rank); i++) {
        long long extent = i < input->rank ? input->shape[i] : 1;
        const bool larger = has_pixels(input) && i < 3 && a->dims[i] > extent;
        same = a->dims[i] == extent || larger;
    }
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
    return (label >= 0 && label < input->classes) ||
           (input->ignored != NO_LABEL && label == input->ignored);
}

// True if integers of this type can be that value.
static inline bool can_be_label(int type, int value)
{
    bool is_signed = safe_types[type].name[0] == 'I';
    int bits = type == SAFE_BOOL ? 1 : 8 * (int)safe_types[type].bytes - is_signed;
    if (bits >= 31) return is_signed || value >= 0;
    return value < 1 << bits && value >= (is_signed ? -(1 << bits) : 0);
}

// Complains of an invalid label in a file whose labels have this type.
static inline bool complain_of_label(const char *path, const char *which, long long number,
                                     double label, int type, const NetTensor *input)
{
    bool told = input->ignored != NO_LABEL &&
                (input->ignored < 0 || input->ignored >= input->classes);
    if (told && !can_be_label(type, input->ignored))
        return complain("%s: %s %lld is %.0f, and the net has classes 0 to %d and ignores %d, which"
                        " %s can't hold: store wider labels, or write ignore = %.0f in the losses",
                        path, which, number, label, input->classes - 1, input->ignored,
                        npy_types[type], label);
    if (told)
        return complain("%s: %s %lld is %.0f, and the net has classes 0 to %d and ignores %d", path,
                        which, number, label, input->classes - 1, input->ignored);
    return complain("%s: %s %lld is %.0f, and the net has classes 0 to %d%s", path, which, number,
                    label, input->classes - 1,
                    label < 0 ? "; a loss with ignore = N leaves out the label N" : "");
}

// Returns the number of elements of a file's sample.
static inline long long sample_elements(const DataArray *a)
{
    long long count = 1;
    for (int i = 1; i < SAFE_RANK; i++) count *= a->dims[i];
    return count;
}

// True if every label is valid.
static inline bool labels_match(const char *path, const DataArray *a, const NetTensor *named)
{
    NetTensor label = *named;
    const NetTensor *input = &label;
    label.classes = class_count(named);
    if (!named->classes) label.ignored = NO_LABEL;
    size_t each = (size_t)sample_elements(a), bytes = safe_types[a->type].bytes;
    for (long long n = 0; n < a->dims[0]; n++)
        for (size_t i = 0; i < each; i++) {
            const unsigned char *at = a->data + (size_t)n * a->stride + i * bytes;
            double label = read_element(a->type, at, 0);
            if (!is_label(input, label))
                return complain_of_label(path, "label", n, label, a->type, input);
        }
    return true;
}

// Returns the element of an input for a number of a file. An image becomes (x - mean) / std; a byte
// is divided by 255 first if the input has real numbers.
template <class To, class From>
static inline To normalise(const DataColumn *c, long long channel, From value)
{
    const bool real = c->type == SAFE_F32 || c->type == SAFE_F64;
    const To range = sizeof(From) == 1 && real && is_image(c->input) ? (To)255 : (To)1;
    const To x = (To)value / range;
    return c->mean ? (x - (To)c->mean[channel]) / (To)c->std[channel] : x;
}

// Tabulates the 256 elements of each channel of an image, for files of bytes.
static inline void set_levels(DataColumn *c)
{
    if (c->levels || !is_image(c->input) || c->depth > 4) return;
    const bool real = c->type == SAFE_F32 || c->type == SAFE_F64;
    if (!real) return;
    size_t count = 256 * (size_t)c->depth;
    c->levels = take_memory(count * safe_types[c->type].bytes);
    for (size_t i = 0; i < count; i++)
        if (c->type == SAFE_F64)
            ((double *)c->levels)[i] = normalise<double>(c, (long long)(i / 256), (uint8_t)i);
        else ((float *)c->levels)[i] = normalise<float>(c, (long long)(i / 256), (uint8_t)i);
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
            ((input->classes || is_label_of_target(input, a)) && !labels_match(path, a, input)))
            return false;
        column->parts[column->part_count++].first = column->count;
        column->count += a->dims[0];
        if (a->type == SAFE_U8) set_levels(column);
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

// Returns the first column of a set whose samples are maps, or NULL.
static inline const DataColumn *first_map(const DataSet *set)
{
    for (int i = 0; i < set->column_count; i++)
        if (set->columns[i].is_map && set->columns[i].parts) return &set->columns[i];
    return NULL;
}

// Returns the first column of a set with this use, or NULL.
static inline const DataColumn *column_of(const DataSet *set, InputUse use)
{
    for (int i = 0; i < set->column_count; i++)
        if (set->columns[i].input->use == use) return &set->columns[i];
    return NULL;
}

// True if the samples of a column's files have the rows and columns of the other's, sample by
// sample.
static inline bool maps_are_alike(const DataColumn *c, const DataColumn *other)
{
    bool alike = true;
    for (int i = 0; i < c->part_count; i++) {
        const DataPart *part = find_part(other, c->parts[i].first);
        alike &= sizes_equal(map_size(&part->array), map_size(&c->parts[i].array));
    }
    return alike;
}

// True if no masks are of JPEG files.  Their sizes differ, and the samples of a file of masks have
// one size.
static inline bool jpegs_have_no_masks(const DataSet *set)
{
    const DataColumn *jpegs = NULL;
    for (int i = 0; i < set->column_count; i++)
        for (int k = 0; k < set->columns[i].part_count; k++)
            if (set->columns[i].parts[k].array.jpegs) jpegs = &set->columns[i];
    for (int i = 0; jpegs && i < set->column_count; i++) {
        const DataColumn *c = &set->columns[i];
        if (c->is_map && c->input->classes && c->parts)
            return complain("%s: holds JPEG files of their own sizes, and the masks of input %s "
                            "have one size: wanted images.npy", jpegs->from.paths,
                            c->input->name);
    }
    return true;
}

// True if each map of a sample can be cropped as the others are.  Files of the inputs' own sizes
// are not cropped.
static inline bool crops_match(const DataSet *set)
{
    const DataColumn *first = first_map(set);
    bool crops = false;
    for (int i = 0; i < set->column_count; i++) {
        const DataColumn *c = &set->columns[i];
        for (int k = 0; c->is_map && k < c->part_count; k++)
            crops |= !sizes_equal(map_size(&c->parts[k].array), input_size(c));
    }
    for (int i = 0; crops && i < set->column_count; i++) {
        const DataColumn *c = &set->columns[i];
        if (!c->is_map || !c->parts) continue;
        if (!sizes_equal(input_size(c), input_size(first)))
            return complain("%s: wanted files of the inputs' own sizes, as inputs %s and %s differ "
                            "in height or width", c->from.paths, first->input->name,
                            c->input->name);
        if (!maps_are_alike(c, first) || !maps_are_alike(first, c))
            return complain("%s: wanted the height and the width of %s, sample by sample",
                            c->from.paths, first->from.paths);
    }
    if (crops)
        printf("%s: samples are cropped to %lldx%lld: training takes a random place, all else the "
               "centre\n", first->from.paths, first->height, first->width);
    return true;
}
