// splitmix64 (Steele, Lea and Flood, OOPSLA'14) of a counter.
#include "draw.h"

#include <math.h>

Draw draw_named(uint64_t seed, const char *name)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *name != '\0'; name++)
        hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
    return (Draw){ hash + seed * UINT64_C(0x9e3779b97f4a7c15), 0 };
}

uint64_t draw_bits(Draw *d)
{
    uint64_t z = d->key + ++d->count * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

double draw_unit(Draw *d)
{
    return (double)(draw_bits(d) >> 11) * 0x1p-53;
}

int64_t draw_int(Draw *d, int64_t low, int64_t high)
{
    if (high <= low) return low;
    return low + (int64_t)(draw_bits(d) % (uint64_t)(high - low + 1));
}

int64_t draw_small(Draw *d, int64_t low, int64_t high)
{
    if (high <= low) return low;
    double top = exp(draw_unit(d) * log((double)(high - low) + 2)) - 1;
    int64_t i = low + (int64_t)top;
    return i < high ? i : high;
}

double draw_real(Draw *d, double low, double high)
{
    return low + (high - low) * draw_unit(d);
}

bool draw_chance(Draw *d, double chance)
{
    return draw_unit(d) < chance;
}
