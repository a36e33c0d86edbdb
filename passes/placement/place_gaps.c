// Placement into gaps: each buffer takes a gap between the placed ones that
// live with it.  It takes the lowest gap that is large enough, the tightest, or
// the one nearest to an end of the arena.  The arena's height is assumed to be
// the lower bound.  The last choice is exact for chains, whose buffers
// alternate between the two ends.  A buffer takes O(n), so this is for graphs
// of up to some ten thousand buffers.
#include "place.h"
#include <string.h>

// A placed buffer; the list is sorted by low.
typedef struct Placed {
    int64_t low, high;
    int32_t first, last;
} Placed;

// Returns the lowest offset in a gap or the highest below the bound, whichever
// is nearer to its end of the arena.
static int64_t nearer_edge(int64_t low, int64_t high, int64_t size,
                           int64_t bound)
{
    return high >= 0 && bound - (high + size) < low ? high : low;
}

// Returns the offset for an item among count placed ones.
static int64_t find_gap(const Placed *placed, int32_t count, const Item *item,
                        GapChoice choice, int64_t bound)
{
    int64_t end = 0, low = -1, high = -1, least = INT64_MAX;
    for (int32_t i = 0; i < count; i++) {
        const Placed *other = &placed[i];
        if (other->last < item->first || item->last < other->first) continue;
        int64_t room = other->low - end;
        if (room >= item->size) {
            if (choice == LOWEST) return end;
            high = other->low - item->size;
            if (low < 0 || (choice == TIGHTEST && room < least)) low = end;
            if (room < least) least = room;
        }
        if (other->high > end) end = other->high;
    }
    if (bound - end >= item->size) high = bound - item->size;
    if (low < 0) low = end;
    return choice == OUTERMOST ? nearer_edge(low, high, item->size, bound)
                               : low;
}

// True if an item fits at an offset among count placed ones.
static bool is_free(const Placed *placed, int32_t count, const Item *item,
                    int64_t offset)
{
    for (int32_t i = 0; i < count && placed[i].low < offset + item->size; i++)
        if (placed[i].high > offset && placed[i].last >= item->first &&
            item->last >= placed[i].first)
            return false;
    return true;
}

static void insert_placed(Placed *placed, int32_t count, const Item *item)
{
    int32_t low = 0, high = count;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (placed[middle].low < item->offset)
            low = middle + 1;
        else
            high = middle;
    }
    memmove(placed + low + 1, placed + low,
            (size_t)(count - low) * sizeof(Placed));
    placed[low] = (Placed){item->offset, item->offset + item->size,
                           item->first, item->last};
}

int64_t place_gaps(Placing *p, GapChoice choice)
{
    return place_hinted(p, NULL, choice);
}

int64_t place_hinted(Placing *p, const int64_t *hints, GapChoice choice)
{
    Placed *placed = NEW_ARRAY(p->arena, p->count, Placed);
    int64_t top = 0;
    for (int32_t i = 0; i < p->count; i++) {
        if (place_is_late(p)) return INT64_MAX;
        Item *item = &p->items[p->order[i]];
        int64_t hint = hints ? hints[p->order[i]] : -1;
        bool fits = hint >= 0 && hint <= p->bound - item->size;
        item->offset = fits && is_free(placed, i, item, hint)
                           ? hint
                           : find_gap(placed, i, item, choice, p->bound);
        insert_placed(placed, i, item);
        if (item->offset + item->size > top) top = item->offset + item->size;
        p->work -= i + 1;
    }
    return top;
}
