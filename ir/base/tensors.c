// A safetensors file is eight bytes of header length (little-endian), a JSON
// object, and the data:
//
//     {"name":{"dtype":"F64","shape":[2,3],"data_offsets":[0,48]},...}
//
// The reader wants the three fields in any order and skips "__metadata__".
#include "tensors.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Type {
    const char *name;
    int         bytes;
} Type;

enum { F64, F32, F16, BF16, I64, I32, U8, I8, TYPES };

static const Type types[TYPES] = {
    { "F64", 8 }, { "F32", 4 }, { "F16", 2 }, { "BF16", 2 }, { "I64", 8 },
    { "I32", 4 }, { "U8", 1 }, { "I8", 1 },
};

// A file being read; at walks over the header.
typedef struct Reader {
    Arena      *arena;
    const char *begin, *at, *data;
    int64_t     bytes;          // of data
    const char *fault;          // NULL: none so far
} Reader;

// ---- elements ---------------------------------------------------------------

// Returns the value of 16 bits, of which `digits` are the fraction.
static double half_value(uint16_t bits, int digits)
{
    int range = (1 << (15 - digits)) - 1, exponent = bits >> digits & range;
    int fraction = bits & ((1 << digits) - 1);
    double value = exponent == range ? (fraction != 0 ? NAN : INFINITY)
        : ldexp(fraction + (exponent != 0 ? 1 << digits : 0),
                (exponent != 0 ? exponent : 1) - range / 2 - digits);
    return bits >> 15 ? -value : value;
}

// Returns one element; at need not be aligned.
static double element(int type, const char *at)
{
    union {
        double   f64;
        float    f32;
        uint16_t half;
        int64_t  i64;
        int32_t  i32;
        uint8_t  u8;
        int8_t   i8;
    } x;

    memcpy(&x, at, (size_t)types[type].bytes);
    switch (type) {
    case F64: return x.f64;
    case F32: return x.f32;
    case F16: return half_value(x.half, 10);
    case BF16: return half_value(x.half, 7);
    case I64: return (double)x.i64;
    case I32: return x.i32;
    case I8: return x.i8;
    default: return x.u8;
    }
}

// ---- the header -------------------------------------------------------------

// Keeps the first fault.  A reader with a fault makes no progress, so every
// loop below looks at it.
static void wrong(Reader *r, const char *what)
{
    if (r->fault == NULL)
        r->fault = arena_print(r->arena, "header, byte %td: wanted %s",
                               r->at - r->begin, what);
}

// Takes c if it is next, after blanks.
static bool takes(Reader *r, char c)
{
    while (isspace((unsigned char)*r->at)) r->at++;
    if (*r->at != c) return false;
    r->at++;
    return true;
}

static void wants(Reader *r, char c)
{
    if (!takes(r, c)) wrong(r, arena_print(r->arena, "'%c'", c));
}

// A string; names here have no escapes.
static const char *text(Reader *r)
{
    wants(r, '"');
    size_t length = strcspn(r->at, "\"\\");
    const char *copy = arena_copy(r->arena, r->at, length);
    r->at += length;
    wants(r, '"');
    return copy;
}

// Reads a list of integers up to the given number. Returns their number.
static int integers(Reader *r, int64_t *list, int most)
{
    int count = 0;

    wants(r, '[');
    while (r->fault == NULL && !takes(r, ']')) {
        char *end = NULL;
        if (count > 0) wants(r, ',');
        errno = 0;
        int64_t number = strtoll(r->at, &end, 10);
        if (count == most || end == r->at || errno != 0) {
            wrong(r, "an integer or ]");
            break;
        }
        list[count++] = number;
        r->at = end;
    }
    return count;
}

// An object of strings, as __metadata__ is.
static void skip_object(Reader *r)
{
    wants(r, '{');
    while (r->fault == NULL && !takes(r, '}')) {
        text(r);
        wants(r, ':');
        text(r);
        takes(r, ',');
    }
}

static int type_of(Reader *r, const char *name)
{
    for (int k = 0; k < TYPES; k++)
        if (strcmp(types[k].name, name) == 0) return k;
    wrong(r, "F64, F32, F16, BF16, I64, I32, U8 or I8");
    return F64;
}

