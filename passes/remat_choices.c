// Programs to choose from: those that no other has both fewer bytes and costs
// than.
#include "remat_choices.h"
#include <stdlib.h>
#include <string.h>

static bool is_news(const RematChoices *all, int64_t peak, int64_t cost)
{
    for (int32_t k = 0; k < all->count; k++)
        if (all->choice[k].peak <= peak && all->choice[k].cost <= cost)
            return false;
    return true;
}

void remat_choose(RematChoices *all, const Remat *r, const RematProgram *p,
                  int64_t peak, int64_t cost)
{
    if (!is_news(all, peak, cost)) return;
    RematChoice choice = {.peak = peak, .cost = cost};
    choice.program = (RematProgram){
        p->count, NEW_ARRAY(r->arena, p->count, int32_t)};
    memcpy(choice.program.step, p->step, (size_t)p->count * sizeof(int32_t));
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
    int32_t count = 0;
    qsort(all->choice, (size_t)all->count, sizeof *all->choice,
          compare_choices);
    for (int32_t k = 0; k < all->count; k++)
        if (count == 0 || all->choice[k].peak < all->choice[count - 1].peak)
            all->choice[count++] = all->choice[k];
    all->count = count;
}
