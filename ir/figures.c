#include "figures.h"
#include <inttypes.h>

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
