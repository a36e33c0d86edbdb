// Makes a schedule from modes: the steps in order.  A step that reads a missing
// value follows the steps that recompute it and their operands.
#include "keep_modes.h"
#include <string.h>

enum { NO_GROUP = -1 };

// Returns the group of each step: steps that make parts of one value are
// recomputed together.
static int32_t *find_groups(const Remat *r)
{
    int32_t *group = NEW_ARRAY(r->arena, r->step_count, int32_t);
    for (int32_t i = 0; i < r->step_count; i++) group[i] = i;
    for (bool more = true; more;) {
        more = false;
        for (int32_t v = 0; v < r->value_count; v++)
            for (int32_t k = r->makers[v] + 1; k < r->makers[v + 1]; k++) {
                int32_t *a = &group[r->maker[k - 1]], *b = &group[r->maker[k]];
                more |= *a != *b;
                if (*a < *b) *b = *a;
                else *a = *b;
            }
    }
    return group;
}

Modes modes_new(const Remat *r)
{
    Modes m = {.r = r, .capacity = 3 * r->step_count};
    m.group = find_groups(r);
    m.mode = NEW_ARRAY(r->arena, r->step_count, int8_t);
    m.schedule.step = NEW_ARRAY(r->arena, m.capacity, int32_t);
    m.live = NEW_ARRAY(r->arena, m.capacity, int64_t);
    m.recomputed = NEW_ARRAY(r->arena, r->step_count, int32_t);
    m.idle = NEW_ARRAY(r->arena, r->value_count, int32_t);
    m.idle_from = NEW_ARRAY(r->arena, r->value_count, int32_t);
    m.idle_to = NEW_ARRAY(r->arena, r->value_count, int32_t);
    m.scan = remat_scan_new(r->arena, r);
    m.value = NEW_ARRAY(r->arena, r->value_count, ModeValue);
    for (int32_t v = 0; v < r->value_count; v++) {
        int32_t makers = r->makers[v + 1] - r->makers[v];
        m.value[v] = (ModeValue){.group = NO_GROUP, .has_parts = makers > 1};
        if (makers > 0) m.value[v].group = m.group[r->maker[r->makers[v]]];
    }
    return m;
}

static void append(Modes *m, int32_t step)
{
    if (m->schedule.count < m->capacity)
        m->schedule.step[m->schedule.count] = step;
    int32_t start = m->r->backward_start;
    if (step < start && m->recomputed[step] < start)
        m->recomputed[step] = m->schedule.count;
    m->schedule.count++;
    m->cost += m->r->cost[step];
}

// ---- values that exist ------------------------------------------------------

static void begin_backward(Modes *m)
{
    for (int32_t v = 0; v < m->r->value_count; v++) {
        ModeValue *value = &m->value[v];
        value->mode = KEPT;
        if (value->group != NO_GROUP) value->mode = m->mode[value->group];
        value->there = value->mode == KEPT;
        value->waiting = 0;
    }
}

static void run_step(Modes *m, int32_t step);

// Recursion is as deep as the longest chain of recomputed steps, no deeper than
// the parser's.
// NOLINTNEXTLINE(misc-no-recursion)
static void need(Modes *m, int32_t v)
{
    const Remat *r = m->r;
    for (int32_t k = r->makers[v]; k < r->makers[v + 1]; k++)
        run_step(m, r->maker[k]);
    m->value[v].there = true;
}

// Runs a step after recomputing its missing operands.  An EACH_TIME value dies
// after its reader, unless another step on the stack reads it too.
// NOLINTNEXTLINE(misc-no-recursion)
static void run_step(Modes *m, int32_t step)
{
    const Remat *r = m->r;
    if (m->schedule.count >= m->capacity) return;
    for (int32_t k = r->reads[step]; k < r->reads[step + 1]; k++) {
        ModeValue *value = &m->value[r->read[k]];
        if (!value->there) need(m, r->read[k]);
        value->waiting++;
    }
    append(m, step);
    for (int32_t k = r->makes[step]; k < r->makes[step + 1]; k++) {
        ModeValue *value = &m->value[r->make[k]];
        if (!value->has_parts) value->there = true;
    }
    for (int32_t k = r->reads[step]; k < r->reads[step + 1]; k++) {
        ModeValue *value = &m->value[r->read[k]];
        if (--value->waiting == 0 && value->mode == EACH_TIME)
            value->there = false;
    }
}

