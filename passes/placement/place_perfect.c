// Search for a perfect packing: every step is full, so no byte may be wasted.
//
// The tops of the placed items form a skyline over the steps.  A valley is a
// span of it that is lower than its neighbours.  Nothing may be wasted, so some
// unplaced item begins where the valley begins, and one ends where it ends.
// And a row of unplaced items must lead from one side to the other.  The search
// branches at the valley with the fewest such items, at the side with fewer.
// If a valley has none, the last choice was wrong.
//
// A wrong choice often shows late, after choices elsewhere.  So a step at which
// valleys failed gets more weight, and the search starts again after a number
// of failures, with other choices first (dom/wdeg: Boussemart and others, ECAI
// 2004).  It is exact, but ends with its work, not with a proof.
#include "place.h"
#include "../../ir/base/sizes.h"
#include "../../ir/base/splitmix.h"

enum { NONE = -1 };

typedef struct Valley {
    int64_t height;
    int32_t from, to;           // steps from .. to - 1
    int32_t left, right;        // neighbours: an index or NONE
    int32_t ways;               // items that may be placed next, if it is lower
                                // than its neighbours
    bool    at_end;             // these items end where it ends
    bool    gone;               // part of another, or not in use
    int64_t counted;            // when `ways` was counted
} Valley;

// A valley or an item before a change.
typedef struct Change {
    Valley  old;
    int32_t valley;             // NONE: `item` was placed
    int32_t item;
    bool    is_new;             // there was no such valley
} Change;

// A choice: the items that were left to try, in Perfect.tries, and the number
// of changes before it.
typedef struct Choice {
    int32_t valley, changes, first, next, end;
} Choice;

typedef struct Perfect {
    Placing *p;
    const int32_t *births, *deaths;     // items by first and by last step, from
    int32_t *born, *dead;               // born[t] and dead[t] on
    bool    *placed;
    Valley  *valleys;
    int32_t  valley_count;
    int32_t *unused, unused_count;
    Change  *changes;
    int32_t  change_count, change_capacity;
    Choice  *choices;
    int32_t  choice_count;
    int32_t *tries, try_count, try_capacity;
    double  *weight;            // of each step
    int64_t  clock;
    // Steps that a row of items can lead from, to the side of a valley.
    int64_t *asked;             // when a step was asked last
    bool    *leads;
    int32_t *stack, *at;
    uint64_t random;
} Perfect;

// ---- rows of items ----------------------------------------------------------

// The items that touch step t from the side: in births or deaths.
static const int32_t *touching(const Perfect *s, bool backward, int32_t t,
                               int32_t *count)
{
    const int32_t *start = backward ? s->dead : s->born;
    *count = start[t + 1] - start[t];
    return (backward ? s->deaths : s->births) + start[t];
}

// Returns the other side of an item that touches a step.
static int32_t across(const Perfect *s, bool backward, int32_t item)
{
    const Item *i = &s->p->items[item];
    return backward ? i->first : i->last + 1;
}

// True if the unplaced item fits into the valley.
static bool fits(const Perfect *s, const Valley *v, int32_t item)
{
    const Item *i = &s->p->items[item];
    return !s->placed[item] && v->from <= i->first && i->last < v->to &&
           i->size <= s->p->bound - v->height;
}

// True if a row of unplaced items leads from step t to the valley's other side.
// Answers of the same clock are kept.
static bool leads_across(Perfect *s, const Valley *v, bool backward, int32_t t)
{
    int32_t target = backward ? v->from : v->to, depth = 0;
    if (t != target && s->asked[t] == s->clock) return s->leads[t];
    s->stack[0] = t;
    s->at[0] = 0;
    while (depth >= 0 && s->stack[depth] != target) {
        int32_t count, here = s->stack[depth];
        const int32_t *items = touching(s, backward, here, &count);
        if (s->at[depth] == 0) {
            s->asked[here] = s->clock;
            s->leads[here] = false;
        }
        int32_t k = s->at[depth]++;
        s->p->work--;
        if (k >= count) {
            depth--;
            continue;
        }
        if (!fits(s, v, items[k])) continue;
        int32_t next = across(s, backward, items[k]);
        if (next != target && s->asked[next] == s->clock) {
            if (!s->leads[next]) continue;
            next = target;
        }
        s->stack[++depth] = next;
        s->at[depth] = 0;
    }
    for (int32_t d = 0; d < depth; d++) s->leads[s->stack[d]] = true;
    return depth >= 0;
}

static bool is_alike(const Item *a, const Item *b)
{
    return a->first == b->first && a->last == b->last && a->size == b->size;
}

