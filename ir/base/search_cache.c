// A cache of search results by 128-bit keys.  Entries are never evicted: once
// the space is used, no more are stored.
#include "search_cache.h"

enum {
    TABLE = 1 << 12,            // lists of results
    MOST_BYTES = 48 << 20       // of all results
};

typedef struct Result {
    struct Result *next;
    KnownKey       key;
    const void    *result;
} Result;

struct Known {
    Arena  *arena;
    Result *table[TABLE];
    int64_t bytes, spent;
};

Known *known_new(Arena *arena)
{
    Known *known = NEW(arena, Known);
    known->arena = arena;
    return known;
}

KnownKey key_of_kind(KnownKind kind)
{
    return (KnownKey){ (uint64_t)kind + 1, ~(uint64_t)kind };
}

// Two chains of the mixing function of splitmix64 (Steele, Lea and Flood,
// OOPSLA'14), with different odd factors.
static uint64_t mix(uint64_t x, uint64_t factor)
{
    x = (x ^ (x >> 30)) * factor;
    return x ^ (x >> 27);
}

void key_add(KnownKey *key, int64_t number)
{
    key->low = mix(key->low * 0x9E3779B97F4A7C15u + (uint64_t)number,
                   0xBF58476D1CE4E5B9u);
    key->high = mix(key->high * 0xD1342543DE82EF95u - (uint64_t)number,
                    0x94D049BB133111EBu);
}

void key_add_all(KnownKey *key, const int32_t *number, int32_t count)
{
    key_add(key, count);
    for (int32_t i = 0; i < count; i++) key_add(key, number[i]);
}

void key_add_sizes(KnownKey *key, const int64_t *number, int32_t count)
{
    key_add(key, count);
    for (int32_t i = 0; i < count; i++) key_add(key, number[i]);
}

void key_add_flags(KnownKey *key, const bool *flag, int32_t count)
{
    key_add(key, count);
    for (int32_t i = 0; i < count; i++) key_add(key, flag[i]);
}

const void *known_find(const Known *known, KnownKey key)
{
    if (known == NULL) return NULL;
    const Result *r = known->table[key.low % TABLE];
    while (r != NULL && (r->key.low != key.low || r->key.high != key.high))
        r = r->next;
    return r != NULL ? r->result : NULL;
}

Arena *known_room(Known *known, int64_t bytes)
{
    if (known == NULL || bytes > MOST_BYTES - known->bytes) return NULL;
    known->bytes += bytes;
    return known->arena;
}

void known_keep(Known *known, KnownKey key, const void *result)
{
    Result **list = &known->table[key.low % TABLE];
    Result *r = NEW(known->arena, Result);
    *r = (Result){ .next = *list, .key = key, .result = result };
    *list = r;
}

void known_spend(Known *known, int64_t count, int64_t work)
{
    if (known != NULL) known->spent += count * work;
}

int64_t known_spent(const Known *known)
{
    return known != NULL ? known->spent : 0;
}
