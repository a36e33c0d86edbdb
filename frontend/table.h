// A table from words to what the words stand for.  Keys are kept, not copied.
#ifndef CNNC_TABLE_H
#define CNNC_TABLE_H

#include "../ir/base/arena.h"

typedef struct TableEntry {
    const char *key;            // NULL: free
    void       *item;
} TableEntry;

// {0} is an empty table.
typedef struct Table {
    TableEntry *entries;
    int32_t     capacity, count;    // capacity: 0 or a power of two
} Table;

// The item of key, or NULL.
void *table_find(const Table *table, const char *key);
// Sets the item of key, new or old.
void table_set(Table *table, Arena *arena, const char *key, void *item);
// All keys, in no useful order; table->count of them.
const char **table_keys(const Table *table, Arena *arena);

#endif