// Appends the items that may be placed at a side of the valley to s->tries,
// one of equal ones; returns their number.
static int32_t list_ways(Perfect *s, const Valley *v, bool at_end)
{
    int32_t count, begin = s->try_count;
    const int32_t *items =
        touching(s, at_end, at_end ? v->to : v->from, &count);
    s->clock++;
    s->tries = arena_grow(s->p->arena, s->tries, &s->try_capacity,
                          (int64_t)begin + count, sizeof(int32_t));
    for (int32_t k = 0; k < count; k++) {
        bool is_way = fits(s, v, items[k]);
        for (int32_t j = begin; j < s->try_count && is_way; j++)
            is_way = !is_alike(&s->p->items[s->tries[j]],
                               &s->p->items[items[k]]);
        s->p->work--;
        if (is_way && leads_across(s, v, at_end, across(s, at_end, items[k])))
            s->tries[s->try_count++] = items[k];
    }
    return s->try_count - begin;
}

static bool is_lowest(const Perfect *s, int32_t k)
{
    const Valley *v = &s->valleys[k];
    return !v->gone && v->height < s->p->bound &&
           (v->left == NONE || s->valleys[v->left].height > v->height) &&
           (v->right == NONE || s->valleys[v->right].height > v->height);
}

static void count_ways(Perfect *s, int32_t k)
{
    Valley *v = &s->valleys[k];
    int32_t begin = s->try_count;
    int32_t first = list_ways(s, v, false), last = list_ways(s, v, true);
    s->try_count = begin;
    v->at_end = last < first;
    v->ways = last < first ? last : first;
    v->counted = s->clock;
}

// ---- changes ----------------------------------------------------------------

static void note(Perfect *s, Change change)
{
    s->changes = arena_grow(s->p->arena, s->changes, &s->change_capacity,
                            (int64_t)s->change_count + 1, sizeof(Change));
    s->changes[s->change_count++] = change;
}

// Returns a valley that is going to change.
static Valley *changed(Perfect *s, int32_t k)
{
    note(s, (Change){s->valleys[k], k, NONE, false});
    return &s->valleys[k];
}

static int32_t new_valley(Perfect *s, Valley v)
{
    int32_t k = s->unused_count > 0 ? s->unused[--s->unused_count]
                                    : s->valley_count++;
    s->valleys[k] = v;
    note(s, (Change){.valley = k, .item = NONE, .is_new = true});
    if (v.left != NONE) changed(s, v.left)->right = k;
    if (v.right != NONE) changed(s, v.right)->left = k;
    return k;
}

static void undo_changes(Perfect *s, int32_t to)
{
    while (s->change_count > to) {
        const Change *c = &s->changes[--s->change_count];
        if (c->valley == NONE) {
            s->placed[c->item] = false;
        } else if (c->is_new) {
            s->valleys[c->valley].gone = true;
            s->unused[s->unused_count++] = c->valley;
        } else {
            s->valleys[c->valley] = c->old;
        }
    }
}

// Joins valley k with a neighbour of its height.
static void join(Perfect *s, int32_t k, bool right)
{
    int32_t other = right ? s->valleys[k].right : s->valleys[k].left;
    if (other == NONE || s->valleys[other].height != s->valleys[k].height)
        return;
    Valley old = s->valleys[other], *v = changed(s, k);
    changed(s, other)->gone = true;
    if (right) v->to = old.to, v->right = old.right;
    else v->from = old.from, v->left = old.left;
    if (right && old.right != NONE) changed(s, old.right)->left = k;
    if (!right && old.left != NONE) changed(s, old.left)->right = k;
}

static void put_item(Perfect *s, int32_t k, int32_t i)
{
    Item *item = &s->p->items[i];
    Valley old = s->valleys[k];
    int32_t end = item->last + 1;
    note(s, (Change){.valley = NONE, .item = i});
    s->placed[i] = true;
    item->offset = old.height;
    changed(s, k)->height += item->size;
    if (old.from < item->first) {
        int32_t left = new_valley(s, (Valley){.height = old.height,
                                              .from = old.from,
                                              .to = item->first,
                                              .left = old.left, .right = k});
        s->valleys[k].left = left;
    }
    if (end < old.to) {
        int32_t right = new_valley(s, (Valley){.height = old.height,
                                               .from = end, .to = old.to,
                                               .left = k, .right = old.right});
        s->valleys[k].right = right;
    }
    s->valleys[k].from = item->first;
    s->valleys[k].to = end;
    join(s, k, false);
    join(s, k, true);
    const int32_t near[] = {s->valleys[k].left, k, s->valleys[k].right};
    for (int n = 0; n < 3; n++) {
        if (near[n] == NONE || !is_lowest(s, near[n])) continue;
        changed(s, near[n]);
        count_ways(s, near[n]);
    }
}

// ---- the search -------------------------------------------------------------

