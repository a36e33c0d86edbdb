// Copies of plans that may be written to, and facts that follow from their
// steps.
#include <string.h>
#include "../../passes/placement/place.h"
#include "spoil.h"

// ---- copies -----------------------------------------------------------------

static int32_t *copy_ids(Arena *arena, const int32_t *ids, int count)
{
    // Room for one more, which a corruption may add.
    int32_t *copy = NEW_ARRAY(arena, count + 1, int32_t);
    if (count > 0) memcpy(copy, ids, (size_t)count * sizeof *copy);
    return copy;
}

void copy_step(Arena *arena, PlanStep *step)
{
    int32_t(*pairs)[2] =
        arena_alloc(arena, (size_t)step->in_place_count + 1, sizeof *pairs);
    for (int i = 0; i < step->in_place_count; i++)
        memcpy(pairs[i], step->in_place[i], sizeof *pairs);
    step->in_place = pairs;
    step->reads = copy_ids(arena, step->reads, step->read_count);
    step->writes = copy_ids(arena, step->writes, step->write_count);
}

Plan *copy_plan(Arena *arena, const Plan *plan)
{
    Plan *copy = NEW(arena, Plan);
    *copy = *plan;
    copy->steps = NEW_ARRAY(arena, plan->step_count + 1, PlanStep);
    copy->buffers = NEW_ARRAY(arena, plan->buffer_count, PlanBuffer);
    for (int i = 0; i < plan->step_count; i++) {
        copy->steps[i] = plan->steps[i];
        copy_step(arena, &copy->steps[i]);
    }
    memcpy(copy->buffers, plan->buffers,
           (size_t)plan->buffer_count * sizeof(PlanBuffer));
    return copy;
}

static bool same_ids(const int32_t *a, int count, const int32_t *b, int length)
{
    return count == length &&
           (count == 0 || memcmp(a, b, (size_t)count * sizeof *a) == 0);
}

static bool same_names(const char *const *a, int count, const char *const *b,
                       int length)
{
    bool same = count == length;
    for (int i = 0; i < count && same; i++) same = strcmp(a[i], b[i]) == 0;
    return same;
}

static bool same_step(const PlanStep *a, const PlanStep *b)
{
    return strcmp(a->name, b->name) == 0 && a->phase == b->phase &&
           a->host == b->host &&
           same_names(a->more, a->more_count, b->more, b->more_count) &&
           same_ids(a->reads, a->read_count, b->reads, b->read_count) &&
           same_ids(a->writes, a->write_count, b->writes, b->write_count) &&
           same_ids(a->in_place_count ? a->in_place[0] : NULL,
                    2 * a->in_place_count,
                    b->in_place_count ? b->in_place[0] : NULL,
                    2 * b->in_place_count);
}

static bool same_buffer(const PlanBuffer *a, const PlanBuffer *b)
{
    return a->kind == b->kind && a->dtype == b->dtype &&
           same_shape(a->shape, b->shape) && a->bytes == b->bytes &&
           a->offset == b->offset && a->first == b->first &&
           a->last == b->last && a->persistent == b->persistent &&
           a->output == b->output && a->view == b->view &&
           a->fused_load == b->fused_load && a->alias_of == b->alias_of &&
           a->rows == b->rows && a->stride == b->stride;
}

bool same_plan(const Plan *a, const Plan *b)
{
    if (a->arena_bytes != b->arena_bytes || a->state_bytes != b->state_bytes ||
        a->max_live_bytes != b->max_live_bytes ||
        a->batch_steps != b->batch_steps || a->host_bytes != b->host_bytes ||
        a->step_count != b->step_count || a->buffer_count != b->buffer_count)
        return false;
    for (int i = 0; i < a->step_count; i++)
        if (!same_step(&a->steps[i], &b->steps[i])) return false;
    for (int k = 0; k < a->buffer_count; k++)
        if (!same_buffer(&a->buffers[k], &b->buffers[k])) return false;
    return true;
}

