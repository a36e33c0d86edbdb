// Makes names unique in constant time, by a hash table with open addressing.
// An entry stores the last suffix tried for its name, so that the thousandth
// relu does not try relu_2 to relu_999.
#include <stdbool.h>
#include <string.h>
#include "unique_names.h"

typedef struct Entry {
    const char *name;           // NULL: free
    uint32_t    hash;
    int32_t     id;
    int32_t     suffix;         // the last used for this name
    bool        released;       // free again; the entry stays for the search
} Entry;

struct Names {
    Arena  *arena;
    Entry  *entries;
    int32_t count, capacity;    // capacity is a power of 2
};

Names *names_new(Arena *arena, int32_t count)
{
    Names *names = NEW(arena, Names);
    names->arena = arena;
    names->capacity = 64;
    while (names->capacity / 2 <= count && names->capacity < 1 << 30)
        names->capacity *= 2;
    names->entries = NEW_ARRAY(arena, (size_t)names->capacity, Entry);
    return names;
}

static uint32_t hash_of(const char *name, size_t length)
{
    uint64_t hash = 0xcbf29ce484222325;         // FNV-1a
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)name[i]) * 0x100000001b3;
    return (uint32_t)(hash ^ hash >> 32);
}

// Returns the entry of the name, or the free entry for it.
static Entry *entry_of(const Names *names, const char *name, size_t length,
                       uint32_t hash)
{
    uint32_t mask = (uint32_t)names->capacity - 1;
    for (uint32_t i = hash;; i++) {
        Entry *entry = &names->entries[i & mask];
        if (entry->name == NULL) return entry;
        if (entry->hash == hash && strncmp(entry->name, name, length) == 0 &&
            entry->name[length] == '\0')
            return entry;
    }
}

static void grow(Names *names)
{
    Entry *old = names->entries;
    int32_t old_capacity = names->capacity;

    names->capacity *= 2;
    names->entries = NEW_ARRAY(names->arena, (size_t)names->capacity, Entry);
    for (int32_t i = 0; i < old_capacity; i++)
        if (old[i].name != NULL)
            *entry_of(names, old[i].name, strlen(old[i].name), old[i].hash) =
                old[i];
    arena_release(names->arena, old);
}

int32_t names_find(const Names *names, const char *name, size_t length)
{
    Entry *entry = entry_of(names, name, length, hash_of(name, length));
    return entry->name != NULL && !entry->released ? entry->id : -1;
}

void names_release(Names *names, const char *name)
{
    size_t length = strlen(name);
    Entry *entry = entry_of(names, name, length, hash_of(name, length));
    entry->released = entry->name != NULL;
}

// Takes the name if it is free.  Otherwise returns false and sets *taken.
static bool take(Names *names, const char *name, int32_t id, Entry **taken)
{
    size_t length = strlen(name);
    uint32_t hash = hash_of(name, length);

    // At most half full, so that probe sequences are short.
    if (2 * names->count >= names->capacity) grow(names);
    Entry *entry = entry_of(names, name, length, hash);
    *taken = entry;
    if (entry->released) {
        entry->id = id;
        entry->released = false;
        return true;
    }
    if (entry->name != NULL) return false;
    *entry = (Entry){ .name = name, .hash = hash, .id = id, .suffix = 1 };
    names->count++;
    return true;
}

void names_keep(Names *names, const char *name, int32_t id)
{
    Entry *taken;
    take(names, name, id, &taken);
}

const char *names_take(Names *names, const char *name, int32_t id)
{
    Entry *first, *other;
    const char *result = NULL;

    if (take(names, name, id, &first))
        return first->name = arena_copy(names->arena, name, strlen(name));
    // The table may move while suffixes are tried, so the count is local.
    int32_t suffix = first->suffix;
    while (result == NULL) {
        const char *next = arena_print(names->arena, "%s_%d", name, ++suffix);
        if (take(names, next, id, &other)) result = next;
    }
    size_t length = strlen(name);
    entry_of(names, name, length, hash_of(name, length))->suffix = suffix;
    return result;
}

// Uses only hashes and indices, for it runs after every pass.  A slot has the
// upper half of a hash and the index of its name plus 1; 0 is free.
const char *names_repeated(Arena *arena, const char *const *names,
                           int32_t count)
{
    uint64_t size = 64;
    while (size / 2 <= (uint64_t)count) size *= 2;
    uint64_t *slots = NEW_ARRAY(arena, size, uint64_t);
    for (int32_t k = 0; k < count; k++) {
        uint64_t hash = hash_of(names[k], strlen(names[k]));
        uint64_t slot = hash >> 32 << 32 | (uint64_t)(k + 1), at = hash;
        for (; slots[at & (size - 1)] != 0; at++) {
            uint64_t other = slots[at & (size - 1)];
            if (other >> 32 == slot >> 32 &&
                strcmp(names[(uint32_t)other - 1], names[k]) == 0)
                return names[k];
        }
        slots[at & (size - 1)] = slot;
    }
    return NULL;
}
