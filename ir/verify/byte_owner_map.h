// A map from bytes to the id that they hold, or NONE, for the plan's checker.
#ifndef CNNC_BYTE_OWNER_MAP_H
#define CNNC_BYTE_OWNER_MAP_H

#include "../ir.h"

typedef struct ByteMap ByteMap;

// Makes a map whose ranges begin and end at these addresses; all bytes hold
// NONE.  Sorts the addresses in place.
ByteMap *byte_map_new(Arena *arena, int64_t *addresses, int32_t count);
void byte_map_write(ByteMap *map, int64_t begin, int64_t end, int32_t id);
// True if a byte of the range holds an id other than id; sets *other to it.
bool byte_map_differs(const ByteMap *map, int64_t begin, int64_t end,
                      int32_t id, int32_t *other);

#endif
