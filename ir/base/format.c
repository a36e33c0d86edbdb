// Formats numbers for people.
#include "format.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

const char *grouped_text(Arena *arena, int64_t number)
{
    if (number < 0)
        return arena_print(arena, "-%s", grouped_text(arena, -number));
    if (number < 1000) return arena_print(arena, "%" PRId64, number);
    return arena_print(arena, "%s %03d", grouped_text(arena, number / 1000),
                       (int)(number % 1000));
}

const char *bytes_text(Arena *arena, int64_t bytes)
{
    static const char *const unit[] = { "B", "KiB", "MiB", "GiB", "TiB" };
    double size = (double)bytes;
    int u = 0;
    while (size >= 1024 && u < 4) size /= 1024, u++;
    return arena_print(arena, "%.*f %s", u > 0 ? 2 : 0, size, unit[u]);
}

const char *enough_text(Arena *arena, int64_t bytes)
{
    static const char *const name[] = { "B", "KiB", "MiB", "GiB", "TiB" };
    int64_t unit = 1;
    int u = 0;
    while (bytes / unit >= 1024 && u < 4) unit *= 1024, u++;
    if (u == 0) return bytes_text(arena, bytes);
    int64_t hundredths = (bytes % unit * 100 + unit - 1) / unit;
    int64_t whole = bytes / unit + hundredths / 100;
    return arena_print(arena, "%" PRId64 ".%02d %s", whole,
                       (int)(hundredths % 100), name[u]);
}

const char *flops_text(Arena *arena, int64_t flops)
{
    static const char *const unit[] = {
        "flop", "kflop", "Mflop", "Gflop", "Tflop", "Pflop",
    };
    double count = (double)flops;
    int u = 0;
    while (count >= 1000 && u < 5) count /= 1000, u++;
    return arena_print(arena, "%.*f %s", u > 0 ? 1 : 0, count, unit[u]);
}

// The model is accurate to two digits.  Rounding comes before the choice of the
// unit: 999.9 us is 1.0 ms.
const char *time_text(Arena *arena, int64_t picoseconds)
{
    static const char *const unit[] = { "ns", "us", "ms", "s" };
    char rounded[32];
    snprintf(rounded, sizeof rounded, "%.1e", (double)picoseconds / 1000);
    double time = strtod(rounded, NULL);
    int u = 0;
    while (time >= 1000 && u < 3) time /= 1000, u++;
    int decimals = time >= 10 || time == 0 ? 0 : time >= 1 ? 1 : 2;
    return arena_print(arena, "%.*f %s", decimals, time, unit[u]);
}
