// Placement from the ground up: the lowest place in the arena is filled first.
//
// The tops of the placed buffers form a skyline over the steps.  Its lowest
// span takes the first buffer, in the given order, whose lifetime is inside it.
// If there is none, the span rises to its lower neighbour, and both become one.
// A buffer therefore rests on the lowest ground that exists when it is placed.
// With the fullest steps first, this reaches the lower bound for most training
// steps of deep nets.  A buffer splits and joins few spans.  A tree over the
// births finds the first buffer inside a span.  So the time is near-linear in
// practice.
//
// place_improve repeats it with other orders.  A buffer that ends above the
// goal moves to the front, and a few others move at random (squeaky wheel
// optimization: Joslin and Clements, JAIR 10, 1999).
#include "place.h"
#include "../../ir/base/sizes.h"
#include "../../ir/base/splitmix.h"
#include <stdlib.h>

// Steps from .. to - 1 of the skyline; neighbours are an index or NONE.
typedef struct Span {
    int64_t height;
    int32_t from, to, left, right;
    bool    gone;               // it has become a part of another
} Span;

// A height that a span had when it was queued.
typedef struct Queued {
    int64_t height;
    int32_t span;
} Queued;

// A subtree of unplaced items, which are leaves in the order of their births.
typedef struct Births {
    int32_t earliest;           // the least of their last steps
    int32_t rank;               // the least of their places in the order
} Births;

struct Lowest {
    Births  *births;            // node k has the children 2k and 2k + 1
    int32_t  leaves;            // a power of two
    int32_t *leaf;              // of each item
    int32_t *born;              // the first leaf of each step
    Span    *spans;
    int32_t  span_count;
    Queued  *queue;             // a heap, the lowest first
    int32_t  queued;
};

enum { NONE = -1 };

// ---- the queue of spans -----------------------------------------------------

static bool is_lower(const Queued *a, const Queued *b)
{
    return a->height != b->height ? a->height < b->height : a->span < b->span;
}

static void enqueue(struct Lowest *l, int32_t span)
{
    Queued entry = {l->spans[span].height, span};
    int32_t k = l->queued++;
    for (; k > 0 && is_lower(&entry, &l->queue[(k - 1) / 2]); k = (k - 1) / 2)
        l->queue[k] = l->queue[(k - 1) / 2];
    l->queue[k] = entry;
}

static Queued dequeue(struct Lowest *l)
{
    Queued first = l->queue[0], moved = l->queue[--l->queued];
    int32_t k = 0;
    for (int32_t child = 1; child < l->queued; child = 2 * k + 1) {
        if (child + 1 < l->queued &&
            is_lower(&l->queue[child + 1], &l->queue[child]))
            child++;
        if (!is_lower(&l->queue[child], &moved)) break;
        l->queue[k] = l->queue[child];
        k = child;
    }
    l->queue[k] = moved;
    return first;
}

// ---- the unplaced items -----------------------------------------------------

static void join_children(struct Lowest *l, int32_t k)
{
    const Births *a = &l->births[2 * k], *b = &l->births[2 * k + 1];
    l->births[k] = (Births){a->earliest < b->earliest ? a->earliest
                                                      : b->earliest,
                            a->rank < b->rank ? a->rank : b->rank};
}

static void fill_births(struct Lowest *l, const Placing *p)
{
    for (int32_t k = 0; k < 2 * l->leaves; k++)
        l->births[k] = (Births){INT32_MAX, INT32_MAX};
    for (int32_t rank = 0; rank < p->count; rank++) {
        const Item *item = &p->items[p->order[rank]];
        if (item->size > 0)
            l->births[l->leaves + l->leaf[p->order[rank]]] =
                (Births){item->last, rank};
    }
    for (int32_t k = l->leaves - 1; k > 0; k--) join_children(l, k);
}

static void remove_birth(struct Lowest *l, int32_t item)
{
    int32_t k = l->leaves + l->leaf[item];
    l->births[k] = (Births){INT32_MAX, INT32_MAX};
    while ((k /= 2) > 0) join_children(l, k);
}

// The items that a search asks for: leaves begin .. end - 1 that die at `last`
// or before.
typedef struct Wanted {
    int32_t begin, end, last;
    int32_t rank;               // the least that was found, or INT32_MAX
    int64_t visits;
} Wanted;

