// The methods of placement, their order, and the choice of the best result.
//
// Buffers of a training step nest: the backward pass frees last the first
// results of the forward pass.  The skyline, longest lifetime first, is exact
// for nested lifetimes.  The sweep through time is nearly exact for chains with
// short-lived gradients in between.  Both take O(n log n) and come first.  If
// neither reaches the lower bound, buffers go into gaps between placed ones, in
// several orders; this is within 1/1000 for the largest graphs.  The exact
// search comes last.  All methods stop when the highest end reaches the bound,
// or when the counted work is spent, so the result is the same on every
// machine.
#include "place.h"
#include "../../ir/base/sizes.h"
#include <assert.h>
#include <stdlib.h>

// The work of the gap method, relative to the search's work, and its minimum.
// Each order costs much for large graphs.
enum { GAPS_WORK = 2, FEWEST_GAPS_WORK = 60 * 1000 * 1000 };
// The part of the work that a brief exact search has.
enum { BRIEF_PART = 32 };
// The number of calls between two readings of the clock, if there is one.
enum { PATIENCE = 1000 };

static int32_t step_count(const Item *items, int32_t count)
{
    int32_t steps = 0;
    for (int32_t i = 0; i < count; i++)
        if (items[i].last >= steps) steps = items[i].last + 1;
    return steps;
}

// Adds to live[t] the sum of the sizes alive at step t, and nothing to
// live[steps].
static void sum_live(const Item *items, int32_t count, int32_t steps,
                     int64_t *live)
{
    for (int32_t i = 0; i < count; i++) {
        assert(0 <= items[i].first && items[i].first <= items[i].last);
        live[items[i].first] += items[i].size;
        live[items[i].last + 1] -= items[i].size;
    }
    for (int32_t t = 1; t <= steps; t++) live[t] += live[t - 1];
}

int64_t place_bound(Arena *arena, const Item *items, int32_t count)
{
    int32_t steps = step_count(items, count);
    int64_t *live = NEW_ARRAY(arena, (size_t)steps + 1, int64_t), bound = 0;
    sum_live(items, count, steps, live);
    for (int32_t t = 0; t < steps; t++) bound = larger(bound, live[t]);
    return bound;
}

const int32_t *place_list(const Placing *p, bool by_end, int32_t **start)
{
    int32_t *list = NEW_ARRAY(p->arena, p->count, int32_t);
    int32_t *from = NEW_ARRAY(p->arena, (size_t)p->steps + 2, int32_t);
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t i = p->count - 1; i >= 0; i--) {
            if (p->items[i].size == 0) continue;
            int32_t t = by_end ? p->items[i].last + 1 : p->items[i].first;
            if (pass == 0) from[t]++;
            else list[--from[t]] = i;
        }
        for (int32_t t = 0; t <= p->steps && pass == 0; t++)
            from[t + 1] += from[t];
    }
    *start = from;
    return list;
}

// ---- orders -----------------------------------------------------------------

typedef struct Ranked {
    int64_t fullest;            // descending
    double  key;                // ascending
    int64_t size;               // descending among equal keys
    int32_t item;
} Ranked;

static int compare_ranked(const void *left, const void *right)
{
    const Ranked *a = left, *b = right;
    if (a->fullest != b->fullest) return a->fullest > b->fullest ? -1 : 1;
    if (a->key != b->key) return a->key < b->key ? -1 : 1;
    if (a->size != b->size) return a->size > b->size ? -1 : 1;
    return a->item < b->item ? -1 : a->item > b->item;
}

int64_t item_lifetime(const Item *item)
{
    return item->lifetime > 0 ? item->lifetime : item->last - item->first + 1;
}

static double key_of(const Item *item, OrderBy by)
{
    double lifetime = (double)item_lifetime(item);
    switch (by) {
    case BY_LIFETIME:
    case BY_FULL_LIFETIME: return -lifetime;
    case BY_SIZE:          return -(double)item->size;
    case BY_AREA:
    case BY_FULL_AREA:     return -(double)item->size * lifetime;
    case BY_FIRST:         return item->first;
    case BY_LAST:          return -(double)item->last;
    default:               return (double)item->offset;
    }
}

// Sets p->fullest by a tree over the steps, whose node k has the children 2k
// and 2k + 1.
static void find_fullest(Placing *p)
{
    int32_t leaves = 1;
    while (leaves < p->steps + 1) leaves *= 2;
    int64_t *most = NEW_ARRAY(p->arena, 2 * (size_t)leaves, int64_t);
    sum_live(p->items, p->count, p->steps, most + leaves);
    for (int32_t k = leaves - 1; k > 0; k--)
        most[k] = larger(most[2 * k], most[2 * k + 1]);
    p->fullest = NEW_ARRAY(p->arena, p->count, int64_t);
    for (int32_t i = 0; i < p->count; i++) {
        int32_t from = leaves + p->items[i].first;
        int32_t to = leaves + p->items[i].last + 1;
        for (; from < to; from /= 2, to /= 2) {
            if (from % 2) p->fullest[i] = larger(p->fullest[i], most[from++]);
            if (to % 2) p->fullest[i] = larger(p->fullest[i], most[--to]);
        }
    }
}

