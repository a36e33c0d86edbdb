// Makes the steps of the host copies from the offloaded values and their times.
//
// Copies run in the order in which they begin.  So a place in host memory is
// free for another value as soon as the copy back of the one before has begun;
// place.h finds the places.  An event is free for another copy when a launch
// has waited for it.
#include <stdlib.h>
#include "host_copies.h"
#include "../placement/place.h"

static int compare_steps(const void *a, const void *b)
{
    const HostCopy *x = a, *y = b;
    if (x->before != y->before) return x->before < y->before ? -1 : 1;
    if (x->part != y->part) return x->part < y->part ? -1 : 1;
    return (x->value > y->value) - (x->value < y->value);
}

static HostCopy *list_steps(const HostModel *m, int32_t *count)
{
    HostCopy *steps = NEW_ARRAY(m->arena, 4 * (size_t)m->stay_count + 1,
                                HostCopy);
    *count = 0;
    for (int32_t i = 0; i < m->stay_count; i++) {
        const Stay *s = &m->stay[i];
        const int32_t before[] = {
            [COPY_OUT] = s->from + 1, [COPY_OUT_WAIT] = s->gone,
            [COPY_IN] = s->due, [COPY_IN_WAIT] = s->to,
        };
        for (int8_t part = COPY_OUT; s->offloaded && part <= COPY_IN_WAIT;
             part++)
            steps[(*count)++] = (HostCopy){
                .before = before[part], .part = part, .value = s->value };
    }
    if (*count > 0)
        qsort(steps, (size_t)*count, sizeof *steps, compare_steps);
    return steps;
}

// Returns the index of the step's value in m->stay.
static int32_t stay_of(const HostModel *m, const HostCopy *step)
{
    int32_t low = 0, high = m->stay_count - 1;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (m->stay[middle].value < step->value) low = middle + 1;
        else high = middle;
    }
    return low;
}

static void find_places(const HostModel *m, HostCopy *steps, int32_t count)
{
    Item *items = NEW_ARRAY(m->arena, (size_t)m->stay_count + 1, Item);
    int32_t *item_of = NEW_ARRAY(m->arena, (size_t)m->stay_count + 1, int32_t);
    int32_t found = 0;
    for (int32_t i = 0; i < count; i++) {
        int32_t stay = stay_of(m, &steps[i]);
        if (steps[i].part == COPY_OUT) {
            item_of[stay] = found;
            items[found++] = (Item){ .first = i, .size = m->stay[stay].bytes };
        }
        if (steps[i].part == COPY_IN) items[item_of[stay]].last = i;
    }
    place(m->arena, items, found);
    for (int32_t i = 0; i < count; i++)
        if (steps[i].part == COPY_OUT || steps[i].part == COPY_IN)
            steps[i].place = items[item_of[stay_of(m, &steps[i])]].offset;
}

// Assigns events: from 1 on, the first that no copy in flight has.
static void find_events(const HostModel *m, HostCopy *steps, int32_t count)
{
    int64_t *event = NEW_ARRAY(m->arena, (size_t)m->stay_count + 1, int64_t);
    bool *taken = NEW_ARRAY(m->arena, (size_t)m->stay_count + 2, bool);
    for (int32_t i = 0; i < count; i++) {
        int32_t stay = stay_of(m, &steps[i]);
        bool begins = steps[i].part == COPY_OUT || steps[i].part == COPY_IN;
        int64_t free = 1;
        while (begins && taken[free]) free++;
        if (begins) event[stay] = free;
        steps[i].event = event[stay];
        taken[event[stay]] = begins;
    }
}

int32_t host_steps(const HostModel *m, HostCopy **copy)
{
    int32_t count;
    HostCopy *steps = list_steps(m, &count);
    find_places(m, steps, count);
    find_events(m, steps, count);
    *copy = steps;
    return count;
}
