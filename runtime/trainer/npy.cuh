// NPY: a magic string, a version, the length of a header, the header, which is
// a Python dictionary of type, order and shape; then the data.  Numbers must be
// little-endian.  Fortran's order is refused unless at most one dimension is
// above 1.
#pragma once
#include "jpeg.cuh"

// NpyText: a cursor over the header.
struct NpyText {
    const char *path, *begin, *at, *end;
};

// Indexed by SafeTypeNumber; NPY has no type for BF16.
static const char *const npy_types[] = {"<f8", "<f4", "<i8", "<i4", "|u1", "|b1", "|i1",
                                        "<i2", "<u2", "<u4", "<u8", "<f2", "bf16"};

static inline bool npy_complain(const NpyText *n, const char *wanted)
{
    return complain("%s: header, byte %td: wanted %s", n->path, n->at - n->begin, wanted);
}

// Skips blanks and takes a word if it is next.
static inline bool npy_takes(NpyText *n, const char *word)
{
    while (n->at < n->end && (*n->at == ' ' || *n->at == '\n')) n->at++;
    size_t length = strlen(word);
    if ((size_t)(n->end - n->at) < length || memcmp(n->at, word, length)) return false;
    n->at += length;
    return true;
}

// Takes a string in single or double quotes if it is next.
static inline bool npy_takes_string(NpyText *n, const char *text)
{
    for (const char *quote = "'\""; *quote; quote++) {
        char quoted[32];
        snprintf(quoted, sizeof quoted, "%c%s%c", *quote, text, *quote);
        if (npy_takes(n, quoted)) return true;
    }
    return false;
}

// Reads the order of bytes (one-byte types have none), the kind and the size.
static inline bool npy_type(NpyText *n, DataArray *a)
{
    static const char *const orders[] = {"<", "|", "", "=", ">"};
    char found[16] = "";
    for (a->type = 0; a->type < SAFE_BF16; a->type++)
        for (const char *order : orders) {
            char name[8];
            snprintf(name, sizeof name, "%s%s", order, npy_types[a->type] + 1);
            bool known = *order == '<' || safe_types[a->type].bytes == 1;
            if (known && npy_takes_string(n, name)) return true;
        }
    for (int i = 0; i < 15 && n->at + i < n->end && n->at[i] != ','; i++) found[i] = n->at[i];
    return complain("%s: wanted elements of |b1, |i1, |u1 or <i2 to <i8, <u2 to <u8, <f2 to <f8; "
                    "it has %s", n->path, found);
}

// Reads `(60000, 28, 28)` or `(10,)`; Python 2 wrote `10L`.
static inline bool npy_shape(NpyText *n, DataArray *a)
{
    a->rank = 0;
    if (!npy_takes(n, "(")) return npy_complain(n, "(");
    while (!npy_takes(n, ")")) {
        long long number = 0;
        const char *first = n->at;
        for (; n->at < n->end && *n->at >= '0' && *n->at <= '9'; n->at++)
            if (__builtin_mul_overflow(number, 10LL, &number) ||
                __builtin_add_overflow(number, (long long)(*n->at - '0'), &number))
                return npy_complain(n, "a number below 2^63");
        if (n->at == first) return npy_complain(n, "a number of 0 and more");
        n->at += n->at < n->end && *n->at == 'L';
        if (a->rank == SAFE_RANK) return npy_complain(n, "fewer dimensions");
        a->dims[a->rank++] = number;
        if (!npy_takes(n, ",") && (n->at == n->end || *n->at != ')'))
            return npy_complain(n, ", or )");
    }
    return a->rank > 0 || complain("%s: wanted an array of samples; it has no dimension", n->path);
}