void place_order(Placing *p, OrderBy by)
{
    Ranked *ranked = NEW_ARRAY(p->arena, p->count, Ranked);
    bool is_full = by == BY_FULL_LIFETIME || by == BY_FULL_AREA;
    if (is_full && p->fullest == NULL) find_fullest(p);
    for (int32_t i = 0; i < p->count; i++) {
        const Item *item = &p->items[i];
        ranked[i] = (Ranked){is_full ? p->fullest[i] : 0, key_of(item, by),
                             item->size, i};
    }
    qsort(ranked, (size_t)p->count, sizeof(Ranked), compare_ranked);
    for (int32_t i = 0; i < p->count; i++) p->order[i] = ranked[i].item;
}

// ---- methods ----------------------------------------------------------------

bool place_keep(Placing *p, int64_t top)
{
    assert(top >= p->bound);
    if (top < p->best_top) {
        p->best_top = top;
        for (int32_t i = 0; i < p->count; i++)
            p->best[i] = p->items[i].offset;
    }
    return p->best_top <= p->goal;
}

bool place_is_late(Placing *p)
{
    if (p->is_late == NULL || --p->patience > 0) return false;
    p->patience = PATIENCE;
    if (!p->is_late()) return false;
    p->work = p->patience = 0;
    return true;
}

static void recall_best(Placing *p)
{
    for (int32_t i = 0; i < p->count; i++) p->items[i].offset = p->best[i];
}

// Lowers every buffer of the best placement as far as possible, until nothing
// is gained.  A skyline in the order of offsets never raises a buffer.
static bool settle(Placing *p)
{
    int64_t before;
    do {
        before = p->best_top;
        recall_best(p);
        place_order(p, BY_OFFSET);
        if (place_keep(p, place_skyline(p))) return true;
    } while (p->best_top < before);
    return false;
}

const OrderBy ground_orders[GROUND_ORDERS] = {
    BY_FULL_LIFETIME, BY_FULL_AREA, BY_AREA, BY_SIZE, BY_LIFETIME};

static bool place_from_ground(Placing *p)
{
    for (int i = 0; i < GROUND_ORDERS; i++) {
        place_order(p, ground_orders[i]);
        if (place_keep(p, place_lowest(p))) return true;
    }
    return false;
}

static bool place_quickly(Placing *p)
{
    for (OrderBy by = 0; by < BY_OFFSET; by++) {
        place_order(p, by);
        if (place_keep(p, place_skyline(p))) return true;
    }
    if (place_from_ground(p)) return true;
    for (int i = 0; i < 4; i++)
        if (place_keep(p, place_sweep(p, i & 1, i & 2))) return true;
    return settle(p);
}

// Returns the maximum work of one order of place_gaps.
static int64_t gap_work(const Placing *p)
{
    return (int64_t)p->count * p->count / 2;
}

// Places items at their hints if they are free, the largest first: then the
// others fit between them.
static bool place_where_hinted(Placing *p, const int64_t *hints)
{
    static const OrderBy orders[] = {BY_SIZE, BY_AREA, BY_LIFETIME};
    for (int i = 0; hints && i < 3 * CHOICE_COUNT; i++) {
        if (gap_work(p) > p->work) return false;
        place_order(p, orders[i / CHOICE_COUNT]);
        if (place_keep(p, place_hinted(p, hints, i % CHOICE_COUNT)))
            return true;
    }
    return false;
}

static bool any_known(const int64_t *hints, int32_t count)
{
    for (int32_t i = 0; i < count; i++)
        if (hints[i] >= 0) return true;
    return false;
}

// Without a known hint the three orders above have been tried already.
static bool place_in_gaps(Placing *p, const int64_t *hints)
{
    bool is_tried = hints != NULL && !any_known(hints, p->count);
    for (OrderBy by = 0; by < ORDER_COUNT; by++) {
        if (is_tried && (by == BY_SIZE || by == BY_AREA || by == BY_LIFETIME))
            continue;
        for (GapChoice choice = 0; choice < CHOICE_COUNT; choice++) {
            if (gap_work(p) > p->work) return false;
            recall_best(p);
            place_order(p, by);
            if (place_keep(p, place_gaps(p, choice))) return true;
        }
    }
    return false;
}

