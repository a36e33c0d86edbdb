// The Pareto front of recomputation schedules: none is both smaller and cheaper
// than another.
#include "pareto.h"
#include <stdlib.h>
#include <string.h>

static bool is_news(const RematChoices *all, int64_t peak, int64_t cost)
{
    for (int32_t k = 0; k < all->count; k++)
        if (all->choice[k].peak <= peak && all->choice[k].cost <= cost)
            return false;
    return true;
}

// Removes choice k.  A search finds thousands of schedules and keeps some
// hundred, so the memory of removed ones is reused.
static void drop(RematChoices *all, Arena *arena, int32_t k)
{
    all->spare = arena_grow(arena, all->spare, &all->spare_capacity,
                            (int64_t)all->spare_count + 1, sizeof *all->spare);
    all->spare[all->spare_count++] = all->choice[k];
    all->choice[k] = all->choice[--all->count];
}

static void drop_dearer(RematChoices *all, Arena *arena, int64_t peak,
                        int64_t cost)
{
    for (int32_t k = all->count - 1; k >= 0; k--)
        if (all->choice[k].peak >= peak && all->choice[k].cost >= cost)
            drop(all, arena, k);
}

// Returns a choice with room for `steps` steps; new memory has some spare room.
static RematChoice choice_with_room(RematChoices *all, const Remat *r,
                                    int32_t steps)
{
    for (int32_t k = all->spare_count - 1; k >= 0; k--) {
        RematChoice found = all->spare[k];
        if (found.room < steps) continue;
        all->spare[k] = all->spare[--all->spare_count];
        return found;
    }
    RematChoice choice = {.room = steps + r->step_count / 4};
    choice.schedule.step = NEW_ARRAY(r->arena, choice.room, int32_t);
    return choice;
}

void remat_choose(RematChoices *all, const Remat *r, const RematSchedule *p,
                  int64_t peak, int64_t cost, bool as_written)
{
    if (!is_news(all, peak, cost)) return;
    drop_dearer(all, r->arena, peak, cost);
    RematChoice choice = choice_with_room(all, r, p->count);
    choice.peak = peak;
    choice.cost = cost;
    choice.as_written = as_written;
    choice.schedule.count = p->count;
    memcpy(choice.schedule.step, p->step, (size_t)p->count * sizeof(int32_t));
    all->choice = arena_grow(r->arena, all->choice, &all->capacity,
                             (int64_t)all->count + 1, sizeof(RematChoice));
    all->choice[all->count++] = choice;
}

static int compare_choices(const void *a, const void *b)
{
    const RematChoice *x = a, *y = b;
    if (x->cost != y->cost) return x->cost < y->cost ? -1 : 1;
    return x->peak < y->peak ? -1 : x->peak > y->peak;
}

void remat_sort_choices(RematChoices *all)
{
    qsort(all->choice, (size_t)all->count, sizeof *all->choice,
          compare_choices);
}

void remat_drop_dominated(RematChoices *all)
{
    int32_t count = 0;
    for (int32_t k = 0; k < all->count; k++)
        if (count == 0 || all->choice[k].peak < all->choice[count - 1].peak)
            all->choice[count++] = all->choice[k];
    all->count = count;
}

void remat_thin_choices(RematChoices *all, double share)
{
    int32_t count = 0;
    for (int32_t k = 0; k < all->count; k++) {
        bool is_near = count > 0 && (double)all->choice[k].peak >
                                    share * (double)all->choice[count - 1].peak;
        if (!is_near || k == all->count - 1)
            all->choice[count++] = all->choice[k];
    }
    all->count = count;
}

void remat_merge_choices(RematChoices *all, Arena *arena,
                         const RematChoices *more)
{
    for (int32_t k = 0; k < more->count; k++) {
        all->choice = arena_grow(arena, all->choice, &all->capacity,
                                 (int64_t)all->count + 1, sizeof(RematChoice));
        all->choice[all->count++] = more->choice[k];
    }
    remat_sort_choices(all);
}
