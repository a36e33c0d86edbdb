// A segment tree over the ranges between addresses.  A node whose ranges all
// hold the same id stores it; otherwise it is MIXED.  Below a MIXED node within
// a queried range some leaf always differs, so both writes and queries take
// O(log n).
#include "byte_owner_map.h"
#include <assert.h>
#include <stdlib.h>

enum { MIXED = -2 };

struct ByteMap {
    int64_t *addresses;         // ascending, each once
    int32_t  count, leaves;     // leaf i begins at addresses[i]
    int32_t *held;              // of node k; its children are 2k and 2k + 1
};

// The leaves from .. to, inclusive.
typedef struct Range {
    int32_t from, to;
} Range;

static int compare_addresses(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

ByteMap *byte_map_new(Arena *arena, int64_t *addresses, int32_t count)
{
    ByteMap *map = NEW(arena, ByteMap);
    qsort(addresses, (size_t)count, sizeof *addresses, compare_addresses);
    map->addresses = addresses;
    for (int32_t i = 0; i < count; i++)
        if (i == 0 || addresses[i] != addresses[i - 1])
            addresses[map->count++] = addresses[i];
    for (map->leaves = 1; map->leaves < map->count;) map->leaves *= 2;
    map->held = NEW_ARRAY(arena, 2 * (size_t)map->leaves, int32_t);
    for (int32_t k = 0; k < 2 * map->leaves; k++) map->held[k] = NONE;
    return map;
}

// Returns the leaf of an address of the map, by binary search.
static int32_t leaf_at(const ByteMap *map, int64_t address)
{
    int32_t low = 0, high = map->count - 1;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (map->addresses[middle] < address)
            low = middle + 1;
        else
            high = middle;
    }
    assert(map->addresses[low] == address);
    return low;
}

static Range range_of(const ByteMap *map, int64_t begin, int64_t end)
{
    assert(begin < end);
    return (Range){leaf_at(map, begin), leaf_at(map, end) - 1};
}

// Assigns id to the range; node k covers the leaves low .. high.
static void assign(ByteMap *map, int32_t k, int32_t low, int32_t high,
                   Range range, int32_t id)
{
    int32_t *held = map->held;
    if (range.to < low || high < range.from || held[k] == id) return;
    if (range.from <= low && high <= range.to) {
        held[k] = id;
        return;
    }
    if (held[k] != MIXED) held[2 * k] = held[2 * k + 1] = held[k];
    int32_t middle = low + (high - low) / 2;
    assign(map, 2 * k, low, middle, range, id);
    assign(map, 2 * k + 1, middle + 1, high, range, id);
    held[k] = held[2 * k] == held[2 * k + 1] ? held[2 * k] : MIXED;
}

void byte_map_write(ByteMap *map, int64_t begin, int64_t end, int32_t id)
{
    assign(map, 1, 0, map->leaves - 1, range_of(map, begin, end), id);
}

// Stops at the first leaf that differs.
static bool differs(const ByteMap *map, int32_t k, int32_t low, int32_t high,
                    Range range, int32_t id, int32_t *other)
{
    if (range.to < low || high < range.from || map->held[k] == id) return false;
    if (map->held[k] != MIXED) {
        *other = map->held[k];
        return true;
    }
    int32_t middle = low + (high - low) / 2;
    return differs(map, 2 * k, low, middle, range, id, other) ||
           differs(map, 2 * k + 1, middle + 1, high, range, id, other);
}

bool byte_map_differs(const ByteMap *map, int64_t begin, int64_t end,
                      int32_t id, int32_t *other)
{
    return differs(map, 1, 0, map->leaves - 1, range_of(map, begin, end), id,
                   other);
}
