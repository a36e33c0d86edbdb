// A hash table from words to pointers.  It keeps keys by reference, uncopied.
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

// Returns the item of key, or NULL.
void *table_find(const Table *table, const char *key);
// Sets the item of key, new or old.
void table_set(Table *table, Arena *arena, const char *key, void *item);
// Returns all table->count keys, in no particular order.
const char **table_keys(const Table *table, Arena *arena);

#endif