// Returns the bytes of a shape; -1 on overflow.
static int64_t bytes_of(const Tensor *t, int type)
{
    int64_t bytes = types[type].bytes;
    for (int k = 0; k < t->rank; k++) {
        if (t->dim[k] < 0) return -1;
        if (t->dim[k] > 0 && bytes > INT64_MAX / t->dim[k]) return -1;
        bytes *= t->dim[k];
    }
    return bytes;
}

// The elements that lie from byte place[0] to place[1] of the data, which the
// shape must fill.
static void read_data(Reader *r, Tensor *t, int type, const int64_t place[2])
{
    if (r->fault != NULL) return;
    if (place[0] < 0 || place[1] < place[0] || place[1] > r->bytes ||
        place[1] - place[0] != bytes_of(t, type)) {
        wrong(r, arena_print(r->arena, "a shape of %s that fills its bytes",
                             t->name));
        return;
    }
    t->count = (place[1] - place[0]) / types[type].bytes;
    t->data = NEW_ARRAY(r->arena, t->count, double);
    for (int64_t i = 0; i < t->count; i++)
        t->data[i] = element(type, r->data + place[0] + i * types[type].bytes);
}

// The text after a name.
static void read_tensor(Reader *r, Tensor *t)
{
    int type = F64;
    int64_t place[2] = { 0, -1 };

    wants(r, '{');
    while (r->fault == NULL && !takes(r, '}')) {
        const char *key = text(r);
        wants(r, ':');
        if (strcmp(key, "dtype") == 0) type = type_of(r, text(r));
        else if (strcmp(key, "shape") == 0)
            t->rank = integers(r, t->dim, TENSOR_RANK);
        else integers(r, place, 2);
        takes(r, ',');
    }
    read_data(r, t, type, place);
}

// Reads the header and the tensors.
static void read_header(Reader *r, TensorFile *file)
{
    wants(r, '{');
    while (r->fault == NULL && !takes(r, '}')) {
        const char *name = text(r);
        wants(r, ':');
        if (strcmp(name, "__metadata__") == 0) {
            skip_object(r);
        } else {
            Tensor t = { .name = name };
            read_tensor(r, &t);
            if (r->fault != NULL) return;
            tensors_add(r->arena, file, name, t.rank, t.dim, t.data);
        }
        takes(r, ',');
    }
}

// ---- files ------------------------------------------------------------------

// Returns the whole file; NULL, with errno, if it can't be read.
static char *read_bytes(Arena *arena, const char *path, int64_t *size)
{
    FILE *in = fopen(path, "rb");
    char *bytes = NULL;

    if (in == NULL) return NULL;
    // A directory has the largest size.
    errno = EISDIR;
    if (fseek(in, 0, SEEK_END) == 0 && (*size = ftell(in)) >= 0 &&
        *size < INT64_MAX && fseek(in, 0, SEEK_SET) == 0) {
        bytes = NEW_ARRAY(arena, *size + 1, char);
        if (fread(bytes, 1, (size_t)*size, in) != (size_t)*size) bytes = NULL;
    }
    fclose(in);
    return bytes;
}

const char *tensors_read(Arena *arena, const char *path, TensorFile *file)
{
    int64_t size = 0, length = 0;
    char *bytes = read_bytes(arena, path, &size);

    *file = (TensorFile){ .count = 0 };
    if (bytes == NULL) return strerror(errno);
    if (size >= 8) memcpy(&length, bytes, 8);
    if (length < 2 || length > size - 8) return "wanted a safetensors file";
    Reader r = { .arena = arena, .data = bytes + 8 + length,
                 .bytes = size - 8 - length };
    r.begin = r.at = arena_copy(arena, bytes + 8, (size_t)length);
    read_header(&r, file);
    return r.fault;
}

void tensors_add(Arena *arena, TensorFile *file, const char *name, int rank,
                 const int64_t *dim, double *data)
{
    file->tensor = arena_grow(arena, file->tensor, &file->capacity,
                              file->count + 1, sizeof(Tensor));
    Tensor *t = &file->tensor[file->count++];
    *t = (Tensor){ .name = name, .rank = rank, .count = 1, .data = data };
    for (int k = 0; k < rank; k++) {
        t->dim[k] = dim[k];
        t->count *= dim[k];
    }
}

const Tensor *tensors_find(const TensorFile *file, const char *name)
{
    for (int k = 0; k < file->count; k++)
        if (strcmp(file->tensor[k].name, name) == 0) return &file->tensor[k];
    return NULL;
}