// Reads the dictionary: each key once, in any order.
static inline bool npy_header(NpyText *n, DataArray *a)
{
    int seen = 0, wide = 0;
    bool fortran = false;
    if (!npy_takes(n, "{")) return npy_complain(n, "{");
    while (!npy_takes(n, "}")) {
        int key = npy_takes_string(n, "descr") ? 1 : npy_takes_string(n, "fortran_order") ? 2
                : npy_takes_string(n, "shape") ? 4 : 0;
        if (!key || seen & key) return npy_complain(n, "'descr', 'fortran_order' and 'shape'");
        seen |= key;
        if (!npy_takes(n, ":")) return npy_complain(n, ":");
        if (key == 1 && !npy_type(n, a)) return false;
        if (key == 2) fortran = npy_takes(n, "True");
        if (key == 2 && !fortran && !npy_takes(n, "False")) return npy_complain(n, "True or False");
        if (key == 4 && !npy_shape(n, a)) return false;
        npy_takes(n, ",");
    }
    if (seen != 7) return npy_complain(n, "'descr', 'fortran_order' and 'shape'");
    for (int i = 0; i < a->rank; i++) wide += a->dims[i] > 1;
    return !fortran || wide < 2 || complain("%s: is in Fortran's order; wanted C's", n->path);
}

static inline bool is_npy(const FileBytes *file)
{
    return file->size >= 6 && !memcmp(file->bytes, "\x93NUMPY", 6);
}

static inline bool read_npy(const char *path, const FileBytes *file, DataArray *a)
{
    const unsigned char *b = file->bytes;
    size_t head = 10, length = 0;
    if (file->size >= 12 && (b[6] < 1 || b[6] > 3))
        return complain("%s: wanted version 1 to 3 of NPY, found %d", path, b[6]);
    if (file->size >= 12 && b[6] > 1) head = 12;
    for (size_t i = head; file->size >= 12 && i > 8; i--) length = length << 8 | b[i - 1];
    if (file->size < 12 || length > file->size - head)
        return complain("%s: ends in its header", path);
    const char *text = (const char *)b + head;
    NpyText n = {path, text, text, text + length};
    return npy_header(&n, a) && place_array(path, file, head + length, a);
}

// Maps a file and finds the samples in it that fit the input.
static inline bool read_array(const char *path, const NetTensor *want, DataArray *a)
{
    FileBytes file = {};
    if (!map_file(path, &file)) return false;
    *a = {};
    if (is_npy(&file)) return read_npy(path, &file, a);
    if (is_jpegs(&file)) return read_jpegs(path, &file, want, a);
    if (cifar_record(&file, true) && !is_whole_idx(&file)) return read_cifar(&file, want, a), true;
    if (is_idx(&file)) return read_idx(path, &file, a);
    if (size_t record = cifar_record(&file, false)) {
        long long at = cifar_fault(&file, record);
        const unsigned char *labels = file.bytes + (size_t)at * record;
        bool fine = record == CIFAR_PIXELS + 2;
        return complain("%s: if these are CIFAR-%d's records, label %lld is %d, not 0 to %d", path,
                        fine ? 100 : 10, at, labels[fine && labels[0] < 20],
                        !fine ? 9 : labels[0] < 20 ? 99 : 19);
    }
    const unsigned char *b = file.bytes;
    bool packed = file.size > 1 && ((b[0] == 31 && b[1] == 139) || (b[0] == 'P' && b[1] == 'K'));
    return complain("%s: wanted an IDX file of 1 to 4 dimensions of unsigned bytes, an NPY file or "
                    "CIFAR's records of 3073 or 3074 bytes%s", path,
                    packed ? ", not a compressed one" : "");
}

// Writes the header of a file with n samples of a tensor, whose first dimension is the batch.
static inline void write_npy_header(FILE *out, const NetTensor *tensor, long long n)
{
    char text[256];
    int length = snprintf(text, sizeof text,
                          "{'descr': '%s', 'fortran_order': False, 'shape': (%lld,",
                          npy_types[safe_type_of(tensor->dtype)], n);
    for (int i = 1; i < tensor->rank; i++)
        length += snprintf(text + length, sizeof text - (size_t)length, " %lld,", tensor->shape[i]);
    length += snprintf(text + length, sizeof text - (size_t)length, "), }");
    // The length of magic, version and header is a multiple of 64; the header ends with a new line.
    int all = (10 + length + 1 + 63) / 64 * 64, rest = all - 10;
    fprintf(out, "\x93NUMPY%c%c%c%c%-*s\n", 1, 0, rest & 255, rest >> 8, rest - 1, text);
}
