// A safetensors file is eight bytes of header length (little-endian), a JSON
// object, and the data:
//
//     {"name":{"dtype":"F64","shape":[2,3],"data_offsets":[0,48]},...}
//
// The reader wants the three fields in any order and skips "__metadata__".
#include "tensors.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct Type {
    const char *name;
    int         bytes;
} Type;

enum { F64, F32, I64, I32, U8, TYPES };

static const Type types[TYPES] = {
    { "F64", 8 }, { "F32", 4 }, { "I64", 8 }, { "I32", 4 }, { "U8", 1 },
};

// A file being read; at walks over the header.
typedef struct Reader {
    Arena      *arena;
    const char *path, *at, *data;
    int64_t     bytes;          // of data
    bool        good;
} Reader;

// ---- elements ---------------------------------------------------------------

// One element; at need not be aligned.
static double element(int type, const char *at)
{
    union { double f64; float f32; int64_t i64; int32_t i32; uint8_t u8; } x;

    memcpy(&x, at, (size_t)types[type].bytes);
    return type == F64 ? x.f64 : type == F32 ? (double)x.f32
         : type == I64 ? (double)x.i64 : type == I32 ? x.i32 : x.u8;
}

// ---- the header -------------------------------------------------------------

// Only the first complaint is said; a reader that is not good makes no
// progress, so every loop below looks at it.
static void wrong(Reader *r, const char *what)
{
    if (r->good) fprintf(stderr, "%s: wanted %s\n", r->path, what);
    r->good = false;
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
    char text[] = { '\'', c, '\'', '\0' };
    if (!takes(r, c)) wrong(r, text);
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
    int count = 0, length;

    wants(r, '[');
    while (r->good && !takes(r, ']')) {
        if (count > 0) wants(r, ',');
        if (count == most || sscanf(r->at, " %" SCNd64 "%n", &list[count],
                                    &length) != 1) {
            wrong(r, "an integer or ]");
            break;
        }
        r->at += length;
        count++;
    }
    return count;
}

// An object of strings, as __metadata__ is.
static void skip_object(Reader *r)
{
    wants(r, '{');
    while (r->good && !takes(r, '}')) {
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
    wrong(r, "a type that is known");
    return F64;
}

// The elements that lie from byte place[0] to place[1] of the data, which the
// shape must fill.
static void read_data(Reader *r, Tensor *t, int type, const int64_t place[2])
{
    int64_t count = 1;

    for (int k = 0; k < t->rank; k++) count *= t->dim[k];
    if (!r->good || place[0] < 0 || place[1] > r->bytes ||
        place[1] - place[0] != count * types[type].bytes) {
        wrong(r, "a shape that fills its bytes");
        return;
    }
    t->count = count;
    t->data = NEW_ARRAY(r->arena, count, double);
    for (int64_t i = 0; i < count; i++)
        t->data[i] = element(type, r->data + place[0] + i * types[type].bytes);
}

// The text after a name.
static void read_tensor(Reader *r, Tensor *t)
{
    int type = F64;
    int64_t place[2] = { 0, -1 };

    wants(r, '{');
    while (r->good && !takes(r, '}')) {
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

static void read_header(Reader *r, TensorFile *file)
{
    wants(r, '{');
    while (r->good && !takes(r, '}')) {
        const char *name = text(r);
        wants(r, ':');
        if (strcmp(name, "__metadata__") == 0) {
            skip_object(r);
        } else {
            Tensor t = { .name = name };
            read_tensor(r, &t);
            tensors_add(r->arena, file, name, t.rank, t.dim, t.data);
        }
        takes(r, ',');
    }
}

// ---- files ------------------------------------------------------------------

// The message of errno for the file.
static bool complain(const char *path)
{
    fprintf(stderr, "%s: %s\n", path, strerror(errno));
    return false;
}

// The whole file, with a 0 at its end; NULL after a complaint.
static char *read_bytes(Arena *arena, const char *path, int64_t *size)
{
    FILE *in = fopen(path, "rb");
    char *bytes = NULL;

    if (in == NULL) return complain(path), NULL;
    if (fseek(in, 0, SEEK_END) == 0 && (*size = ftell(in)) >= 0 &&
        fseek(in, 0, SEEK_SET) == 0) {
        bytes = NEW_ARRAY(arena, *size + 1, char);
        if (fread(bytes, 1, (size_t)*size, in) != (size_t)*size) bytes = NULL;
    }
    if (bytes == NULL) complain(path);
    fclose(in);
    return bytes;
}

bool tensors_read(Arena *arena, const char *path, TensorFile *file)
{
    int64_t size = 0, length = 0;
    char *bytes = read_bytes(arena, path, &size);
    Reader r = { .arena = arena, .path = path, .good = bytes != NULL };

    *file = (TensorFile){ .count = 0 };
    if (bytes == NULL) return false;
    if (size >= 8) memcpy(&length, bytes, 8);
    if (length < 2 || length > size - 8) wrong(&r, "a safetensors file");
    if (!r.good) return false;
    r.at = arena_copy(arena, bytes + 8, (size_t)length);
    r.data = bytes + 8 + length;
    r.bytes = size - 8 - length;
    read_header(&r, file);
    return r.good;
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

// Its length goes in last, when it is known.
static void write_header(FILE *out, const TensorFile *file)
{
    int64_t begin = 0, length = 0;

    fwrite(&length, 8, 1, out);
    fputc('{', out);
    for (int k = 0; k < file->count; k++) {
        const Tensor *t = &file->tensor[k];
        fprintf(out, "%s\"%s\":{\"dtype\":\"F64\",\"shape\":[",
                k > 0 ? "," : "", t->name);
        for (int i = 0; i < t->rank; i++)
            fprintf(out, "%s%" PRId64, i > 0 ? "," : "", t->dim[i]);
        fprintf(out, "],\"data_offsets\":[%" PRId64 ",%" PRId64 "]}", begin,
                begin + 8 * t->count);
        begin += 8 * t->count;
    }
    fputc('}', out);
    while (ftell(out) % 8 != 0) fputc(' ', out);
    length = ftell(out) - 8;
    fseek(out, 0, SEEK_SET);
    fwrite(&length, 8, 1, out);
    fseek(out, 0, SEEK_END);
}

bool tensors_write(const char *path, const TensorFile *file)
{
    FILE *out = fopen(path, "wb");

    if (out == NULL) return complain(path);
    write_header(out, file);
    for (int k = 0; k < file->count; k++)
        fwrite(file->tensor[k].data, 8, (size_t)file->tensor[k].count, out);
    bool written = !ferror(out);
    if (fclose(out) != 0 || !written) return complain(path);
    return true;
}
