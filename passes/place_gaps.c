// Placement by exact gaps: each buffer goes into a gap between those already
// placed that live with it: the lowest that is large enough, the tightest, or
// the one nearest to an end of the arena, as if that had to be the bound.  The
// last is exact on chains, whose buffers then alternate between the two ends.
// That takes O(n) a buffer, and so serves graphs of up to some ten thousand.
//
// The local search starts from the best placement, in the order of offsets.
// The buffer that ends highest is what keeps the arena from being smaller: it
// moves to an earlier place in the order, and the move is kept if the arena
// does not grow.  Moves come from a fixed sequence, so the result is
// reproducible.
#include "place.h"
#include <string.h>

enum { MOVES = 4000 };

// A buffer that has its place; the list of them ascends by low.
typedef struct Placed {
    int64_t low, high;
    int32_t first, last;
} Placed;

// The end of the arena that an item is nearest to decides: the lowest offset of
// a gap, or its highest under the bound, whichever leaves less outside.
static int64_t nearer_edge(int64_t low, int64_t high, int64_t size,
                           int64_t bound)
{
    return high >= 0 && bound - (high + size) < low ? high : low;
}

// The offset for an item among count placed ones.
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

static int64_t place_among(Placing *p, Placed *placed, GapChoice choice)
{
    int64_t top = 0;
    for (int32_t i = 0; i < p->count; i++) {
        Item *item = &p->items[p->order[i]];
        item->offset = find_gap(placed, i, item, choice, p->bound);
        insert_placed(placed, i, item);
        if (item->offset + item->size > top) top = item->offset + item->size;
        p->work -= i + 1;
    }
    return top;
}

int64_t place_gaps(Placing *p, GapChoice choice)
{
    return place_among(p, NEW_ARRAY(p->arena, p->count, Placed), choice);
}

// ---- local search -----------------------------------------------------------

// Knuth's generator: the high bits are random enough to choose places by.
static uint32_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

// Moves order[from] to position `to`, before it or after it.
static void move_in_order(int32_t *order, int32_t from, int32_t to)
{
    int32_t moved = order[from];
    int32_t low = from < to ? from : to, high = from < to ? to : from;
    size_t bytes = (size_t)(high - low) * sizeof(int32_t);
    if (to < from)
        memmove(order + low + 1, order + low, bytes);
    else
        memmove(order + low, order + low + 1, bytes);
    order[to] = moved;
}

// The place in the order of a buffer that ends at top: the last such.
static int32_t find_highest(const Placing *p, int64_t top)
{
    for (int32_t i = p->count - 1; i > 0; i--) {
        const Item *item = &p->items[p->order[i]];
        if (item->offset + item->size == top) return i;
    }
    return 0;
}

void place_improve(Placing *p)
{
    int64_t cost = (int64_t)p->count * p->count / 2;
    if (cost > p->work) return;
    for (int32_t i = 0; i < p->count; i++) p->items[i].offset = p->best[i];
    place_order(p, BY_OFFSET);
    Placed *placed = NEW_ARRAY(p->arena, p->count, Placed);
    int64_t top = place_among(p, placed, LOWEST);
    if (place_keep(p, top)) return;
    int32_t from = find_highest(p, top);
    uint64_t state = 1;
    for (int k = 0; k < MOVES && p->work > cost && from > 0; k++) {
        int32_t to = (int32_t)(next_random(&state) % (uint32_t)from);
        move_in_order(p->order, from, to);
        int64_t moved = place_among(p, placed, LOWEST);
        if (moved > top) {
            move_in_order(p->order, to, from);
        } else {
            top = moved;
            if (place_keep(p, top)) return;
            from = find_highest(p, top);
        }
    }
}
