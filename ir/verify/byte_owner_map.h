// A map from bytes to what they hold, an id or NONE: for the plan's checker.
#ifndef CNNC_BYTE_OWNER_MAP_H
#define CNNC_BYTE_OWNER_MAP_H

#include "../ir.h"

typedef struct ByteMap ByteMap;

// Only ranges that begin and end at one of these addresses can be asked for or
// written; all hold NONE at first.  The addresses are sorted in place.
ByteMap *byte_map_new(Arena *arena, int64_t *addresses, int32_t count);
void byte_map_write(ByteMap *map, int64_t begin, int64_t end, int32_t id);
// Whether some byte of the range holds something other than id; if so, what,
// in *other.
bool byte_map_differs(const ByteMap *map, int64_t begin, int64_t end,
                      int32_t id, int32_t *other);

#endif
