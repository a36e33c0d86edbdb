// Safetensors: eight bytes with the header's length, little-endian like all hosts here; a JSON
// object with each tensor's type, shape and offsets; the data.  The reader is strict: known types,
// shapes that fit their bytes, data covered with no gap and no overlap, each name once.  The writer
// uses a temporary file that is synced and renamed, so the target is whole or unchanged.
#pragma once
#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <unistd.h>

#include "output.cuh"

// SafeType: a type's names in files and in nets, and its size.
struct SafeType {
    const char *name, *dtype;
    size_t bytes;
};

// A net's tensors have one of the first five types or, weights alone, 8 or 16 bits; files may have
// all.
enum SafeTypeNumber {
    SAFE_F64, SAFE_F32, SAFE_I64, SAFE_I32, SAFE_U8, SAFE_BOOL, SAFE_I8, SAFE_I16, SAFE_U16,
    SAFE_U32, SAFE_U64, SAFE_F16, SAFE_BF16, SAFE_TYPES
};

// Indexed by SafeTypeNumber.
static const SafeType safe_types[] = {
    {"F64", "f64", 8}, {"F32", "f32", 4}, {"I64", "i64", 8}, {"I32", "i32", 4}, {"U8", "u8", 1},
    {"BOOL", "bool", 1}, {"I8", "i8", 1}, {"I16", "i16", 2}, {"U16", "u16", 2}, {"U32", "u32", 4},
    {"U64", "u64", 8}, {"F16", "f16", 2}, {"BF16", "bf16", 2}};

enum SafeLimits { SAFE_RANK = 8, SAFE_NAME = 1024 };

// SafeTensor: a tensor of a file.  Its data are unaligned, `begin` bytes after the start of all
// data.
struct SafeTensor {
    char name[SAFE_NAME];
    int type, rank;
    long long shape[SAFE_RANK];
    size_t begin, bytes;
    const unsigned char *data;
};

// SafeFile: a file's tensors, in the order of their data.
struct SafeFile {
    const char *path;
    SafeTensor *tensors;
    int count;
};

// JsonText: a cursor over the header.
struct JsonText {
    const char *path, *begin, *at, *end;
};

static inline bool json_complain(const JsonText *j, const char *wanted)
{
    return complain("%s: header, byte %td: wanted %s", j->path, j->at - j->begin, wanted);
}

// Skips blanks and takes c if it is next.
static inline bool json_takes(JsonText *j, char c)
{
    while (j->at < j->end && *j->at && strchr(" \n\t\r", *j->at)) j->at++;
    if (j->at == j->end || *j->at != c) return false;
    j->at++;
    return true;
}

static inline bool json_wants(JsonText *j, char c)
{
    char wanted[2] = {c, 0};
    return json_takes(j, c) || json_complain(j, wanted);
}

// Parses the four hexadecimal digits of \uXXXX at `at`.  Returns -1 if they are not there.
static inline long json_unit(const JsonText *j, const char *at)
{
    long unit = 0;
    if (j->end - at < 4) return -1;
    for (int i = 0; i < 4; i++) {
        const char digit = at[i];
        if (!isxdigit((unsigned char)digit)) return -1;
        unit = 16 * unit + (digit <= '9' ? digit - '0' : (digit | 32) - 'a' + 10);
    }
    return unit;
}

// Writes a character as UTF-8 and returns the number of bytes.  A 0 takes two, so that it ends no
// string.
static inline size_t put_utf8(char *to, long c)
{
    if (c > 0 && c < 0x80) return to[0] = (char)c, 1;
    size_t more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    to[0] = (char)((more == 1 ? 0xC0 : more == 2 ? 0xE0 : 0xF0) | c >> 6 * more);
    for (size_t i = 1; i <= more; i++) to[i] = (char)(0x80 | (c >> 6 * (more - i) & 0x3F));
    return more + 1;
}

// Parses an escape, whose backslash is next, and writes its character.  Returns the bytes, or 0
// after a complaint.  A surrogate pair becomes one character.
static inline size_t json_escape(JsonText *j, char *to)
{
    static const char letters[] = "\"\\/bfnrt", means[] = "\"\\/\b\f\n\r\t";
    const char *letter = ++j->at < j->end && *j->at ? strchr(letters, *j->at) : NULL;
    if (letter) return j->at++, *to = means[letter - letters], 1;
    long unit = j->at < j->end && *j->at == 'u' ? json_unit(j, j->at + 1) : -1, low = -1;
    if (unit < 0) return json_complain(j, "one of \" \\ / b f n r t, or uXXXX, after \\"), 0;
    j->at += 5;
    if (unit >= 0xD800 && unit < 0xDC00 && j->end - j->at >= 6 && !memcmp(j->at, "\\u", 2))
        low = json_unit(j, j->at + 2);
    if (low < 0xDC00 || low >= 0xE000) return put_utf8(to, unit);
    j->at += 6;
    return put_utf8(to, 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00));
}

