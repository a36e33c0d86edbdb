// A hash table with open addressing.  Its capacity is a power of two, doubled
// when half full.  Entries are never removed.  Most tables have a few words;
// some have one for each layer of a net with ten thousand layers.
#include <string.h>
#include "table.h"

static uint32_t hash(const char *key)
{
    uint32_t h = 2166136261u;   // FNV-1a
    for (const char *c = key; *c != '\0'; c++)
        h = (h ^ (unsigned char)*c) * 16777619u;
    return h;
}

// Returns the entry of key, or the free entry where it would be inserted.
static TableEntry *place_of(const Table *table, const char *key)
{
    uint32_t mask = (uint32_t)table->capacity - 1;
    for (uint32_t i = hash(key) & mask;; i = (i + 1) & mask) {
        TableEntry *entry = &table->entries[i];
        if (entry->key == NULL || strcmp(entry->key, key) == 0) return entry;
    }
}

void *table_find(const Table *table, const char *key)
{
    return table->capacity == 0 ? NULL : place_of(table, key)->item;
}

static void grow(Table *table, Arena *arena)
{
    Table larger = { .capacity = table->capacity > 0 ? 2 * table->capacity
                                                     : 16 };
    larger.entries = NEW_ARRAY(arena, (size_t)larger.capacity, TableEntry);
    larger.count = table->count;
    for (int32_t i = 0; i < table->capacity; i++) {
        const TableEntry *entry = &table->entries[i];
        if (entry->key != NULL) *place_of(&larger, entry->key) = *entry;
    }
    *table = larger;
}

void table_set(Table *table, Arena *arena, const char *key, void *item)
{
    if (2 * (table->count + 1) > table->capacity) grow(table, arena);
    TableEntry *entry = place_of(table, key);
    if (entry->key == NULL) table->count++;
    *entry = (TableEntry){ .key = key, .item = item };
}

const char **table_keys(const Table *table, Arena *arena)
{
    const char **keys = NEW_ARRAY(arena, (size_t)table->count, const char *);
    int32_t count = 0;
    for (int32_t i = 0; i < table->capacity; i++)
        if (table->entries[i].key != NULL)
            keys[count++] = table->entries[i].key;
    return keys;
}
