// From modes to a program: the steps in order and, before one that reads what
// is not there, the steps that make it, and what those need.
#include "remat_modes.h"
#include <string.h>

Modes modes_new(const Remat *r)
{
    Modes m = {.r = r, .capacity = 3 * r->step_count};
    m.mode = NEW_ARRAY(r->arena, r->step_count, int8_t);
    m.program.step = NEW_ARRAY(r->arena, m.capacity, int32_t);
    m.live = NEW_ARRAY(r->arena, m.capacity, int64_t);
    m.idle = NEW_ARRAY(r->arena, r->value_count, int32_t);
    m.there = NEW_ARRAY(r->arena, r->value_count, bool);
    return m;
}

static void append(Modes *m, int32_t step)
{
    if (m->program.count < m->capacity)
        m->program.step[m->program.count] = step;
    m->program.count++;
    m->cost += m->r->cost[step];
}

// ---- what is there ----------------------------------------------------------

// The mode of a value of several makers is the lowest of theirs.
static int8_t mode_of(const Modes *m, int32_t v)
{
    const Remat *r = m->r;
    int8_t mode = EACH_TIME;
    if (r->makers[v] == r->makers[v + 1]) return KEPT;
    for (int32_t k = r->makers[v]; k < r->makers[v + 1]; k++)
        if (m->mode[r->maker[k]] < mode) mode = m->mode[r->maker[k]];
    return mode;
}

static void drop_at_turn(Modes *m)
{
    for (int32_t v = 0; v < m->r->value_count; v++)
        m->there[v] = mode_of(m, v) == KEPT;
}

// What is computed each time that it is read is gone when it has been.
static void drop_read(Modes *m, int32_t step)
{
    const Remat *r = m->r;
    for (int32_t k = r->reads[step]; k < r->reads[step + 1]; k++)
        if (mode_of(m, r->read[k]) == EACH_TIME) m->there[r->read[k]] = false;
}

static void run_step(Modes *m, int32_t step);

// Nets are as deep as they are long: a stack of their depth is no deeper than
// the parser's.
// NOLINTNEXTLINE(misc-no-recursion)
static void need(Modes *m, int32_t v)
{
    const Remat *r = m->r;
    if (m->there[v]) return;
    for (int32_t k = r->makers[v]; k < r->makers[v + 1]; k++)
        run_step(m, r->maker[k]);
    m->there[v] = true;
}

// NOLINTNEXTLINE(misc-no-recursion)
static void run_step(Modes *m, int32_t step)
{
    const Remat *r = m->r;
    if (m->program.count >= m->capacity) return;
    for (int32_t k = r->reads[step]; k < r->reads[step + 1]; k++)
        need(m, r->read[k]);
    append(m, step);
    for (int32_t k = r->makes[step]; k < r->makes[step + 1]; k++)
        if (r->makers[r->make[k] + 1] - r->makers[r->make[k]] == 1)
            m->there[r->make[k]] = true;
    drop_read(m, step);
}

bool modes_run(Modes *m)
{
    const Remat *r = m->r;
    m->program.count = 0;
    m->cost = 0;
    for (int32_t i = 0; i < r->turn; i++) append(m, i);
    drop_at_turn(m);
    for (int32_t i = r->turn; i < r->step_count; i++) {
        for (int32_t k = r->makes[i]; k < r->makes[i + 1]; k++)
            m->there[r->make[k]] = true;
        run_step(m, i);
    }
    if (m->program.count >= m->capacity) return false;
    m->peak = remat_live(r, &m->program, m->live);
    return true;
}
