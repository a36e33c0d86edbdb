// The content of a data file: an array of samples in the file's own type and
// order, mapped and never copied as a whole.  The content decides the format:
// IDX, NPY, CIFAR's records or JPEG files.
#pragma once
#include "files.cuh"
#include "net.cuh"
#include "safetensors.cuh"

// MapSize: rows and columns of a map.
struct MapSize {
    long long height, width;
};

static inline bool sizes_equal(MapSize a, MapSize b)
{
    return a.height == b.height && a.width == b.width;
}

// DataArray: the samples of a file.  dims[0] is their number; dimensions past the rank are 1.
struct DataArray {
    const unsigned char *data;  // first byte of sample 0; elements may be unaligned
    int type, rank;             // type: a SafeTypeNumber
    long long dims[SAFE_RANK];
    size_t stride;              // bytes from one sample to the next
    bool planes;                // channels are stored one after the other, as CIFAR does
    const struct JpegFiles *jpegs = NULL;   // samples to decode first (jpeg.cuh)
};

// True if the dimensions of an array need exactly the bytes that follow the file's head.  Sets data
// and stride.
static inline bool place_array(const char *path, const FileBytes *file, size_t head, DataArray *a)
{
    size_t bytes = safe_types[a->type].bytes;
    for (int i = SAFE_RANK - 1; i >= 0; i--) {
        if (i >= a->rank) a->dims[i] = 1;
        if (i == 0) a->stride = bytes;
        if (__builtin_mul_overflow(bytes, (size_t)a->dims[i], &bytes))
            return complain("%s: its dimensions have no product in 64 bits", path);
    }
    a->data = file->bytes + head;
    return file->size - head == bytes ||
           complain("%s: its dimensions want %zu bytes of data, and it has %zu", path, bytes,
                    file->size - head);
}

// ---- IDX: a magic number that holds type and rank, the dimensions as big-endian 32-bit words, the
// data.  Only unsigned bytes are read.

// True if a file begins with the magic number of IDX bytes.
static inline bool is_idx(const FileBytes *file)
{
    const unsigned char *b = file->bytes;
    return file->size >= 4 && !b[0] && !b[1] && b[2] == 8 && b[3] >= 1 && b[3] <= 4;
}

// Reads the dimensions.  Returns the bytes of the head, or 0 if the file ends in it.
static inline size_t idx_head(const FileBytes *file, DataArray *a)
{
    size_t head = 4 + 4 * (size_t)file->bytes[3];
    if (file->size < head) return 0;
    a->type = SAFE_U8;
    a->rank = file->bytes[3];
    for (int i = 0; i < a->rank; i++) {
        const unsigned char *d = file->bytes + 4 + 4 * i;
        a->dims[i] = (long long)d[0] << 24 | d[1] << 16 | d[2] << 8 | d[3];
    }
    return head;
}

// True if the file is as long as its dimensions say.
static inline bool is_whole_idx(const FileBytes *file)
{
    DataArray a = {};
    size_t bytes = is_idx(file) ? idx_head(file, &a) : 0;
    if (!bytes) return false;
    size_t head = bytes;
    bytes = 1;
    for (int i = 0; i < a.rank; i++)
        if (__builtin_mul_overflow(bytes, (size_t)a.dims[i], &bytes)) return false;
    return bytes == file->size - head;
}

static inline bool read_idx(const char *path, const FileBytes *file, DataArray *a)
{
    size_t head = idx_head(file, a);
    if (!head) return complain("%s: ends in its dimensions", path);
    return place_array(path, file, head, a);
}

// ---- CIFAR: records of a label byte (CIFAR-100: coarse, then fine) and 32x32 pixels, the red ones
// first, then the green, then the blue.

enum CifarSizes { CIFAR_SIDE = 32, CIFAR_PIXELS = 3 * CIFAR_SIDE * CIFAR_SIDE };

// Returns the first record with a label out of range, or -1.
static inline long long cifar_fault(const FileBytes *file, size_t record)
{
    bool fine = record == CIFAR_PIXELS + 2;
    for (size_t at = 0; at + record <= file->size; at += record)
        if (file->bytes[at] >= (fine ? 20 : 10) || (fine && file->bytes[at + 1] >= 100))
            return (long long)(at / record);
    return -1;
}

// Returns the bytes of a CIFAR-10 or CIFAR-100 record, or 0 if the file's length fits neither.
// With `sound` it is also 0 if a label is out of range.
static inline size_t cifar_record(const FileBytes *file, bool sound)
{
    for (size_t record = CIFAR_PIXELS + 1; record <= CIFAR_PIXELS + 2; record++)
        if (file->size && file->size % record == 0 && (!sound || cifar_fault(file, record) < 0))
            return record;
    return 0;
}

// Describes the images, or for a label input the labels: the fine ones of CIFAR-100 unless the net
// has 20 classes.
static inline void read_cifar(const FileBytes *file, const NetTensor *want, DataArray *a)
{
    size_t record = cifar_record(file, true), labels = record - CIFAR_PIXELS;
    const int classes = class_count(want);
    bool label = classes > 0;
    *a = {file->bytes + (label ? labels - 1 - (labels == 2 && classes == 20) : labels),
          SAFE_U8, label ? 1 : 4,
          {(long long)(file->size / record), label ? 1 : CIFAR_SIDE, label ? 1 : CIFAR_SIDE,
           label ? 1 : 3, 1, 1, 1, 1},
          record, !label};
}
