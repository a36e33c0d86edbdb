// Escapes all text of the user (names, files, the program) for the page.

#include "html.h"

#include <stdbool.h>
#include <stdint.h>

#include "../../ir/base/utf8.h"

// Returns the HTML for an ASCII character; NULL: the character itself.
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

// True for controls and characters that change the writing direction, which make a line misleading.
static bool misleads(int32_t code)
{
    return code < 0 || (code >= 0x80 && code < 0xa0) || (code >= 0x202a && code <= 0x202e) ||
           (code >= 0x2066 && code <= 0x2069);
}

const char *html_escaped(Arena *arena, const char *text, size_t length)
{
    enum { LONGEST = 8 }; // entity, in bytes
    char *copy = NEW_ARRAY(arena, LONGEST * length + 1, char), *to = copy;
    for (size_t i = 0, count; i < length; i += count) {
        int32_t code = utf8_point(text + i, length - i, &count);
        const char *other = misleads(code) ? "&#xFFFD;"
                            : code < 128   ? entity((unsigned char)code)
                                           : NULL;
        for (size_t k = 0; other == NULL && k < count; k++) *to++ = text[i + k];
        for (; other != NULL && *other != '\0'; other++) *to++ = *other;
    }
    return copy;
}