// Searches node k, which has `width` leaves from low on.
// NOLINTNEXTLINE(misc-no-recursion)
static void find_first(const struct Lowest *l, int32_t k, int32_t low,
                       int32_t width, Wanted *w)
{
    const Births *node = &l->births[k];
    w->visits++;
    if (low >= w->end || low + width <= w->begin || node->earliest > w->last ||
        node->rank >= w->rank)
        return;
    if (width == 1) {
        w->rank = node->rank;
        return;
    }
    int32_t half = width / 2;
    bool swap = l->births[2 * k + 1].rank < l->births[2 * k].rank;
    for (int side = 0; side < 2; side++) {
        bool right = (side == 1) != swap;
        find_first(l, 2 * k + right, low + (right ? half : 0), half, w);
    }
}

// ---- the skyline ------------------------------------------------------------

static int32_t new_span(struct Lowest *l, Span span)
{
    int32_t k = l->span_count++;
    l->spans[k] = span;
    if (span.left != NONE) l->spans[span.left].right = k;
    if (span.right != NONE) l->spans[span.right].left = k;
    return k;
}

// Joins a span with the neighbours of its height.
static void join_neighbours(struct Lowest *l, int32_t k)
{
    Span *span = &l->spans[k];
    int32_t left = span->left, right = span->right;
    if (left != NONE && l->spans[left].height == span->height) {
        l->spans[left].gone = true;
        span->from = l->spans[left].from;
        span->left = l->spans[left].left;
        if (span->left != NONE) l->spans[span->left].right = k;
    }
    if (right != NONE && l->spans[right].height == span->height) {
        l->spans[right].gone = true;
        span->to = l->spans[right].to;
        span->right = l->spans[right].right;
        if (span->right != NONE) l->spans[span->right].left = k;
    }
    enqueue(l, k);
}

static void raise_span(struct Lowest *l, int32_t k)
{
    Span *span = &l->spans[k];
    int64_t to = INT64_MAX;
    if (span->left != NONE) to = l->spans[span->left].height;
    if (span->right != NONE) to = smaller(to, l->spans[span->right].height);
    span->height = to;
    join_neighbours(l, k);
}

// Puts an item on a span, which is cut into what is before, below and after it.
static void put_on(struct Lowest *l, int32_t k, const Item *item)
{
    Span old = l->spans[k];
    int32_t left = old.left, right = old.right, end = item->last + 1;
    if (old.from < item->first) {
        left = new_span(l, (Span){old.height, old.from, item->first, left, k,
                                  false});
        enqueue(l, left);
    }
    if (end < old.to) {
        right = new_span(l, (Span){old.height, end, old.to, k, right, false});
        enqueue(l, right);
    }
    l->spans[k] = (Span){old.height + item->size, item->first, end, left, right,
                         false};
    join_neighbours(l, k);
}

static struct Lowest *new_lowest(const Placing *p)
{
    struct Lowest *l = NEW(p->arena, struct Lowest);
    size_t count = (size_t)p->count;
    l->leaves = 1;
    while (l->leaves < p->count) l->leaves *= 2;
    l->births = NEW_ARRAY(p->arena, 2 * (size_t)l->leaves, Births);
    l->leaf = NEW_ARRAY(p->arena, count, int32_t);
    // An item makes at most 2 spans.  It takes an entry of the queue and adds
    // at most 3; a span that rises takes one and adds one.
    l->spans = NEW_ARRAY(p->arena, 2 * count + 1, Span);
    l->queue = NEW_ARRAY(p->arena, 2 * count + 1, Queued);
    const int32_t *births = place_list(p, false, &l->born);
    for (int32_t k = 0; k < l->born[p->steps]; k++) l->leaf[births[k]] = k;
    return l;
}

