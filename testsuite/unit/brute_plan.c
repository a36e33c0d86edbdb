// Every rule of plan_check.py in its plainest form: an id for each byte of the
// arena, every pair of buffers compared at every step.  Slices are gone through
// row by row.
#include "brute_plan.h"

typedef struct Brute {
    Arena      *arena;
    const Plan *plan;
    int        *root, *value, *first, *last, *begin, *end;
    int        *memory;         // the value that each byte holds, or NONE
} Brute;

static int64_t top_of(const PlanBuffer *buffer)
{
    return buffer->offset + buffer->bytes;
}

// A buffer's bytes by number: where the i-th of them lies.
static int64_t place_of(const PlanBuffer *buffer, int64_t i)
{
    if (buffer->rows == 0) return buffer->offset + i;
    int64_t width = buffer->bytes / buffer->rows;
    return buffer->offset + i / width * buffer->stride + i % width;
}

// True if they share a byte; *same: and have the same ones.
static bool meets(const PlanBuffer *a, const PlanBuffer *b, bool *same)
{
    int64_t shared = 0;
    for (int64_t i = 0; i < a->bytes; i++) {
        int64_t at = place_of(a, i) - b->offset;
        int64_t width = b->rows == 0 ? b->bytes : b->bytes / b->rows;
        if (at < 0) continue;
        int64_t row = b->rows == 0 ? 0 : at / b->stride;
        if (b->rows > 0) at %= b->stride;
        shared += at < width && (b->rows == 0 || row < b->rows);
    }
    *same = shared == a->bytes && shared == b->bytes;
    return shared > 0;
}

static int64_t up(int64_t bytes)
{
    return (bytes + 255) / 256 * 256;
}

// The end of k's chain; NONE if it has none.
static int chain_end(const Plan *plan, int k, bool views_only)
{
    for (int i = 0; i <= plan->buffer_count; i++) {
        const PlanBuffer *buffer = &plan->buffers[k];
        if (buffer->alias_of == NONE || (views_only && !buffer->view)) return k;
        if (buffer->alias_of < 0 || buffer->alias_of >= plan->buffer_count)
            return NONE;
        k = buffer->alias_of;
    }
    return NONE;
}

// Like span() of plan_check.py.
static bool slice_is_sound(const Brute *b, int k)
{
    const PlanBuffer *buffer = &b->plan->buffers[k];
    const PlanBuffer *root = &b->plan->buffers[b->root[k]];
    int64_t column = buffer->offset - root->offset;
    return buffer->rows > 0 && buffer->rows < 1 << 20 &&
           buffer->stride < 1 << 30 &&
           buffer->rows * buffer->stride == root->bytes &&
           buffer->bytes % buffer->rows == 0 && column >= 0 &&
           column + buffer->bytes / buffer->rows <= buffer->stride;
}

static bool buffer_is_sound(const Brute *b, int k)
{
    const PlanBuffer *buffer = &b->plan->buffers[k];
    int64_t needed = elements(buffer->shape) * dtype_bytes(buffer->dtype);
    if (buffer->fused_load) return !buffer->persistent && !buffer->output;
    if (buffer->bytes <= 0 || buffer->bytes < needed) return false;
    if (buffer->kind != WORKSPACE && buffer->bytes > needed + ALIGNMENT)
        return false;
    if (buffer->offset < 0 || top_of(buffer) > b->plan->arena_bytes)
        return false;
    if (is_persistent(buffer->kind) &&
        !b->plan->buffers[b->root[k]].persistent)
        return false;
    if (buffer->rows != 0 && !slice_is_sound(b, k)) return false;
    if (buffer->alias_of == NONE) return buffer->offset % ALIGNMENT == 0;
    const PlanBuffer *parent = &b->plan->buffers[buffer->alias_of];
    if (parent->fused_load) return false;
    if (buffer->rows > 0) return true;
    return parent->offset <= buffer->offset && top_of(buffer) <= top_of(parent);
}

static void touch(Brute *b, int k, int step, bool read)
{
    const PlanBuffer *buffer = &b->plan->buffers[k];
    if (buffer->persistent) return;
    if (b->first[k] == NONE)
        b->first[k] = read && buffer->kind == INPUT ? 0 : step;
    b->last[k] = step;
}

static void find_lives(Brute *b)
{
    const Plan *plan = b->plan;
    for (int i = 0; i < plan->step_count; i++) {
        for (int j = 0; j < plan->steps[i].read_count; j++)
            touch(b, plan->steps[i].reads[j], i, true);
        for (int j = 0; j < plan->steps[i].write_count; j++)
            touch(b, plan->steps[i].writes[j], i, false);
    }
    for (int k = 0; k < plan->buffer_count; k++) {
        if (plan->buffers[k].persistent) b->first[k] = 0;
        if (plan->buffers[k].persistent ||
            (plan->buffers[k].output && b->first[k] != NONE))
            b->last[k] = plan->step_count - 1;
    }
    for (int k = 0; k < plan->buffer_count; k++) {
        int r = b->root[k];
        if (b->first[k] == NONE) continue;
        if (b->begin[r] == NONE || b->first[k] < b->begin[r])
            b->begin[r] = b->first[k];
        if (b->last[k] > b->end[r]) b->end[r] = b->last[k];
    }
}

static bool lives_are_stated(const Brute *b)
{
    for (int k = 0; k < b->plan->buffer_count; k++) {
        const PlanBuffer *buffer = &b->plan->buffers[k];
        if (buffer->fused_load) continue;
        if (b->begin[b->root[k]] == NONE) return false;
        if (buffer->persistent || b->first[k] == NONE) continue;
        if (buffer->first > b->first[k] || buffer->last < b->last[k])
            return false;
    }
    return true;
}