// Returns the valley to fill next: the one with the fewest ways for its weight,
// of equal ones the one that changed last.  NONE if all is full.
static int32_t choose_valley(Perfect *s)
{
    int32_t best = NONE;
    double least = 0;
    s->p->work -= s->valley_count;
    for (int32_t k = 0; k < s->valley_count; k++) {
        if (!is_lowest(s, k)) continue;
        const Valley *v = &s->valleys[k];
        double key = v->ways <= 1 ? v->ways - 1
                                  : v->ways / (1 + s->weight[v->from]);
        if (best != NONE && (key > least ||
                             (key == least &&
                              v->counted < s->valleys[best].counted)))
            continue;
        best = k;
        least = key;
    }
    if (best != NONE && least < 0) s->weight[s->valleys[best].from]++;
    return best;
}

static double area(const Perfect *s, int32_t item)
{
    const Item *i = &s->p->items[item];
    return (double)i->size * (i->last - i->first + 1);
}

static uint32_t random_below(Perfect *s, int32_t end)
{
    return (uint32_t)(splitmix64(&s->random) >> 32) % (uint32_t)end;
}

// Begins a choice at a valley: the largest item first, and after a new start
// sometimes another.
static void open_choice(Perfect *s, int32_t valley, bool shuffled)
{
    enum { ONE_IN = 4 };
    const Valley *v = &s->valleys[valley];
    int32_t begin = s->try_count, *tries;
    list_ways(s, v, v->at_end);
    tries = s->tries;
    for (int32_t i = begin + 1; i < s->try_count; i++)
        for (int32_t k = i; k > begin &&
             area(s, tries[k]) > area(s, tries[k - 1]); k--) {
            int32_t other = tries[k];
            tries[k] = tries[k - 1];
            tries[k - 1] = other;
        }
    for (int32_t k = s->try_count - 1; shuffled && k > begin; k--) {
        if (random_below(s, ONE_IN) != 0) continue;
        int32_t with = begin + (int32_t)random_below(s, k - begin + 1);
        int32_t other = tries[k];
        tries[k] = tries[with];
        tries[with] = other;
    }
    s->choices[s->choice_count++] =
        (Choice){valley, s->change_count, begin, begin, s->try_count};
}

// Takes back the choices that have nothing left to try; returns their number.
static int64_t close_choices(Perfect *s)
{
    int64_t failures = 0;
    while (s->choice_count > 0 && s->choices[s->choice_count - 1].next ==
                                      s->choices[s->choice_count - 1].end) {
        const Choice *c = &s->choices[--s->choice_count];
        undo_changes(s, c->changes);
        s->try_count = c->first;
        failures++;
    }
    return failures;
}

static void start_again(Perfect *s)
{
    undo_changes(s, 0);
    s->choice_count = s->try_count = 0;
}

// True if all items are placed; false if the work is spent, or if there is no
// perfect packing.
static bool search(Perfect *s)
{
    int64_t failures = 0, limit = 2 * (int64_t)s->p->count;
    bool is_first = true;
    while (s->p->work > 0 && !place_is_late(s->p)) {
        if (failures > limit) {
            start_again(s);
            failures = 0;
            limit += limit / 5;
            is_first = false;
        }
        int32_t valley = choose_valley(s);
        if (valley == NONE) return true;
        open_choice(s, valley, !is_first);
        failures += close_choices(s);
        if (s->choice_count == 0) return false;
        Choice *c = &s->choices[s->choice_count - 1];
        undo_changes(s, c->changes);
        put_item(s, c->valley, s->tries[c->next++]);
    }
    return false;
}

// ---- the whole --------------------------------------------------------------

static bool is_full(const Placing *p)
{
    int64_t area = 0;
    for (int32_t i = 0; i < p->count; i++) {
        int64_t steps = p->items[i].last - p->items[i].first + 1;
        area = capped_sum(area, capped_product(p->items[i].size, steps));
    }
    return area == capped_product(p->bound, p->steps) && area < INT64_MAX;
}

bool place_perfect(Placing *p)
{
    if (p->work <= 0 || !is_full(p)) return false;
    size_t count = (size_t)p->count, steps = (size_t)p->steps + 1;
    Arena *arena = p->arena;
    Perfect s = {.p = p, .placed = NEW_ARRAY(arena, count, bool),
                 .valleys = NEW_ARRAY(arena, 2 * count + 1, Valley),
                 .unused = NEW_ARRAY(arena, 2 * count + 1, int32_t),
                 .choices = NEW_ARRAY(arena, count + 1, Choice),
                 .weight = NEW_ARRAY(arena, steps, double),
                 .asked = NEW_ARRAY(arena, steps, int64_t),
                 .leads = NEW_ARRAY(arena, steps, bool),
                 .stack = NEW_ARRAY(arena, steps, int32_t),
                 .at = NEW_ARRAY(arena, steps, int32_t)};
    s.births = place_list(p, false, &s.born);
    s.deaths = place_list(p, true, &s.dead);
    s.valleys[0] = (Valley){.from = 0, .to = p->steps, .left = NONE,
                            .right = NONE};
    s.valley_count = 1;
    count_ways(&s, 0);
    for (int32_t i = 0; i < p->count; i++) p->items[i].offset = 0;
    return search(&s) && place_keep(p, p->bound);
}
