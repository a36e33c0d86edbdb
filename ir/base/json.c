// Prints strings and numbers as in RFC 8259.
#include "json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "utf8.h"

static void print_point(int32_t code, const char *bytes, size_t count,
                        FILE *out)
{
    if (code < 0)
        fputs("\\ufffd", out);
    else if (code < ' ')
        fprintf(out, "\\u%04x", (unsigned)code);
    else if (code == '"' || code == '\\')
        fprintf(out, "\\%c", (int)code);
    else
        fwrite(bytes, 1, count, out);
}

void json_string(const char *text, FILE *out)
{
    size_t left = strlen(text), count;
    fputc('"', out);
    for (; left > 0; text += count, left -= count) {
        int32_t code = utf8_point(text, left, &count);
        print_point(code, text, count, out);
    }
    fputc('"', out);
}

void json_number(double number, FILE *out)
{
    enum { EXACT = 17 };        // digits that identify any double
    char text[32];
    if (!isfinite(number)) {
        fputs("null", out);
        return;
    }
    for (int digits = 1; digits <= EXACT; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, number);
        if (strtod(text, NULL) == number) break;
    }
    fputs(text, out);
}