// Parses a string of at most room - 1 bytes of UTF-8.  text NULL: skips one of any length.
static inline bool json_string(JsonText *j, char *text, size_t room)
{
    size_t length = 0;
    if (!json_wants(j, '"')) return false;
    while (j->at < j->end && *j->at != '"') {
        char unit[4] = {*j->at};
        size_t bytes = 1;
        if ((unsigned char)*j->at < 32) return json_complain(j, "a plain character");
        if (*j->at != '\\') j->at++;
        else if (!(bytes = json_escape(j, unit))) return false;
        if (!text) continue;
        if (length + bytes >= room) return json_complain(j, "a shorter string");
        memcpy(text + length, unit, bytes);
        length += bytes;
    }
    if (text) text[length] = 0;
    return json_wants(j, '"');
}

// Parses a list of at most `room` integers from 0 up.
static inline bool json_integers(JsonText *j, long long *numbers, int room, int *count)
{
    *count = 0;
    if (!json_wants(j, '[')) return false;
    if (json_takes(j, ']')) return true;
    do {
        long long number = 0;
        const char *first = j->at += j->at < j->end && *j->at == ' ';
        for (; j->at < j->end && isdigit((unsigned char)*j->at); j->at++)
            if (__builtin_mul_overflow(number, 10LL, &number) ||
                __builtin_add_overflow(number, (long long)(*j->at - '0'), &number))
                return json_complain(j, "a number below 2^63");
        if (j->at == first) return json_complain(j, "a number of 0 and more");
        if (*count == room) return json_complain(j, "fewer numbers");
        numbers[(*count)++] = number;
    } while (json_takes(j, ','));
    return json_wants(j, ']');
}

// Skips the metadata, pairs of strings.
static inline bool json_metadata(JsonText *j)
{
    if (!json_wants(j, '{')) return false;
    if (json_takes(j, '}')) return true;
    do
        if (!json_string(j, NULL, 0) || !json_wants(j, ':') || !json_string(j, NULL, 0))
            return false;
    while (json_takes(j, ','));
    return json_wants(j, '}');
}

// Parses one field of a tensor's description.  *seen has a bit each for type, shape and offsets.
static inline bool read_safe_field(JsonText *j, SafeTensor *t, int *seen)
{
    char key[16], type[16];
    long long place[2] = {0, 0};
    int count;
    if (!json_string(j, key, sizeof key) || !json_wants(j, ':')) return false;
    int field = (strcmp(key, "dtype") ? 0 : 1) + (strcmp(key, "shape") ? 0 : 2) +
                (strcmp(key, "data_offsets") ? 0 : 4);
    if (field == 0 || *seen & field)
        return complain("%s: tensor %s: wanted dtype, shape and data_offsets, once each; found %s",
                        j->path, t->name, key);
    *seen |= field;
    if (field == 2) return json_integers(j, t->shape, SAFE_RANK, &t->rank);
    if (field == 4) {
        if (!json_integers(j, place, 2, &count)) return false;
        t->begin = (size_t)place[0];
        t->bytes = (size_t)place[1] - t->begin;
        return (count == 2 && place[0] <= place[1]) ||
               complain("%s: tensor %s: wanted data_offsets [begin, end]", j->path, t->name);
    }
    if (!json_string(j, type, sizeof type)) return false;
    for (t->type = 0; t->type < SAFE_TYPES; t->type++)
        if (!strcmp(type, safe_types[t->type].name)) return true;
    return complain("%s: tensor %s: wanted F16 to F64, BF16, I8 to I64, U8 to U64 or BOOL, found "
                    "%s", j->path, t->name, type);
}

// Parses a tensor's description after its name: all fields, and bytes that fit the shape.
static inline bool read_safe_tensor(JsonText *j, SafeTensor *t)
{
    int seen = 0;
    if (!json_wants(j, '{')) return false;
    do
        if (!read_safe_field(j, t, &seen)) return false;
    while (json_takes(j, ','));
    if (!json_wants(j, '}')) return false;
    if (seen != 7)
        return complain("%s: tensor %s: wanted dtype, shape and data_offsets", j->path, t->name);
    size_t bytes = safe_types[t->type].bytes;
    bool fits = true;
    for (int i = 0; i < t->rank; i++)
        fits = !__builtin_mul_overflow(bytes, (size_t)t->shape[i], &bytes) && fits;
    return (fits && bytes == t->bytes) ||
           complain("%s: tensor %s: its shape and type do not fill its %zu bytes", j->path, t->name,
                    t->bytes);
}

