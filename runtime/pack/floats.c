// Float images: numbers of 32 bits, which stay as they are.  The first bytes of
// a file tell its format.
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "floats.h"

// The samples of a TIFF file have a count of 16 bits.
enum { MOST_CHANNELS = 65535 };

typedef bool ReadFormat(const Bytes *file, Image *image,
                        char message[MESSAGE_SIZE]);

static const struct {
    const char *start;
    size_t      length;
    ReadFormat *read;
} formats[] = {
    { "\x93NUMPY", 6, read_npy },
    { "PF\n", 3, read_pfm }, { "Pf\n", 3, read_pfm },
    { "II*\0", 4, read_tiff }, { "MM\0*", 4, read_tiff },
    // BigTIFF, which the reader refuses.
    { "II+\0", 4, read_tiff }, { "MM\0+", 4, read_tiff },
};

static ReadFormat *format_of(const Bytes *file)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (file->count >= formats[i].length &&
            memcmp(file->at, formats[i].start, formats[i].length) == 0)
            return formats[i].read;
    return NULL;
}

bool refuse(char message[MESSAGE_SIZE], const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, MESSAGE_SIZE, format, arguments);
    va_end(arguments);
    return false;
}

uint64_t float_bytes(const Stated *size, char message[MESSAGE_SIZE])
{
    if (!is_accepted_size(size->height, size->width, message)) return 0;
    if (size->channels >= 1 && size->channels <= MOST_CHANNELS)
        return size->height * size->width * size->channels * sizeof(float);
    refuse(message, "states %llu channels: wanted 1 to %d",
           (unsigned long long)size->channels, MOST_CHANNELS);
    return 0;
}

bool make_float_room(Image *image, const Stated *size,
                     char message[MESSAGE_SIZE])
{
    image->channels = (int)size->channels;
    return make_room(image, size->height, size->width, size->channels, message);
}

void load_floats(const uint8_t *from, size_t count, bool big, float *to)
{
    for (; count > 0; count--, from += 4, to++) {
        uint32_t bits = 0;
        for (int byte = 0; byte < 4; byte++)
            bits |= (uint32_t)from[byte] << 8 * (big ? 3 - byte : byte);
        memcpy(to, &bits, sizeof bits);
    }
}

// False, with the place, for an image with NaN or infinity.
static bool is_finite(const Image *image, char message[MESSAGE_SIZE])
{
    const float *sample = image->pixels;
    size_t width = (size_t)image->width, channels = (size_t)image->channels;
    size_t count = (size_t)image->height * width * channels;
    for (size_t i = 0; i < count; i++)
        if (!isfinite(sample[i]))
            return refuse(message, "has %s in row %zu, column %zu, channel "
                          "%zu (all from 0): wanted finite numbers",
                          isnan(sample[i]) ? "NaN" : "infinity",
                          i / channels / width, i / channels % width,
                          i % channels);
    return true;
}

bool is_float_image(const Bytes *file)
{
    return format_of(file) != NULL;
}

bool read_float_image(const Bytes *file, Image *image,
                      char message[MESSAGE_SIZE])
{
    return format_of(file)(file, image, message) && is_finite(image, message);
}
