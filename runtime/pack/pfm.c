// PFM: a line PF (three channels) or Pf (one); the width and the height; a
// scale, whose sign tells the order of bytes; the numbers, from the bottom row
// to the top one.  White space separates the parts of the head, and one such
// byte ends it.  The size of the scale has no effect on the numbers.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "floats.h"

enum { LONGEST_WORD = 32 };

static bool is_blank(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

// Copies the next word of the head and passes the byte after it; "" if there is
// none, or if it is too long.
static void next_word(const Bytes *file, size_t *at, char word[LONGEST_WORD])
{
    size_t length = 0;
    while (*at < file->count && is_blank(file->at[*at])) ++*at;
    for (; *at < file->count && !is_blank(file->at[*at]); ++*at)
        if (length < LONGEST_WORD) word[length++] = (char)file->at[*at];
    bool whole = *at < file->count && length < LONGEST_WORD;
    word[whole ? length : 0] = '\0';
    if (whole) ++*at;
}

static bool next_side(const Bytes *file, size_t *at, uint64_t *side)
{
    char word[LONGEST_WORD];
    next_word(file, at, word);
    size_t length = strlen(word);
    *side = strtoull(word, NULL, 10);
    return length > 0 && length < 10 && strspn(word, "0123456789") == length;
}

// Reads a decimal number other than 0.
static bool next_scale(const Bytes *file, size_t *at, double *scale)
{
    char word[LONGEST_WORD], *end;
    next_word(file, at, word);
    *scale = strtod(word, &end);
    return *word != '\0' && *end == '\0' && isfinite(*scale) && *scale != 0 &&
           strspn(word, "+-.0123456789eE") == strlen(word);
}

bool read_pfm(const Bytes *file, Image *image, char message[MESSAGE_SIZE])
{
    Stated size = { .channels = file->at[1] == 'F' ? RGB : 1 };
    size_t at = 2;
    double scale;

    if (!next_side(file, &at, &size.width) ||
        !next_side(file, &at, &size.height))
        return refuse(message, "is PFM, and byte %zu of its head ends no width "
                      "or height: wanted a number", at);
    if (!next_scale(file, &at, &scale))
        return refuse(message, "is PFM, and byte %zu of its head ends no "
                      "scale: wanted a number other than 0", at);
    uint64_t bytes = float_bytes(&size, message);
    if (bytes == 0) return false;
    if (bytes != file->count - at)
        return refuse(message, "is PFM, and has %zu bytes after its head: "
                      "wanted %llu, for %llu x %llu pixels", file->count - at,
                      (unsigned long long)bytes,
                      (unsigned long long)size.height,
                      (unsigned long long)size.width);
    if (!make_float_room(image, &size, message)) return false;
    size_t row = (size_t)size.width * size.channels;
    float *to = image->pixels;
    for (size_t y = size.height; y-- > 0; at += row * sizeof *to)
        load_floats(file->at + at, row, scale > 0, to + y * row);
    return true;
}
