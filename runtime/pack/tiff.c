// TIFF of one image: uncompressed numbers of 32 bits in strips, the channels of
// a pixel one after the other.  A directory lists fields: a tag, a type, the
// number of values, and the values or, if they have more than four bytes, their
// offset.
#include <string.h>
#include "floats.h"

enum { ENTRY = 12, TYPE_SHORT = 3, TYPE_LONG = 4 };
enum { WIDTH = 256, HEIGHT = 257, BITS = 258, COMPRESSION = 259,
       PHOTOMETRIC = 262, FILL_ORDER = 266, STRIP_OFFSETS = 273, CHANNELS = 277,
       STRIP_ROWS = 278, STRIP_BYTES = 279, PLANES = 284, TILE_WIDTH = 322,
       SAMPLE_FORMAT = 339 };

// Directory: the first entry, and their number.
typedef struct Directory {
    Tiff   tiff;
    size_t first, count;
    char  *message;
} Directory;

// The values of a field; without a count, the file has none.
typedef struct Field {
    size_t at, width, count;
} Field;

// Strips of an image, from its top down.
typedef struct Strips {
    Field    offset, bytes;
    uint64_t rows;              // of each except the last
} Strips;

static bool open_directory(const Bytes *file, Directory *d)
{
    Tiff tiff = { file->at, file->count, file->at[0] == 'M' };
    d->tiff = tiff;
    if (tiff_number(&tiff, 2, 2) != 42)
        return refuse(d->message, "is BigTIFF: wanted TIFF with offsets of 32 "
                      "bits");
    size_t start = tiff_number(&tiff, 4, 4);
    d->first = start + 2;
    d->count = tiff_number(&tiff, start, 2);
    size_t end = d->first + d->count * ENTRY;
    if (d->count == 0 || end + 4 > file->count)
        return refuse(d->message, "is TIFF, and its directory at byte %zu of "
                      "%zu is not complete", start, file->count);
    return tiff_number(&tiff, end, 4) == 0 ||
           refuse(d->message, "is TIFF of several images: wanted one");
}

// Finds a field.  Returns false, with a message, if its values are damaged.
static bool find_field(const Directory *d, unsigned tag, Field *field)
{
    const Tiff *t = &d->tiff;
    size_t entry = d->first, end = entry + d->count * ENTRY;
    *field = (Field){ .count = 0 };
    while (entry < end && tiff_number(t, entry, 2) != tag) entry += ENTRY;
    if (entry == end) return true;
    unsigned type = tiff_number(t, entry + 2, 2);
    field->width = type == TYPE_SHORT ? 2 : 4;
    field->count = tiff_number(t, entry + 4, 4);
    size_t bytes = field->width * field->count;
    field->at = bytes <= 4 ? entry + 8 : tiff_number(t, entry + 8, 4);
    if (type != TYPE_SHORT && type != TYPE_LONG)
        return refuse(d->message, "is TIFF with type %u of tag %u: wanted %d "
                      "or %d, integers", type, tag, TYPE_SHORT, TYPE_LONG);
    if (field->count == 0 || field->at > t->bytes ||
        bytes > t->bytes - field->at)
        return refuse(d->message, "is TIFF, and the %zu values of tag %u at "
                      "byte %zu are not in its %zu bytes", field->count, tag,
                      field->at, t->bytes);
    return true;
}

static uint32_t value_of(const Directory *d, const Field *field, size_t i)
{
    return tiff_number(&d->tiff, field->at + i * field->width, field->width);
}

// Sets the first value of a field, which is `usual` if the file has none.
static bool read_number(const Directory *d, unsigned tag, uint32_t usual,
                        uint64_t *number)
{
    Field field;
    if (!find_field(d, tag, &field)) return false;
    *number = field.count > 0 ? value_of(d, &field, 0) : usual;
    return true;
}

// True if all values of a field are from `least` to `most`.
static bool wants(const Directory *d, unsigned tag, uint32_t usual,
                  uint32_t least, uint32_t most, const char *meaning)
{
    Field field;
    if (!find_field(d, tag, &field)) return false;
    for (size_t i = 0; i == 0 || i < field.count; i++) {
        uint32_t value = field.count > 0 ? value_of(d, &field, i) : usual;
        if (value < least || value > most)
            return refuse(d->message, "is TIFF with the value %u of tag %u: "
                          "wanted %s", value, tag, meaning);
    }
    return true;
}

