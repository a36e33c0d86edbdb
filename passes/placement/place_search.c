// The exact search: the heights it tries, and the orders it tries them in.
//
// First it tries the goal in each of several orders, with few failures: an
// order that suits an instance needs few.  Then it bisects the heights between
// the goal and the best, since a lower placement may exist although the goal is
// out of reach.  Both are done with blocks of equal lifetime joined, then with
// separate items.  They are repeated with twice the failures until the work is
// spent.  A height that is proved impossible is never tried again, so small
// instances end at the lowest height that exists.
#include "place_search.h"
#include "../../ir/base/sizes.h"

// The failures that an order may have in the first round.
enum { FIRST_FAILURES = 512 };

// place_tree.c explains the letters.  No order suits all instances: another
// order may need more than a hundred times the work.
static const char *const orders[] = {
    "TWA", "TAW", "WAT", "TCA", "TFW", "TUA", "TZW",
};
enum { ORDER_KINDS = sizeof orders / sizeof *orders };

// Returns the greatest common divisor of all sizes: only its multiples are
// tried as heights.
static int64_t unit_of_sizes(const Placing *p)
{
    int64_t unit = 0;
    for (int32_t i = 0; i < p->count; i++)
        unit = common_divisor(unit, p->items[i].size);
    return unit > 0 ? unit : 1;
}

static void keep_found(Search *s)
{
    Placing *p = s->p;
    int64_t top = 0;
    for (int32_t i = 0; i < p->count; i++) {
        Item *item = &p->items[i];
        item->offset = s->blocks[s->block_of[i]].offset + s->within[i];
        if (item->offset + item->size > top) top = item->offset + item->size;
    }
    place_keep(p, top);
}

// Tries a height in count orders, one after another, each with `limit`
// failures.
static Verdict ask_for(Search *s, int64_t capacity, int64_t limit, int count)
{
    Verdict verdict = STOPPED;
    s->capacity = capacity;
    for (int i = 0; i < count && verdict == STOPPED; i++) {
        if (s->p->work <= 0) return STOPPED;
        s->order = orders[s->next_order++ % ORDER_KINDS];
        s->work = s->p->work;
        s->failures = limit;
        verdict = search_tree(s);
        // No work is left if time is up.
        s->p->work = smaller(s->work, s->p->work);
    }
    if (verdict == FOUND) keep_found(s);
    return verdict;
}

// True if the height is found; otherwise sets *low to the next height to try.
static bool try_height(Search *s, int64_t height, int64_t limit, int count,
                       int64_t *low)
{
    Verdict verdict = ask_for(s, height, limit, count);
    if (verdict == FOUND) return true;
    *low = height + s->step;
    if (verdict != IMPOSSIBLE) return false;
    s->least = *low;
    if (!s->is_joined && s->least > s->p->least) s->p->least = s->least;
    return false;
}

// Tries the goal in all orders, then heights above it, in one order each.
static void search_round(Search *s, int64_t limit)
{
    Placing *p = s->p;
    int64_t low = p->least > p->goal ? p->least : p->goal;
    if (s->least > low) low = s->least;
    if (low >= p->best_top) return;
    s->next_order = 0;
    if (try_height(s, low, limit, ORDER_KINDS, &low)) return;
    while (low < p->best_top && p->work > 0) {
        int64_t half = (p->best_top - low) / s->step / 2 * s->step;
        try_height(s, low + half, limit, 1, &low);
    }
}

static bool is_done(const Placing *p)
{
    return p->work <= 0 || p->best_top <= p->goal || p->best_top <= p->least;
}

bool place_search(Placing *p)
{
    if (p->work <= 0) return false;
    Search *joined = new_search(p, true), *apart = new_search(p, false);
    joined->step = apart->step = unit_of_sizes(p);
    p->goal -= p->goal % apart->step;
    for (int64_t limit = FIRST_FAILURES; !is_done(p); limit *= 2) {
        if (joined->count < p->count) search_round(joined, limit);
        if (!is_done(p)) search_round(apart, limit);
    }
    return p->best_top <= p->goal;
}
