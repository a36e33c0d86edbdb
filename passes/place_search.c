// The exact search: which heights it is asked for, and in what orders.
//
// First the goal, in each of several orders, with little work: an order that
// suits an instance needs little.  Then heights between the goal and the best
// so far, by halving, since a lower placement may be found where the lowest is
// not.  Then all of that with twice the work, until it is spent.  What is
// proved impossible is never asked for again, so that small instances end with
// the lowest height there is.
#include "place_search.h"

enum { MOST_BLOCKS = 4096, FIRST_LIMIT = 4 };

// place_tree.c says what the letters mean.  No order is good for all instances:
// what one finds at once, the others may not find in a hundred times the work.
static const char *const orders[] = {
    "TWA", "TAW", "WAT", "TCA", "TFW", "TUA", "TZW",
};
enum { ORDER_KINDS = sizeof orders / sizeof *orders };

// All sizes are multiples of it, and so is every height worth asking for.
static int64_t common_divisor(const Placing *p)
{
    int64_t divisor = 0;
    for (int32_t i = 0; i < p->count; i++) {
        int64_t a = p->items[i].size;
        while (a != 0) {
            int64_t rest = divisor % a;
            divisor = a;
            a = rest;
        }
    }
    return divisor > 0 ? divisor : 1;
}

static void keep_found(Search *s)
{
    int64_t top = 0;
    for (int32_t i = 0; i < s->count; i++) {
        const Block *b = &s->blocks[i];
        s->p->items[i].offset = b->offset;
        if (b->offset + b->size > top) top = b->offset + b->size;
    }
    place_keep(s->p, top);
}

// In count orders, one after another, each with as much work as limit says.
static Verdict ask_for(Search *s, int64_t capacity, int64_t limit, int count)
{
    Verdict verdict = STOPPED;
    s->capacity = capacity;
    for (int i = 0; i < count && verdict == STOPPED; i++) {
        if (s->p->work <= 0) return STOPPED;
        int64_t work = limit < s->p->work ? limit : s->p->work;
        s->order = orders[s->next_order++ % ORDER_KINDS];
        s->work = work;
        verdict = search_tree(s);
        s->p->work -= work - s->work;
    }
    if (verdict == FOUND) keep_found(s);
    return verdict;
}

// The lowest height that may be there and is asked for.
static int64_t wanted(const Placing *p)
{
    return p->least > p->goal ? p->least : p->goal;
}

// False where the height is not found; *low is then the next to ask for.
static bool try_height(Search *s, int64_t height, int64_t limit, int count,
                       int64_t *low)
{
    Verdict verdict = ask_for(s, height, limit, count);
    if (verdict == FOUND) return true;
    *low = height + s->step;
    if (verdict == IMPOSSIBLE) s->p->least = *low;
    return false;
}

// One order for each height, another one each time.
static void try_between(Search *s, int64_t low, int64_t limit)
{
    Placing *p = s->p;
    while (low < p->best_top && p->work > 0) {
        int64_t half = (p->best_top - low) / s->step / 2 * s->step;
        try_height(s, low + half, limit, 1, &low);
    }
}

bool place_search(Placing *p)
{
    if (p->count > MOST_BLOCKS || p->work <= 0) return false;
    Search *s = new_search(p);
    int64_t limit = FIRST_LIMIT * ((int64_t)p->count * p->count +
                                   s->section_count);
    s->step = common_divisor(p);
    p->goal -= p->goal % s->step;
    for (; p->work > 0 && p->best_top > wanted(p); limit *= 2) {
        int64_t low = wanted(p);
        s->next_order = 0;
        if (try_height(s, low, limit, ORDER_KINDS, &low)) break;
        try_between(s, low, limit);
    }
    return p->best_top <= p->goal;
}
