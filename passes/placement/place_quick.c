// Placement in near-linear time, for graphs of any size.
//
// The skyline puts each buffer on top of all placed ones with overlapping
// lifetimes.  A segment tree over the steps stores the heights.  A new height
// is never below an old one of its steps.  So a node needs only its largest
// height and the height that covers it whole, and nothing is pushed down.
//
// The sweep is an allocator with knowledge of the future: it goes through time,
// frees dead buffers and puts new ones into holes.  It leaves holes that the
// skyline can't fill, and fills others that the skyline leaves.  Mirrored, it
// goes through time backwards.
#include "../../ir/base/sizes.h"
#include "place.h"
#include <stdlib.h>

// ---- skyline ----------------------------------------------------------------

// Node k of the tree has the children 2k and 2k + 1; the root is 1.
typedef struct Skyline {
    int32_t  leaves;            // a power of two
    int64_t *top;               // the largest height below the node
    int64_t *whole;             // a lower bound of the height at all steps
                                // below it
} Skyline;

// Returns the largest height in item's lifetime, of the steps low ..  high
// below k.
static int64_t height(const Skyline *s, int32_t k, int32_t low, int32_t high,
                      const Item *item)
{
    if (item->last < low || high < item->first) return 0;
    if (item->first <= low && high <= item->last) return s->top[k];
    int32_t middle = low + (high - low) / 2;
    int64_t below = larger(height(s, 2 * k, low, middle, item),
                           height(s, 2 * k + 1, middle + 1, high, item));
    return larger(below, s->whole[k]);
}

static void raise_to(Skyline *s, int32_t k, int32_t low, int32_t high,
                     const Item *item, int64_t to)
{
    if (item->last < low || high < item->first) return;
    s->top[k] = larger(s->top[k], to);
    if (item->first <= low && high <= item->last) {
        s->whole[k] = to;
        return;
    }
    int32_t middle = low + (high - low) / 2;
    raise_to(s, 2 * k, low, middle, item, to);
    raise_to(s, 2 * k + 1, middle + 1, high, item, to);
}

int64_t place_skyline(Placing *p)
{
    Skyline s = {.leaves = 1};
    while (s.leaves < p->steps) s.leaves *= 2;
    s.top = NEW_ARRAY(p->arena, 2 * (size_t)s.leaves, int64_t);
    s.whole = NEW_ARRAY(p->arena, 2 * (size_t)s.leaves, int64_t);
    for (int32_t i = 0; i < p->count; i++) {
        Item *item = &p->items[p->order[i]];
        item->offset = height(&s, 1, 0, s.leaves - 1, item);
        raise_to(&s, 1, 0, s.leaves - 1, item, item->offset + item->size);
    }
    return s.top[1];
}

// ---- sweep ------------------------------------------------------------------

// A free range of bytes below the top; the list is sorted and no two touch.
typedef struct Hole {
    int64_t low, high;
    int32_t next;               // an index, or -1
} Hole;

typedef struct Sweep {
    Placing *p;
    Hole    *holes;             // holes[0] precedes the first
    int32_t  unused;            // a list of free entries
    int64_t  top;
} Sweep;

static int32_t new_hole(Sweep *s, int64_t low, int64_t high, int32_t next)
{
    int32_t k = s->unused;
    s->unused = s->holes[k].next;
    s->holes[k] = (Hole){low, high, next};
    return k;
}

static void drop_after(Sweep *s, int32_t before)
{
    int32_t k = s->holes[before].next;
    s->holes[before].next = s->holes[k].next;
    s->holes[k].next = s->unused;
    s->unused = k;
}

// Takes bytes at the top, including a hole that ends there.
static int64_t take_top(Sweep *s, int64_t size)
{
    int32_t before = -1;
    int64_t low = s->top;
    for (int32_t k = 0; s->holes[k].next >= 0; k = s->holes[k].next) before = k;
    if (before >= 0 && s->holes[s->holes[before].next].high == s->top) {
        low = s->holes[s->holes[before].next].low;
        drop_after(s, before);
    }
    s->top = low + size;
    return low;
}

// Takes the first hole that is large enough, or the smallest such hole.
static int64_t take(Sweep *s, int64_t size, bool best_fit)
{
    int32_t found = -1;
    int64_t least = INT64_MAX;
    for (int32_t k = 0; s->holes[k].next >= 0; k = s->holes[k].next) {
        const Hole *hole = &s->holes[s->holes[k].next];
        int64_t room = hole->high - hole->low;
        s->p->work--;
        if (room < size || room >= least) continue;
        found = k;
        least = room;
        if (!best_fit) break;
    }
    if (found < 0) return take_top(s, size);
    Hole *hole = &s->holes[s->holes[found].next];
    int64_t low = hole->low;
    hole->low += size;
    if (hole->low == hole->high) drop_after(s, found);
    return low;
}

static void give_back(Sweep *s, int64_t low, int64_t high)
{
    int32_t k = 0;
    while (s->holes[k].next >= 0 && s->holes[s->holes[k].next].low < low) {
        k = s->holes[k].next;
        s->p->work--;
    }
    int32_t next = s->holes[k].next;
    if (next >= 0 && s->holes[next].low == high) {
        high = s->holes[next].high;
        drop_after(s, k);
    }
    if (k != 0 && s->holes[k].high == low)
        s->holes[k].high = high;
    else
        s->holes[k].next = new_hole(s, low, high, s->holes[k].next);
}

static int32_t *copy_order(Placing *p, OrderBy by)
{
    int32_t *copy = NEW_ARRAY(p->arena, p->count, int32_t);
    place_order(p, by);
    for (int32_t i = 0; i < p->count; i++) copy[i] = p->order[i];
    return copy;
}

// begins: items by birth, ends: by death, both in the direction of the sweep.
// BY_LAST sorts the latest first; reversed, each order serves the other
// direction.
static void run_sweep(Sweep *s, const int32_t *begins, const int32_t *ends,
                      bool mirrored, bool best_fit)
{
    Item *items = s->p->items;
    int32_t count = s->p->count, ended = 0;
    for (int32_t i = 0; i < count && s->p->work > 0; i++) {
        Item *item = &items[begins[i]];
        for (; ended < count; ended++) {
            const Item *old = &items[ends[ended]];
            if (mirrored ? old->first <= item->last : old->last >= item->first)
                break;
            give_back(s, old->offset, old->offset + old->size);
        }
        item->offset = take(s, item->size, best_fit);
    }
}

int64_t place_sweep(Placing *p, bool mirrored, bool best_fit)
{
    if (p->work <= 0) return INT64_MAX;
    int32_t *begins = copy_order(p, mirrored ? BY_LAST : BY_FIRST);
    int32_t *ends = copy_order(p, mirrored ? BY_FIRST : BY_LAST);
    for (int32_t i = 0, j = p->count - 1; i < j; i++, j--) {
        int32_t other = ends[i];
        ends[i] = ends[j];
        ends[j] = other;
    }
    Sweep s = {.p = p, .unused = 1,
               .holes = NEW_ARRAY(p->arena, (size_t)p->count + 2, Hole)};
    s.holes[0].next = -1;
    for (int32_t i = 1; i <= p->count; i++) s.holes[i].next = i + 1;
    run_sweep(&s, begins, ends, mirrored, best_fit);
    return p->work > 0 ? s.top : INT64_MAX;
}