static bool lives_at(const Brute *b, int k, int step)
{
    return b->root[k] == k && b->begin[k] <= step && step <= b->end[k];
}

static bool figures_are_right(const Brute *b)
{
    const Plan *plan = b->plan;
    int64_t most = 0, top = 0;
    for (int i = 0; i < plan->step_count; i++) {
        int64_t live = 0;
        for (int k = 0; k < plan->buffer_count; k++) {
            const PlanBuffer *buffer = &plan->buffers[k];
            if (buffer->fused_load) continue;
            if (top_of(buffer) > top) top = top_of(buffer);
            if (!lives_at(b, k, i)) continue;
            live += up(buffer->bytes);
            for (int j = 0; j < k; j++)
                if (lives_at(b, j, i) &&
                    plan->buffers[j].offset < top_of(buffer) &&
                    buffer->offset < top_of(&plan->buffers[j]))
                    return false;
        }
        if (live > most) most = live;
    }
    return most == plan->max_live_bytes && up(top) == up(plan->arena_bytes);
}

static void hold(Brute *b, int k)
{
    const PlanBuffer *buffer = &b->plan->buffers[k];
    for (int64_t i = 0; i < buffer->bytes; i++)
        b->memory[place_of(buffer, i)] = b->value[k];
}

// How many bytes of buffer k hold its value.
static int64_t bytes_held(const Brute *b, int k)
{
    const PlanBuffer *buffer = &b->plan->buffers[k];
    int64_t count = 0;
    for (int64_t i = 0; i < buffer->bytes; i++)
        count += b->memory[place_of(buffer, i)] == b->value[k];
    return count;
}

static bool may_touch(const Brute *b, const PlanStep *step, int written,
                      int read)
{
    const PlanBuffer *w = &b->plan->buffers[written];
    const PlanBuffer *r = &b->plan->buffers[read];
    bool same;
    if (!meets(w, r, &same)) return true;
    if (b->value[written] == b->value[read]) return true;
    if (!same) return false;
    for (int i = 0; i < step->in_place_count; i++)
        if (step->in_place[i][0] == written && step->in_place[i][1] == read)
            return true;
    return false;
}

static bool write_is_sound(const Brute *b, const PlanStep *step, int i)
{
    const PlanBuffer *buffers = b->plan->buffers;
    int k = step->writes[i];
    for (int j = 0; j < step->write_count; j++) {
        bool same;
        if (j != i && meets(&buffers[k], &buffers[step->writes[j]], &same))
            return false;
    }
    bool reads_it = false;
    for (int j = 0; j < step->read_count; j++) {
        reads_it |= b->value[step->reads[j]] == b->value[k];
        if (!may_touch(b, step, k, step->reads[j])) return false;
    }
    return reads_it || bytes_held(b, k) == 0;
}

static bool step_is_sound(Brute *b, const PlanStep *step)
{
    for (int j = 0; j < step->read_count; j++)
        if (bytes_held(b, step->reads[j]) !=
            b->plan->buffers[step->reads[j]].bytes)
            return false;
    for (int j = 0; j < step->write_count; j++) {
        if (!write_is_sound(b, step, j)) return false;
        hold(b, step->writes[j]);
    }
    return true;
}

static bool replay_is_sound(Brute *b)
{
    const Plan *plan = b->plan;
    b->memory = NEW_ARRAY(b->arena, (size_t)plan->arena_bytes, int);
    for (int64_t i = 0; i < plan->arena_bytes; i++) b->memory[i] = NONE;
    for (int k = 0; k < plan->buffer_count; k++)
        if ((plan->buffers[k].persistent || plan->buffers[k].kind == INPUT) &&
            !plan->buffers[k].fused_load)
            hold(b, k);
    for (int i = 0; i < plan->step_count; i++)
        if (!step_is_sound(b, &plan->steps[i])) return false;
    for (int k = 0; k < plan->buffer_count; k++)
        if ((plan->buffers[k].persistent || plan->buffers[k].output) &&
            bytes_held(b, k) != plan->buffers[k].bytes)
            return false;
    return true;
}

// Buffers, and such as have bytes.
static bool all_there(const int32_t *list, int count, const Plan *plan)
{
    for (int i = 0; i < count; i++)
        if (list[i] < 0 || list[i] >= plan->buffer_count ||
            plan->buffers[list[i]].fused_load)
            return false;
    return true;
}

bool sound_by_bytes(Arena *arena, const Plan *plan)
{
    int count = plan->buffer_count;
    Brute b = {.arena = arena, .plan = plan};
    int **of_each[] = {&b.root, &b.value, &b.first, &b.last, &b.begin, &b.end};
    for (int i = 0; i < 6; i++) {
        *of_each[i] = NEW_ARRAY(arena, count, int);
        for (int k = 0; k < count; k++) (*of_each[i])[k] = NONE;
    }
    for (int k = 0; k < count; k++) {
        b.root[k] = chain_end(plan, k, false);
        b.value[k] = chain_end(plan, k, true);
        if (b.root[k] == NONE || b.value[k] == NONE) return false;
    }
    for (int k = 0; k < count; k++)
        if (!buffer_is_sound(&b, k)) return false;
    for (int i = 0; i < plan->step_count; i++) {
        const PlanStep *step = &plan->steps[i];
        if (!all_there(step->reads, step->read_count, plan) ||
            !all_there(step->writes, step->write_count, plan))
            return false;
    }
    find_lives(&b);
    return lives_are_stated(&b) && figures_are_right(&b) &&
           replay_is_sound(&b);
}