// Parses the whole header.  A description has at least 48 bytes, which bounds their number.
static inline bool read_safe_header(JsonText *j, SafeFile *file)
{
    size_t most = (size_t)(j->end - j->begin) / 48 + 1;
    file->tensors = (SafeTensor *)take_memory(most * sizeof(SafeTensor));
    if (!json_wants(j, '{')) return false;
    for (bool more = !json_takes(j, '}'); more;) {
        SafeTensor *t = &file->tensors[file->count];
        if (!json_string(j, t->name, sizeof t->name) || !json_wants(j, ':')) return false;
        bool metadata = !strcmp(t->name, "__metadata__");
        if (metadata ? !json_metadata(j) : !read_safe_tensor(j, t)) return false;
        file->count += !metadata;
        more = json_takes(j, ',');
        if (!more && !json_wants(j, '}')) return false;
    }
    json_takes(j, ' ');
    return j->at == j->end || json_complain(j, "its end");
}

static inline int compare_places(const void *a, const void *b)
{
    const SafeTensor *x = (const SafeTensor *)a, *y = (const SafeTensor *)b;
    if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
    return x->bytes < y->bytes ? -1 : x->bytes > y->bytes;
}

// Sorts by offset and sets data.  The tensors must cover all bytes once, and names must differ.
static inline bool check_safe_places(SafeFile *file, const unsigned char *data, size_t bytes)
{
    size_t end = 0;
    qsort(file->tensors, (size_t)file->count, sizeof(SafeTensor), compare_places);
    for (int i = 0; i < file->count; i++) {
        SafeTensor *t = &file->tensors[i];
        if (t->begin != end || t->bytes > bytes - end)
            return complain("%s: tensor %s lies at bytes %zu to %zu of %zu; wanted it to begin at "
                            "%zu", file->path, t->name, t->begin, t->begin + t->bytes, bytes, end);
        t->data = data + t->begin;
        end += t->bytes;
        for (int k = 0; k < i; k++)
            if (!strcmp(t->name, file->tensors[k].name))
                return complain("%s: two tensors are named %s", file->path, t->name);
    }
    return end == bytes ||
           complain("%s: %zu bytes follow the last tensor", file->path, bytes - end);
}

static inline bool read_safetensors(const char *path, SafeFile *file)
{
    FileBytes raw = {};
    uint64_t length = 0;
    *file = {path, NULL, 0};
    if (!map_file(path, &raw)) return false;
    if (raw.size >= 8) memcpy(&length, raw.bytes, 8);
    if (raw.size < 8 || length > raw.size - 8)
        return complain("%s: wanted safetensors; a header of %llu bytes is not in %zu bytes", path,
                        (unsigned long long)length, raw.size);
    const char *text = (const char *)raw.bytes + 8;
    JsonText j = {path, text, text, text + length};
    return read_safe_header(&j, file) &&
           check_safe_places(file, raw.bytes + 8 + length, raw.size - 8 - (size_t)length);
}

static inline const SafeTensor *find_safe_tensor(const SafeFile *file, const char *name)
{
    for (int i = 0; i < file->count; i++)
        if (!strcmp(file->tensors[i].name, name)) return &file->tensors[i];
    return NULL;
}

// Returns the value of 16 bits: of IEEE 754 binary16, or (brain) of bfloat16.
static inline double half_number(uint16_t bits, bool brain)
{
    const int digits = brain ? 7 : 10, range = brain ? 0xFF : 0x1F;
    const int exponent = bits >> digits & range, fraction = bits & ((1 << digits) - 1);
    double value = exponent == range ? fraction ? NAN : INFINITY
                 : ldexp(fraction + (exponent ? 1 << digits : 0),
                         (exponent ? exponent : 1) - range / 2 - digits);
    return bits >> 15 ? -value : value;
}

// Returns element i of data of a type, as a double.
static inline double read_element(int type, const void *data, size_t i)
{
    const unsigned char *at = (const unsigned char *)data + i * safe_types[type].bytes;
    double f64;
    float f32;
    int64_t i64;
    int32_t i32;
    uint64_t u64;
    uint32_t u32;
    uint16_t u16;
    switch (type) {
    case SAFE_F64: memcpy(&f64, at, 8); return f64;
    case SAFE_F32: memcpy(&f32, at, 4); return f32;
    case SAFE_I64: memcpy(&i64, at, 8); return (double)i64;
    case SAFE_I32: memcpy(&i32, at, 4); return i32;
    case SAFE_U64: memcpy(&u64, at, 8); return (double)u64;
    case SAFE_U32: memcpy(&u32, at, 4); return u32;
    case SAFE_I16: memcpy(&u16, at, 2); return (int16_t)u16;
    case SAFE_U16: memcpy(&u16, at, 2); return u16;
    case SAFE_F16:
    case SAFE_BF16: memcpy(&u16, at, 2); return half_number(u16, type == SAFE_BF16);
    case SAFE_I8: return (signed char)*at;
    case SAFE_BOOL: return *at != 0;
    default: return *at;
    }
}

