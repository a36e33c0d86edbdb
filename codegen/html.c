// What a reader gave (names, files, the program) goes into the page through this alone.

#include "html.h"

#include <stdbool.h>
#include <stdint.h>

// What is written for a byte that is a character; NULL: itself.
static const char *entity(unsigned char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    case '\t':
        return "    ";
    case '\n':
        return NULL;
    default:
        return c < ' ' || c == 127 ? "&#xFFFD;" : NULL;
    }
}

// The code point that begins at text, and its bytes in *count; of one byte and -1: none does.
static int32_t code_point(const unsigned char *text, size_t length, size_t *count)
{
    static const int32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t need = text[0] < 0x80   ? 1
                  : text[0] < 0xc2 ? 0
                  : text[0] < 0xe0 ? 2
                  : text[0] < 0xf0 ? 3
                  : text[0] < 0xf5 ? 4
                                   : 0;
    *count = 1;
    if (need == 0 || need > length) return -1;
    int32_t code = need == 1 ? text[0] : text[0] & (0xff >> (need + 1));
    for (size_t i = 1; i < need; i++) {
        if ((text[i] & 0xc0) != 0x80) return -1;
        code = code << 6 | (text[i] & 0x3f);
    }
    if (code < least[need] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return -1;
    *count = need;
    return code;
}

// Controls, and what turns the direction of writing, so that a line reads as it is.
static bool misleads(int32_t code)
{
    return code < 0 || (code >= 0x80 && code < 0xa0) || (code >= 0x202a && code <= 0x202e) ||
           (code >= 0x2066 && code <= 0x2069);
}

const char *html_escaped(Arena *arena, const char *text, size_t length)
{
    enum { LONGEST = 8 }; // entity
    char *copy = NEW_ARRAY(arena, LONGEST * length + 1, char), *to = copy;
    for (size_t i = 0, count; i < length; i += count) {
        int32_t code = code_point((const unsigned char *)text + i, length - i, &count);
        const char *other = misleads(code) ? "&#xFFFD;"
                            : code < 128   ? entity((unsigned char)code)
                                           : NULL;
        for (size_t k = 0; other == NULL && k < count; k++) *to++ = text[i + k];
        for (; other != NULL && *other != '\0'; other++) *to++ = *other;
    }
    return copy;
}
