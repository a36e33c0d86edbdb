// The live bytes of a plan, for its bound: each buffer that aliases no other,
// padded, is live from its first step to its last.
#include <stdlib.h>
#include "plan.h"

bool buffer_is_given(const PlanBuffer *b)
{
    return b->kind == INPUT && b->persistent;
}

static bool is_root(const PlanBuffer *b)
{
    return b->alias_of == NONE && b->first != NONE && !buffer_is_given(b);
}

int64_t *plan_live(Arena *arena, const Plan *plan)
{
    int64_t *live = NEW_ARRAY(arena, (size_t)plan->step_count + 1, int64_t);
    for (int32_t k = 0; k < plan->buffer_count; k++) {
        const PlanBuffer *b = &plan->buffers[k];
        if (!is_root(b)) continue;
        live[b->first] += padded(b->bytes);
        live[b->last + 1] -= padded(b->bytes);
    }
    for (int i = 1; i <= plan->step_count; i++) live[i] += live[i - 1];
    return live;
}

int plan_fullest(const Plan *plan, const int64_t *live)
{
    int fullest = 0;
    for (int i = 1; i < plan->step_count; i++)
        if (live[i] > live[fullest]) fullest = i;
    return fullest;
}

static int compare_alive(const void *a, const void *b)
{
    const PlanLive *x = a, *y = b;
    if (x->bytes != y->bytes) return x->bytes > y->bytes ? -1 : 1;
    return (x->holder > y->holder) - (x->holder < y->holder);
}

// Finds, for each root, its alias that was made last at a step.
static int32_t *find_holders(Arena *arena, const Plan *plan, int step)
{
    const PlanBuffer *buffers = plan->buffers;
    int32_t *holder = NEW_ARRAY(arena, plan->buffer_count, int32_t);
    for (int32_t k = 0; k < plan->buffer_count; k++) holder[k] = k;
    for (int32_t k = 0; k < plan->buffer_count; k++) {
        const PlanBuffer *b = &buffers[k];
        int32_t root = k;
        if (b->alias_of == NONE || b->view || b->printed_id == NONE) continue;
        if (b->first == NONE || b->first > step) continue;
        while (buffers[root].alias_of != NONE) root = buffers[root].alias_of;
        const PlanBuffer *last = &buffers[holder[root]];
        if (holder[root] == root || b->first >= last->first) holder[root] = k;
    }
    return holder;
}

int plan_alive_at(Arena *arena, const Plan *plan, int step, PlanLive **alive)
{
    const int32_t *holder = find_holders(arena, plan, step);
    int count = 0;
    *alive = NEW_ARRAY(arena, plan->buffer_count, PlanLive);
    for (int32_t k = 0; k < plan->buffer_count; k++) {
        const PlanBuffer *b = &plan->buffers[k];
        if (!is_root(b) || b->first > step || b->last < step) continue;
        (*alive)[count++] = (PlanLive){ holder[k], padded(b->bytes) };
    }
    qsort(*alive, (size_t)count, sizeof **alive, compare_alive);
    return count;
}