// Returns the 16 bits of the nearest number, ties to even, of IEEE 754 binary16 or (brain) of
// bfloat16.  Values past the largest number become infinite.
static inline uint16_t half_word(double value, bool brain)
{
    const int digits = brain ? 7 : 10, range = brain ? 0xFF : 0x1F, least = 2 - range / 2;
    const int sign = signbit(value) ? 0x8000 : 0;
    int exponent;
    if (isnan(value)) return (uint16_t)(sign | range << digits | 1 << (digits - 1));
    if (isinf(value)) return (uint16_t)(sign | range << digits);
    frexp(value, &exponent);            // |value| in [1/2, 1) * 2^exponent
    if (value == 0 || exponent < least) exponent = least;
    // The bits of a number grow with it, also from one exponent to the next.
    const double units = nearbyint(ldexp(fabs(value), digits + 1 - exponent));
    const double bits = ldexp(exponent - least, digits) + units;
    return (uint16_t)(sign | (bits < range << digits ? (int)bits : range << digits));
}

// Writes element i of data of a type, rounded to 16 bits.  Returns false if another type does not
// hold the value exactly, or if a finite value becomes infinite.
static inline bool write_element(int type, void *data, size_t i, double value)
{
    const bool half = type == SAFE_F16 || type == SAFE_BF16;
    if (type == SAFE_F64) ((double *)data)[i] = value;
    else if (half) ((uint16_t *)data)[i] = half_word(value, type == SAFE_BF16);
    else if (type == SAFE_F32) ((float *)data)[i] = (float)value;
    else if (type == SAFE_I32 && fabs(value) <= INT_MAX) ((int32_t *)data)[i] = (int32_t)value;
    else if (type == SAFE_I8 && fabs(value) <= 127) ((int8_t *)data)[i] = (int8_t)value;
    else if (type == SAFE_U8 && value >= 0 && value <= 255) ((uint8_t *)data)[i] = (uint8_t)value;
    else return false;
    const double held = read_element(type, data, i);
    return held == value || isnan(value) || (half && isfinite(held));
}

// Returns the type of a net's dtype.
static inline int safe_type_of(const char *dtype)
{
    int type = 0;
    while (type < SAFE_TYPES && strcmp(safe_types[type].dtype, dtype)) type++;
    return type;
}

// Copies a tensor's elements as another type; 16 bits hold the nearest number.  Complains if a
// value would change otherwise.
static inline bool convert_tensor(const char *path, const SafeTensor *t, int type, void *to)
{
    size_t count = t->bytes / safe_types[t->type].bytes;
    if (t->type == type) memcpy(to, t->data, t->bytes);
    for (size_t i = 0; t->type != type && i < count; i++) {
        double value = read_element(t->type, t->data, i);
        // A double may round an I64 or U64 from 2^53 on.
        bool wide = (t->type == SAFE_I64 || t->type == SAFE_U64) && fabs(value) >= 0x1p53;
        if (!write_element(type, to, i, value) || wide)
            return complain("%s: tensor %s is %s: its element %zu, %.17g, is no %s", path, t->name,
                            safe_types[t->type].name, i, value, safe_types[type].dtype);
    }
    return true;
}

// Writes the header as JSON after eight blanks, padded so that the data begin at a multiple of 8.
static inline void write_safe_header(FILE *out, const SafeTensor *tensors, int count)
{
    size_t begin = 0;
    fprintf(out, "%8s{", "");
    for (int i = 0; i < count; i++) {
        const SafeTensor *t = &tensors[i];
        fprintf(out, "%s\"%s\":{\"dtype\":\"%s\",\"shape\":[", i ? "," : "", t->name,
                safe_types[t->type].name);
        for (int k = 0; k < t->rank; k++) fprintf(out, "%s%lld", k ? "," : "", t->shape[k]);
        fprintf(out, "],\"data_offsets\":[%zu,%zu]}", begin, begin + t->bytes);
        begin += t->bytes;
    }
    fprintf(out, "}");
    while (ftell(out) % 8) fputc(' ', out);
}

// Writes tensors in this order.  Their names are the net's and need no escapes.
static inline bool write_safetensors(const char *path, const SafeTensor *tensors, int count)
{
    BesideFile file = {};
    if (!open_beside(path, &file)) return false;
    write_safe_header(file.out, tensors, count);
    uint64_t length = (uint64_t)ftell(file.out) - 8;
    bool written = true;
    for (int i = 0; i < count && written; i++)
        written = fwrite(tensors[i].data, 1, tensors[i].bytes, file.out) == tensors[i].bytes;
    written = written && !fseek(file.out, 0, SEEK_SET) && fwrite(&length, 8, 1, file.out) == 1;
    return close_beside(&file, written);
}
