// The exact search: which heights it is asked for, and in what orders.
//
// First the goal, in each of several orders, with little work: an order that
// suits an instance needs little.  Then heights between the goal and the best
// so far, by halving, since a lower placement may be found where the lowest is
// not.  All of that is done with blocks of equal life joined and then with each
// apart, and again with twice the work, until it is spent.  What is
// proved impossible is never asked for again, so that small instances end with
// the lowest height there is.
#include "place_search.h"

enum { MOST_BLOCKS = 4096, FIRST_SHARE = 4 };

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
    Placing *p = s->p;
    int64_t top = 0;
    for (int32_t i = 0; i < p->count; i++) {
        Item *item = &p->items[i];
        item->offset = s->blocks[s->block_of[i]].offset + s->within[i];
        if (item->offset + item->size > top) top = item->offset + item->size;
    }
    place_keep(p, top);
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

// False where the height is not found; *low is then the next to ask for.
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

// The goal in all orders, then heights above it, in one order each.
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
    if (p->count > MOST_BLOCKS || p->work <= 0) return false;
    Search *joined = new_search(p, true), *apart = new_search(p, false);
    joined->step = apart->step = common_divisor(p);
    p->goal -= p->goal % apart->step;
    int64_t limit = FIRST_SHARE * (int64_t)p->count * p->count;
    for (; !is_done(p); limit *= 2) {
        if (joined->count < p->count) search_round(joined, limit);
        if (!is_done(p)) search_round(apart, limit);
    }
    return p->best_top <= p->goal;
}