static Placing new_placing(Arena *arena, Item *items, int32_t count,
                           const PlaceGoal *goal)
{
    int64_t bound = place_bound(arena, items, count);
    Placing p = {.arena = arena, .items = items, .count = count,
                 .steps = step_count(items, count),
                 .work = goal->work > INT64_MAX / GAPS_WORK
                             ? INT64_MAX : GAPS_WORK * goal->work,
                 .bound = bound, .least = bound,
                 .goal = goal->height > bound ? goal->height : bound,
                 .order = NEW_ARRAY(arena, count, int32_t),
                 .best = NEW_ARRAY(arena, count, int64_t),
                 .best_top = INT64_MAX, .is_late = goal->is_late};
    if (p.work < FEWEST_GAPS_WORK) p.work = FEWEST_GAPS_WORK;
    return p;
}

// Calls a method with at most `work` of the work that is left.
static bool with_work(Placing *p, int64_t work, bool (*method)(Placing *p))
{
    int64_t rest = p->work - smaller(work, p->work);
    p->work -= rest;
    bool is_done = method(p);
    p->work = rest + larger(p->work, 0);
    return is_done;
}

// Spends a part of the work on methods that need no pairs of items.
static bool place_first(Placing *p)
{
    if (with_work(p, p->work / 2, place_perfect)) return true;
    return p->count > MOST_BLOCKS && with_work(p, p->work / 8, place_improve);
}

// The last methods: the exact search, or other orders for many items.
static bool place_last(Placing *p)
{
    return p->count > MOST_BLOCKS ? place_improve(p) : place_search(p);
}

// Tries all methods until the goal is reached; returns the work spent.
static int64_t place_all(Placing *p, const PlaceGoal *goal)
{
    int64_t spent = p->work;
    bool is_done = place_quickly(p) || place_first(p) ||
                   place_where_hinted(p, goal->hints) ||
                   place_in_gaps(p, goal->hints) || place_is_late(p);
    spent -= p->work;
    if (!is_done) {
        int64_t work = goal->is_brief ? goal->work / BRIEF_PART : goal->work;
        p->work = work;
        place_last(p);
        spent += work - p->work;
    }
    recall_best(p);
    return spent;
}

int64_t place_towards(Arena *arena, Item *items, int32_t count,
                      const PlaceGoal *goal, int64_t *least)
{
    *least = 0;
    if (count == 0) return 0;
    Placing p = new_placing(arena, items, count, goal);
    place_all(&p, goal);
    *least = p.least;
    return p.best_top;
}

// ---- cached placements ------------------------------------------------------

typedef struct Placement {
    int64_t top;
    int64_t offset[];           // of each item
} Placement;

static KnownKey key_of_placement(const Item *items, int32_t count,
                                 const PlaceGoal *goal)
{
    KnownKey key = key_of_kind(KNOWN_PLACEMENT);
    key_add(&key, goal->height);
    key_add(&key, goal->work);
    key_add(&key, goal->is_brief);
    key_add_sizes(&key, goal->hints, goal->hints != NULL ? count : 0);
    for (int32_t i = 0; i < count; i++) {
        key_add(&key, items[i].first);
        key_add(&key, items[i].last);
        key_add(&key, items[i].size);
        key_add(&key, items[i].lifetime);
    }
    return key;
}

static void keep_placement(Known *known, KnownKey key, const Item *items,
                           int32_t count, int64_t top)
{
    size_t bytes = sizeof(Placement) + (size_t)count * sizeof(int64_t);
    Arena *arena = known_room(known, (int64_t)bytes);
    if (arena == NULL) return;
    Placement *placement = arena_alloc(arena, 1, bytes);
    placement->top = top;
    for (int32_t i = 0; i < count; i++) placement->offset[i] = items[i].offset;
    known_keep(known, key, placement);
}

int64_t place_or_recall(Known *known, Arena *arena, Item *items, int32_t count,
                        const PlaceGoal *goal)
{
    if (count == 0) return 0;
    KnownKey key = key_of_placement(items, count, goal);
    const Placement *placement = known_find(known, key);
    for (int32_t i = 0; i < count && placement != NULL; i++)
        items[i].offset = placement->offset[i];
    if (placement != NULL) return placement->top;
    Placing p = new_placing(arena, items, count, goal);
    known_spend(known, place_all(&p, goal), WORK_PLACE_STEP);
    keep_placement(known, key, items, count, p.best_top);
    return p.best_top;
}

int64_t place(Arena *arena, Item *items, int32_t count)
{
    int64_t least;
    PlaceGoal goal = {.work = PLACE_WORK};
    return place_towards(arena, items, count, &goal, &least);
}
