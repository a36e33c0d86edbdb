// IDX, the format of MNIST: a magic number that holds type and rank, the
// dimensions as big-endian 32-bit words, the data.  Only unsigned bytes are read:
// images [n, h, w] or [n, h, w, c], labels [n].  A file must be exactly as long as its
// dimensions say.
#pragma once
#include "files.cuh"
#include "net.cuh"

// IdxArray: a file's dimensions (those past its rank are 1) and data.
struct IdxArray {
    int rank;
    long long dims[4];
    const unsigned char *data;
};

// LabelledSet: images and their labels, as many of each.
struct LabelledSet {
    IdxArray images, labels;
    long long count;
};

// Reads and checks an IDX file of unsigned bytes.
static inline bool read_idx(const char *path, IdxArray *array)
{
    FileBytes file = {};
    if (!read_file_bytes(path, &file)) return false;
    const unsigned char *b = file.bytes;
    if (file.size < 4 || b[0] || b[1] || b[2] != 8 || b[3] < 1 || b[3] > 4)
        return complain("%s: wanted an IDX file of 1 to 4 dimensions of unsigned bytes%s", path,
                        file.size > 1 && b[0] == 31 && b[1] == 139 ? ", not a compressed one" : "");
    array->rank = b[3];
    size_t head = 4 + 4 * (size_t)array->rank, bytes = 1;
    if (file.size < head) return complain("%s: ends in its dimensions", path);
    for (int i = 0; i < 4; i++) {
        const unsigned char *d = b + 4 * (i + 1 > array->rank ? 0 : i + 1);
        array->dims[i] = (long long)d[0] << 24 | d[1] << 16 | d[2] << 8 | d[3];
        if (i >= array->rank) array->dims[i] = 1;
        if (__builtin_mul_overflow(bytes, (size_t)array->dims[i], &bytes))
            return complain("%s: its dimensions have no product in 64 bits", path);
    }
    array->data = b + head;
    return file.size - head == bytes ||
           complain("%s: its dimensions want %zu bytes of data, and it has %zu", path, bytes,
                    file.size - head);
}

// Whether the images are the net's: u8, of the same height, width and channels.
static inline bool images_match(const char *path, const IdxArray *a, const NetTensor *input)
{
    const long long *d = a->dims, *s = input->shape;
    if (a->rank < 3 || d[0] == 0)
        return complain("%s: wanted images; it has %d dimensions and %lld items", path, a->rank,
                        d[0]);
    if (strcmp(input->dtype, "u8"))
        return complain("%s: images are u8, and input %s is %s: declare it u8 and scale it", path,
                        input->name, input->dtype);
    if (input->rank != 4)
        return complain("%s: images have height, width and channels; input %s has %d dimensions",
                        path, input->name, input->rank - 1);
    return (d[1] == s[1] && d[2] == s[2] && d[3] == s[3]) ||
           complain("%s: images are %lldx%lldx%lld (height, width, channels), and input %s is "
                    "%lldx%lldx%lld", path, d[1], d[2], d[3], input->name, s[1], s[2], s[3]);
}

// Reads a set and checks it against the net: sizes, as many labels as images, labels in range.
static inline bool read_set(const char *image_path, const char *label_path, const NetTensor *image,
                            int classes, LabelledSet *set)
{
    const IdxArray *labels = &set->labels;
    if (!read_idx(image_path, &set->images) || !images_match(image_path, &set->images, image) ||
        !read_idx(label_path, &set->labels))
        return false;
    set->count = set->images.dims[0];
    if (labels->rank != 1 || labels->dims[0] != set->count)
        return complain("%s: wanted %lld labels, as %s has images; it has %d dimensions and %lld "
                        "items", label_path, set->count, image_path, labels->rank, labels->dims[0]);
    for (long long i = 0; i < set->count; i++)
        if (labels->data[i] >= classes)
            return complain("%s: label %lld is %d, and the net has classes 0 to %d", label_path, i,
                            labels->data[i], classes - 1);
    return true;
}

// The path of the first of these files (the list ends with NULL) that is in the folder, or NULL.
static inline const char *find_data_file(const char *folder, const char *const *names)
{
    struct stat status;
    for (; *names; names++) {
        char *path = (char *)take_memory(strlen(folder) + strlen(*names) + 2);
        sprintf(path, "%s/%s", folder, *names);
        if (!stat(path, &status)) return path;
    }
    return NULL;
}
