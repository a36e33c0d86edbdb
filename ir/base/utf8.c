// Accepts the well-formed byte sequences of the Unicode Standard: no overlong
// forms, no surrogates, nothing above 10FFFF.
#include "utf8.h"

int32_t utf8_point(const char *text, size_t length, size_t *count)
{
    static const int32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    const unsigned char *byte = (const unsigned char *)text;
    size_t need = byte[0] < 0x80   ? 1
                  : byte[0] < 0xc2 ? 0
                  : byte[0] < 0xe0 ? 2
                  : byte[0] < 0xf0 ? 3
                  : byte[0] < 0xf5 ? 4
                                   : 0;
    *count = 1;
    if (need == 0 || need > length) return -1;
    int32_t code = need == 1 ? byte[0] : byte[0] & (0xff >> (need + 1));
    for (size_t i = 1; i < need; i++) {
        if ((byte[i] & 0xc0) != 0x80) return -1;
        code = code << 6 | (byte[i] & 0x3f);
    }
    if (code < least[need] || code > 0x10ffff ||
        (code >= 0xd800 && code < 0xe000))
        return -1;
    *count = need;
    return code;
}
