// Shared by all corruptions: draws from a plan, and its parts.
#ifndef CNNC_TEST_DRAW_H
#define CNNC_TEST_DRAW_H

#include "../unit/nets.h"
#include "spoil.h"

static inline uint32_t draw(Spoil *s, uint32_t limit)
{
    return next_number(&s->seed, limit);
}

static inline int64_t nudge(Spoil *s, uint32_t reach)
{
    return (int64_t)draw(s, 2 * reach + 1) - reach;
}

static inline int32_t draw_id(Spoil *s)
{
    return (int32_t)draw(s, (uint32_t)s->plan->buffer_count);
}

static inline PlanBuffer *draw_buffer(Spoil *s)
{
    return &s->plan->buffers[draw_id(s)];
}

static inline PlanStep *draw_step(Spoil *s)
{
    return &s->plan->steps[draw(s, (uint32_t)s->plan->step_count)];
}

static inline bool has_id(const int32_t *ids, int count, int32_t id)
{
    for (int i = 0; i < count; i++)
        if (ids[i] == id) return true;
    return false;
}

// A step with this property, if a few draws meet one.
static inline PlanStep *draw_such_step(Spoil *s,
                                       bool (*such)(const PlanStep *))
{
    PlanStep *step = draw_step(s);
    for (int i = 0; i < 50 && !such(step); i++) step = draw_step(s);
    return step;
}

// A step that reads a buffer, likewise.
static inline PlanStep *draw_reader(Spoil *s, int32_t id)
{
    PlanStep *step = draw_step(s);
    for (int i = 0; i < 200 && !has_id(step->reads, step->read_count, id); i++)
        step = draw_step(s);
    return step;
}

// A buffer with this property, likewise.
static inline PlanBuffer *draw_such(Spoil *s,
                                    bool (*such)(const PlanBuffer *))
{
    PlanBuffer *buffer = draw_buffer(s);
    for (int i = 0; i < 50 && !such(buffer); i++)
        buffer = draw_buffer(s);
    return buffer;
}

static inline bool is_alias(const PlanBuffer *buffer)
{
    return buffer->alias_of != NONE;
}

static inline bool has_no_bytes(const PlanBuffer *buffer)
{
    return buffer->fused_load;
}

static inline bool persists(const PlanBuffer *buffer)
{
    return buffer->persistent;
}

static inline bool passes_away(const PlanBuffer *buffer)
{
    return !buffer->persistent && buffer->alias_of == NONE;
}

static inline bool is_slice(const PlanBuffer *buffer)
{
    return buffer->rows > 0;
}

// The buffer and all its aliases.
static inline void move_class(Plan *plan, PlanBuffer *root, int64_t by)
{
    for (int k = 0; k < plan->buffer_count; k++)
        if (root_of(plan, &plan->buffers[k]) == root)
            plan->buffers[k].offset += by;
}

static inline void drop_step(Spoil *s, int at)
{
    for (int i = at; i + 1 < s->plan->step_count; i++)
        s->plan->steps[i] = s->plan->steps[i + 1];
    s->plan->step_count--;
}

// Rows of the tables of corruptions, each a function of its name.
#define ROW(name) {#name, name, false, true}
#define WITH_LIVES(name) {#name, name, true, true}

// spoil_buffers.c: those of buffers, which come first.
extern const Spoiler buffer_spoilers[];
extern const int buffer_spoiler_count;
// spoil_launches.c.
void update_early(Spoil *s);
void launches(Spoil *s);
void update_beside(Spoil *s);
// spoil_batches.c.
void batch_steps(Spoil *s);
void across_batch(Spoil *s);
void host(Spoil *s);
void host_bytes(Spoil *s);
void copy_moved(Spoil *s);

#endif