static bool check_samples(const Directory *d, uint64_t channels)
{
    Field tiles;
    if (!find_field(d, TILE_WIDTH, &tiles)) return false;
    if (tiles.count > 0)
        return refuse(d->message, "is TIFF of tiles: wanted strips");
    return wants(d, COMPRESSION, 1, 1, 1, "1, no compression") &&
           wants(d, SAMPLE_FORMAT, 1, 3, 3, "3, samples that are float") &&
           wants(d, BITS, 1, 32, 32, "32 bits a sample") &&
           wants(d, PHOTOMETRIC, 1, 1, 2, "1 or 2, where a larger number is "
                 "lighter") &&
           wants(d, FILL_ORDER, 1, 1, 1, "1, the usual order of bits") &&
           wants(d, PLANES, 1, 1, channels == 1 ? 2 : 1, "1, the channels of a "
                 "pixel one after the other");
}

static bool find_strips(const Directory *d, const Stated *size, Strips *s)
{
    if (!find_field(d, STRIP_OFFSETS, &s->offset) ||
        !find_field(d, STRIP_BYTES, &s->bytes) ||
        !read_number(d, STRIP_ROWS, UINT32_MAX, &s->rows))
        return false;
    if (s->rows == 0)
        return refuse(d->message, "is TIFF with strips of 0 rows");
    uint64_t strips = (size->height + s->rows - 1) / s->rows;
    return (s->offset.count == strips && s->bytes.count == strips) ||
           refuse(d->message, "is TIFF with %zu offsets and %zu sizes of "
                  "strips: wanted %llu each, for %llu rows",
                  s->offset.count, s->bytes.count, (unsigned long long)strips,
                  (unsigned long long)size->height);
}

// Reads strip i, of `count` numbers.
static bool read_strip(const Directory *d, const Strips *s, size_t i,
                       size_t count, float *to)
{
    size_t at = value_of(d, &s->offset, i), bytes = value_of(d, &s->bytes, i);
    if (bytes != count * sizeof *to)
        return refuse(d->message, "is TIFF, and strip %zu has %zu bytes: "
                      "wanted %zu", i, bytes, count * sizeof *to);
    if (at > d->tiff.bytes || bytes > d->tiff.bytes - at)
        return refuse(d->message, "is TIFF, and its %zu bytes end before strip "
                      "%zu does, at byte %zu", d->tiff.bytes, i, at + bytes);
    load_floats(d->tiff.at + at, count, d->tiff.big, to);
    return true;
}

bool read_tiff(const Bytes *file, Image *image, char message[MESSAGE_SIZE])
{
    Directory d = { .message = message };
    Stated size;
    Strips strips;

    if (!open_directory(file, &d) || !read_number(&d, WIDTH, 0, &size.width) ||
        !read_number(&d, HEIGHT, 0, &size.height) ||
        !read_number(&d, CHANNELS, 1, &size.channels) ||
        !check_samples(&d, size.channels))
        return false;
    uint64_t bytes = float_bytes(&size, message);
    if (bytes == 0) return false;
    if (bytes > file->count)
        return refuse(message, "is TIFF of %zu bytes: wanted %llu and more, "
                      "for %llu x %llu pixels of %llu channels", file->count,
                      (unsigned long long)bytes,
                      (unsigned long long)size.height,
                      (unsigned long long)size.width,
                      (unsigned long long)size.channels);
    if (!find_strips(&d, &size, &strips) ||
        !make_float_room(image, &size, message))
        return false;
    size_t row = (size_t)size.width * (size_t)size.channels;
    float *to = image->pixels;
    for (uint64_t y = 0, i = 0; y < size.height; y += strips.rows, i++) {
        uint64_t rows = size.height - y;
        if (rows > strips.rows) rows = strips.rows;
        if (!read_strip(&d, &strips, i, rows * row, to + y * row)) return false;
    }
    image->orientation = exif_orientation(file->at, file->count);
    return true;
}
