// Only what is above its bound is kept: all else is placed within no time.
#include "known.h"
#include <string.h>

typedef struct Placed {
    struct Placed *next;
    int32_t  count;
    Item    *items;             // with their offsets
    int64_t *hints;             // or NULL
    int64_t  height, work;      // of the goal
    int64_t  top;
} Placed;

struct Known {
    Arena  *arena;
    Placed *last;
};

Known *known_new(Arena *arena)
{
    Known *known = NEW(arena, Known);
    known->arena = arena;
    return known;
}

static bool same_hints(const Placed *p, const int64_t *hints)
{
    if (p->hints == NULL || hints == NULL) return p->hints == hints;
    return memcmp(p->hints, hints, (size_t)p->count * sizeof *hints) == 0;
}

static bool is_known(const Placed *p, const Item *items, int32_t count,
                     const PlaceGoal *goal)
{
    if (p->count != count || p->height != goal->height ||
        p->work != goal->work || !same_hints(p, goal->hints))
        return false;
    for (int32_t i = 0; i < count; i++) {
        const Item *a = &p->items[i], *b = &items[i];
        if (a->first != b->first || a->last != b->last || a->size != b->size ||
            a->lifetime != b->lifetime)
            return false;
    }
    return true;
}

static void *copy(Arena *arena, const void *from, int32_t count, size_t size)
{
    void *to = arena_alloc(arena, (size_t)count, size);
    memcpy(to, from, (size_t)count * size);
    return to;
}

static void keep(Known *known, const Item *items, int32_t count,
                 const PlaceGoal *goal, int64_t top)
{
    Placed *p = NEW(known->arena, Placed);
    *p = (Placed){.next = known->last, .count = count,
                  .items = copy(known->arena, items, count, sizeof *items),
                  .height = goal->height, .work = goal->work, .top = top};
    if (goal->hints != NULL)
        p->hints = copy(known->arena, goal->hints, count, sizeof *goal->hints);
    known->last = p;
}

int64_t place_or_recall(Known *known, Arena *arena, Item *items, int32_t count,
                        const PlaceGoal *goal)
{
    for (const Placed *p = known ? known->last : NULL; p; p = p->next) {
        if (!is_known(p, items, count, goal)) continue;
        memcpy(items, p->items, (size_t)count * sizeof *items);
        return p->top;
    }
    int64_t least;
    int64_t top = place_towards(arena, items, count, goal, &least);
    if (known != NULL && top > least && top > goal->height)
        keep(known, items, count, goal, top);
    return top;
}