int64_t place_lowest(Placing *p)
{
    if (p->work <= 0) return INT64_MAX;
    if (p->lowest == NULL) p->lowest = new_lowest(p);
    struct Lowest *l = p->lowest;
    int32_t left = 0;
    int64_t top = 0;
    fill_births(l, p);
    for (int32_t i = 0; i < p->count; i++) {
        p->items[i].offset = 0;
        left += p->items[i].size > 0;
    }
    l->span_count = l->queued = 0;
    enqueue(l, new_span(l, (Span){0, 0, p->steps, NONE, NONE, false}));
    while (left > 0) {
        Queued lowest = dequeue(l);
        const Span *span = &l->spans[lowest.span];
        if (span->gone || span->height != lowest.height) continue;
        Wanted wanted = {l->born[span->from], l->born[span->to], span->to - 1,
                         INT32_MAX, 0};
        find_first(l, 1, 0, l->leaves, &wanted);
        p->work -= wanted.visits;
        if (wanted.rank == INT32_MAX) {
            raise_span(l, lowest.span);
            continue;
        }
        Item *item = &p->items[p->order[wanted.rank]];
        item->offset = lowest.height;
        top = larger(top, item->offset + item->size);
        remove_birth(l, p->order[wanted.rank]);
        put_on(l, lowest.span, item);
        left--;
    }
    return top;
}

// ---- other orders -----------------------------------------------------------

typedef struct Wheel {
    double  key;                // ascending
    int32_t item;
} Wheel;

typedef struct Tries {
    double  *key, *kept;        // of each item: of this order and of the best
    int64_t *offset;            // of each item, with the best
    Wheel   *wheels;
    uint64_t random;
} Tries;

static int compare_wheels(const void *left, const void *right)
{
    const Wheel *a = left, *b = right;
    if (a->key != b->key) return a->key < b->key ? -1 : 1;
    return a->item < b->item ? -1 : a->item > b->item;
}

// Returns a pseudo-random number in [0, 1).
static double next_random(uint64_t *state)
{
    return (double)(splitmix64(state) >> 11) * 0x1p-53;
}

static void order_by_key(Placing *p, const double *key, Wheel *wheels)
{
    for (int32_t i = 0; i < p->count; i++) wheels[i] = (Wheel){key[i], i};
    qsort(wheels, (size_t)p->count, sizeof(Wheel), compare_wheels);
    for (int32_t i = 0; i < p->count; i++) p->order[i] = wheels[i].item;
}

// Moves the items that end above the goal to the front, by at most a fifth of
// the order.  Up to 5 others move by at most a tenth, to either side.
static void move_wheels(const Placing *p, double *key, uint64_t *state)
{
    const double most = 0.2;
    for (int32_t i = 0; i < p->count; i++)
        if (p->items[i].offset + p->items[i].size > p->goal)
            key[i] -= most * next_random(state);
    for (int k = 1 + (int)(5 * next_random(state)); k > 0; k--)
        key[(int32_t)(p->count * next_random(state))] +=
            most * (next_random(state) - 0.5);
}

// Improves one order in a number of rounds: true if the goal is reached.
static bool improve_order(Placing *p, Tries *t, OrderBy by, int rounds)
{
    place_order(p, by);
    int64_t least = place_lowest(p), top = least;
    for (int32_t k = 0; k < p->count; k++)
        t->key[p->order[k]] = (double)k / p->count;
    for (; rounds > 0 && p->work > 0 && !place_is_late(p); rounds--) {
        bool is_kept = top <= least;
        p->patience = 1;        // read the clock each time
        if (is_kept) least = top;
        for (int32_t i = 0; i < p->count; i++) {
            Item *item = &p->items[i];
            if (is_kept) t->kept[i] = t->key[i], t->offset[i] = item->offset;
            else t->key[i] = t->kept[i], item->offset = t->offset[i];
        }
        move_wheels(p, t->key, &t->random);
        order_by_key(p, t->key, t->wheels);
        p->work -= p->count;
        top = place_lowest(p);
        if (place_keep(p, top)) return true;
    }
    return false;
}

bool place_improve(Placing *p)
{
    enum { FIRST_ROUNDS = 32 };
    size_t count = (size_t)p->count;
    Tries t = {.key = NEW_ARRAY(p->arena, count, double),
               .kept = NEW_ARRAY(p->arena, count, double),
               .offset = NEW_ARRAY(p->arena, count, int64_t),
               .wheels = NEW_ARRAY(p->arena, count, Wheel)};
    for (int rounds = FIRST_ROUNDS; p->count > 1; rounds += rounds / 2)
        for (int i = 0; i < GROUND_ORDERS; i++) {
            if (p->work <= 0 || place_is_late(p)) return false;
            if (improve_order(p, &t, ground_orders[i], rounds)) return true;
        }
    return false;
}