// ---- bytes alive ------------------------------------------------------------

// Computes live bytes from the end, where kept values are alive, to the start.
static void find_live(Modes *m)
{
    RematScan *scan = &m->scan;
    remat_scan_end(scan);
    m->peak = 0;
    for (int32_t at = m->schedule.count - 1; at >= 0; at--) {
        m->live[at] = remat_scan_step(scan, m->schedule.step[at]);
        if (m->live[at] > m->peak) m->peak = m->live[at];
    }
}

// ---- the schedule -----------------------------------------------------------

bool modes_run(Modes *m)
{
    const Remat *r = m->r;
    m->schedule.count = 0;
    m->cost = 0;
    for (int32_t i = 0; i < r->backward_start; i++) {
        m->recomputed[i] = r->backward_start;
        append(m, i);
        m->recomputed[i] = 0;
    }
    begin_backward(m);
    for (int32_t i = r->backward_start; i < r->step_count; i++) run_step(m, i);
    if (m->schedule.count >= m->capacity) return false;
    find_live(m);
    return true;
}

// ---- idle values ------------------------------------------------------------

static bool is_listed(const int32_t *start, const int32_t *item, int32_t step,
                      int32_t v)
{
    for (int32_t k = start[step]; k < start[step + 1]; k++)
        if (item[k] == v) return true;
    return false;
}

// Sets for each value the next place from `at` on that reads it before it is
// remade; 0: there is none.
static void find_read_later(const Modes *m, int32_t at, int32_t *later)
{
    const Remat *r = m->r;
    enum { MADE = -1 };
    for (; at < m->schedule.count; at++) {
        int32_t step = m->schedule.step[at];
        for (int32_t k = r->reads[step]; k < r->reads[step + 1]; k++)
            if (later[r->read[k]] == 0) later[r->read[k]] = at;
        for (int32_t k = r->makes[step]; k < r->makes[step + 1]; k++)
            if (later[r->make[k]] == 0) later[r->make[k]] = MADE;
    }
}

// Sets for each value 1 + the last place before `at` that makes or reads it.
static void find_touched(const Modes *m, int32_t at, int32_t *touched)
{
    const Remat *r = m->r;
    for (int32_t i = 0; i < at; i++) {
        int32_t step = m->schedule.step[i];
        for (int32_t k = r->makes[step]; k < r->makes[step + 1]; k++)
            touched[r->make[k]] = i + 1;
        for (int32_t k = r->reads[step]; k < r->reads[step + 1]; k++)
            if (touched[r->read[k]] > 0) touched[r->read[k]] = i + 1;
    }
}

void modes_find_idle(Modes *m)
{
    const Remat *r = m->r;
    Arena *arena = arena_new();
    int32_t *later = NEW_ARRAY(arena, r->value_count + 1, int32_t);
    int32_t *touched = NEW_ARRAY(arena, r->value_count + 1, int32_t);
    int32_t at = 0;
    while (m->live[at] < m->peak) at++;
    int32_t step = m->schedule.step[at];
    find_read_later(m, at + 1, later);
    find_touched(m, at, touched);
    m->idle_count = 0;
    for (int32_t v = 0; v < r->value_count; v++) {
        if (touched[v] == 0 || later[v] <= 0 || r->kept[v]) continue;
        if (is_listed(r->reads, r->read, step, v) ||
            is_listed(r->makes, r->make, step, v))
            continue;
        m->idle_from[m->idle_count] = touched[v];
        m->idle_to[m->idle_count] = later[v];
        m->idle[m->idle_count++] = v;
    }
    arena_free(arena);
}