// ---- lives ------------------------------------------------------------------

static void touch(PlanBuffer *buffer, int32_t step, bool read)
{
    if (buffer->persistent) return;
    if (buffer->first == NONE)
        buffer->first = buffer->kind == INPUT && read ? 0 : step;
    buffer->last = step;
}

PlanBuffer *root_of(const Plan *plan, PlanBuffer *buffer)
{
    while (buffer->alias_of != NONE) buffer = &plan->buffers[buffer->alias_of];
    return buffer;
}

static void find_lives(Plan *plan)
{
    for (int k = 0; k < plan->buffer_count; k++) {
        PlanBuffer *buffer = &plan->buffers[k];
        buffer->first = buffer->persistent ? 0 : NONE;
        buffer->last = NONE;
    }
    for (int32_t i = 0; i < plan->step_count; i++) {
        const PlanStep *step = &plan->steps[i];
        for (int j = 0; j < step->read_count; j++)
            touch(&plan->buffers[step->reads[j]], i, true);
        for (int j = 0; j < step->write_count; j++)
            touch(&plan->buffers[step->writes[j]], i, false);
    }
    for (int k = 0; k < plan->buffer_count; k++) {
        PlanBuffer *buffer = &plan->buffers[k];
        if (buffer->persistent || (buffer->output && buffer->first != NONE))
            buffer->last = plan->step_count - 1;
    }
}

static int64_t most_alive(Arena *arena, const Plan *plan)
{
    int64_t live = 0, most = 0;
    int64_t *change = NEW_ARRAY(arena, plan->step_count + 1, int64_t);
    for (int k = 0; k < plan->buffer_count; k++) {
        const PlanBuffer *buffer = &plan->buffers[k];
        if (buffer->alias_of != NONE || buffer->first == NONE ||
            buffer->fused_load)
            continue;
        change[buffer->first] += padded(buffer->bytes);
        change[buffer->last + 1] -= padded(buffer->bytes);
    }
    for (int i = 0; i < plan->step_count; i++) {
        live += change[i];
        if (live > most) most = live;
    }
    return most;
}

// The lives and the bound that follow from the steps as they are: the work of a
// planner that knows no better.
void restate(Arena *arena, Plan *plan)
{
    find_lives(plan);
    for (int k = 0; k < plan->buffer_count; k++) {
        PlanBuffer *buffer = &plan->buffers[k], *root = root_of(plan, buffer);
        if (buffer->first == NONE) continue;
        if (root->first == NONE || buffer->first < root->first)
            root->first = buffer->first;
        if (buffer->last > root->last) root->last = buffer->last;
    }
    for (int k = 0; k < plan->buffer_count; k++) {
        PlanBuffer *buffer = &plan->buffers[k];
        if (buffer->first != NONE) continue;
        buffer->first = root_of(plan, buffer)->first;
        buffer->last = root_of(plan, buffer)->last;
    }
    plan->max_live_bytes = most_alive(arena, plan);
}

// ---- printing ---------------------------------------------------------------

// A view that no step touches is not printed.
void number_buffers(Arena *arena, Plan *plan)
{
    bool *touched = NEW_ARRAY(arena, plan->buffer_count, bool);
    int32_t count = 0;
    for (int i = 0; i < plan->step_count; i++) {
        const PlanStep *step = &plan->steps[i];
        for (int j = 0; j < step->read_count; j++)
            touched[step->reads[j]] = true;
        for (int j = 0; j < step->write_count; j++)
            touched[step->writes[j]] = true;
    }
    for (int k = 0; k < plan->buffer_count; k++) {
        PlanBuffer *buffer = &plan->buffers[k];
        bool named_only = buffer->alias_of != NONE && !touched[k] &&
                          !buffer->persistent;
        buffer->printed_id = named_only || buffer->fused_load ? NONE : count++;
    }
}
