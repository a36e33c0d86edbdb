// Numbers drawn by SplitMix64 (Steele, Lea and Flood 2014).
#include "fuzz.h"

Random random_of(uint64_t seed, uint64_t number)
{
    Random r = { seed * 0x9E3779B97F4A7C15u ^ number * 0xD1B54A32D192ED03u };
    random_bits(&r);
    return r;
}

uint64_t random_bits(Random *r)
{
    uint64_t z = r->state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

size_t random_below(Random *r, size_t limit)
{
    return limit == 0 ? 0 : (size_t)(random_bits(r) % limit);
}
