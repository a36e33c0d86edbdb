// Corruptions of a plan, one function each: of its steps, the whole, its ids;
// then all of them, those of buffers first.
#include "draw.h"

// ---- steps ------------------------------------------------------------------

static void steps_swapped(Spoil *s)
{
    PlanStep *a = draw_step(s), *b = draw_step(s);
    PlanStep moved = *a;
    *a = *b;
    *b = moved;
}

// By a few places.
static void step_moved(Spoil *s)
{
    int from = (int)draw(s, (uint32_t)s->plan->step_count);
    int to = from + (int)nudge(s, 4);
    if (to < 0 || to >= s->plan->step_count) return;
    PlanStep moved = s->plan->steps[from];
    for (int i = from; i < to; i++) s->plan->steps[i] = s->plan->steps[i + 1];
    for (int i = from; i > to; i--) s->plan->steps[i] = s->plan->steps[i - 1];
    s->plan->steps[to] = moved;
}

static void neighbours_swapped(Spoil *s)
{
    if (s->plan->step_count < 2) return;
    int at = (int)draw(s, (uint32_t)s->plan->step_count - 1);
    PlanStep moved = s->plan->steps[at];
    s->plan->steps[at] = s->plan->steps[at + 1];
    s->plan->steps[at + 1] = moved;
}

static void step_dropped(Spoil *s)
{
    drop_step(s, (int)draw(s, (uint32_t)s->plan->step_count));
}

static void step_twice(Spoil *s)
{
    int at = (int)draw(s, (uint32_t)s->plan->step_count);
    for (int i = s->plan->step_count; i > at; i--)
        s->plan->steps[i] = s->plan->steps[i - 1];
    copy_step(s->arena, &s->plan->steps[at]);
    s->plan->step_count++;
}

static void replace(Spoil *s, int32_t *ids, int count)
{
    if (count > 0)
        ids[draw(s, (uint32_t)count)] = draw_id(s);
}

static void drop(Spoil *s, int32_t *ids, int *count)
{
    if (*count > 0)
        ids[draw(s, (uint32_t)*count)] = ids[*count - 1], (*count)--;
}

static void add(Spoil *s, int32_t *ids, int *count)
{
    int32_t id = draw_id(s);
    if (!has_id(ids, *count, id)) ids[(*count)++] = id;
}

// Who reads a part of a map writes all of it, though other parts are still to
// come.
static void whole_written(Spoil *s)
{
    PlanBuffer *part = draw_such(s, is_slice);
    int32_t id = (int32_t)(part - s->plan->buffers);
    PlanStep *step = draw_reader(s, id);
    if (is_alias(part) && !has_id(step->writes, step->write_count,
                                  part->alias_of))
        step->writes[step->write_count++] = part->alias_of;
}

static void reads(Spoil *s)
{
    PlanStep *step = draw_step(s);
    uint32_t how = draw(s, 3);
    if (how == 0) replace(s, step->reads, step->read_count);
    if (how == 1) drop(s, step->reads, &step->read_count);
    if (how == 2) add(s, step->reads, &step->read_count);
}

static void writes(Spoil *s)
{
    PlanStep *step = draw_step(s);
    uint32_t how = draw(s, 3);
    if (how == 0) replace(s, step->writes, step->write_count);
    if (how == 1) drop(s, step->writes, &step->write_count);
    if (how == 2) add(s, step->writes, &step->write_count);
}

// One that is there goes, or another buffer of the step is added.
static void in_place(Spoil *s)
{
    PlanStep *step = draw_step(s);
    for (int i = 0; i < 50 && step->in_place_count == 0; i++)
        step = draw_step(s);
    if (step->in_place_count > 0 && draw(s, 2)) {
        step->in_place_count--;
        return;
    }
    step = draw_step(s);
    if (step->read_count == 0 || step->write_count == 0) return;
    int32_t *pair = step->in_place[step->in_place_count++];
    pair[0] = step->writes[draw(s, (uint32_t)step->write_count)];
    pair[1] = step->reads[draw(s, (uint32_t)step->read_count)];
}

// A result laid over another operand or result of its step, with all its
// aliases: the effect of a share pass that checks too little.
static void joined(Spoil *s)
{
    PlanStep *step = draw_step(s);
    if (step->write_count == 0 || step->read_count == 0) return;
    int32_t k = step->writes[draw(s, (uint32_t)step->write_count)];
    bool read = draw(s, 2);
    int32_t under = read ? step->reads[draw(s, (uint32_t)step->read_count)]
                         : step->writes[draw(s, (uint32_t)step->write_count)];
    PlanBuffer *buffer = &s->plan->buffers[k], *to = &s->plan->buffers[under];
    if (!passes_away(buffer) || to->bytes < buffer->bytes ||
        root_of(s->plan, to) == buffer)
        return;
    move_class(s->plan, buffer, to->offset - buffer->offset);
    buffer->alias_of = under;
    if (read && draw(s, 2)) {
        step->in_place[step->in_place_count][0] = k;
        step->in_place[step->in_place_count++][1] = under;
    }
    int32_t last = step->writes[step->write_count - 1];
    if (draw(s, 2)) {
        step->writes[step->write_count - 1] = step->writes[0];
        step->writes[0] = last;
    }
}

// A result and its names are laid over a slice of which it is made, as slices.
// This is the effect of a share pass that ignores their other users.  The
// slice's container may then be placed where there is room.
static void over_slice(Spoil *s)
{
    PlanBuffer *part = draw_such(s, is_slice), *root = root_of(s->plan, part);
    int32_t under = (int32_t)(part - s->plan->buffers);
    PlanStep *step = draw_reader(s, under);
    if (!is_slice(part) || step->write_count == 0) return;
    int32_t k = step->writes[draw(s, (uint32_t)step->write_count)];
    PlanBuffer *made = &s->plan->buffers[k];
    if (!passes_away(made) || made->bytes != part->bytes || made == root)
        return;
    move_class(s->plan, made, part->offset - made->offset);
    for (int i = 0; i < s->plan->buffer_count; i++) {
        PlanBuffer *name = &s->plan->buffers[i];
        if (root_of(s->plan, name) == made)
            name->rows = part->rows, name->stride = part->stride;
    }
    made->alias_of = under;
    step->in_place[step->in_place_count][0] = k;
    step->in_place[step->in_place_count++][1] = under;
    if (draw(s, 2)) return;
    move_class(s->plan, root, s->plan->arena_bytes - root->offset);
    s->plan->arena_bytes += padded(root->bytes);
}

// ---- numbers that name nothing ----------------------------------------------

// A slice and its container so far apart that its column times its rows is no
// number.
static void torn(Spoil *s, bool up)
{
    const int64_t far = INT64_C(1) << 61;
    PlanBuffer *slice = draw_such(s, is_slice);
    PlanBuffer *root = root_of(s->plan, slice);
    s->plan->arena_bytes = 2 * far;
    (up ? slice : root)->offset = far;
}

static void wild(Spoil *s)
{
    const int32_t nothing[] = {-2, s->plan->buffer_count, 1 << 30};
    int32_t id = nothing[draw(s, 3)];
    PlanStep *step = draw_step(s);
    PlanBuffer *buffer = draw_buffer(s);
    switch (draw(s, 10)) {
    case 0: if (step->read_count > 0) step->reads[0] = id; break;
    case 1: if (step->write_count > 0) step->writes[0] = id; break;
    case 2: buffer->alias_of = id; break;
    case 3: buffer->kind = (Kind)(1 << 20); break;
    case 4: buffer->dtype = (DType)(1 << 20); break;
    case 5: buffer->shape.rank = -1; break;
    case 6: s->plan->buffers = NULL, s->plan->buffer_count = 0; break;
    case 7: torn(s, true); break;
    case 8: torn(s, false); break;
    default: buffer->alias_of = (int32_t)(buffer - s->plan->buffers);
    }
}

// ---- the whole --------------------------------------------------------------

static void arena_bytes(Spoil *s)
{
    s->plan->arena_bytes += 64 * nudge(s, 8);
}

static void state_bytes(Spoil *s)
{
    s->plan->state_bytes += 128 * nudge(s, 6);
}

static void max_live_bytes(Spoil *s)
{
    s->plan->max_live_bytes += 128 * nudge(s, 6);
}

static const Spoiler spoilers[] = {
    WITH_LIVES(steps_swapped), WITH_LIVES(step_moved),
    WITH_LIVES(neighbours_swapped), WITH_LIVES(step_dropped),
    WITH_LIVES(step_twice), WITH_LIVES(joined), WITH_LIVES(over_slice),
    WITH_LIVES(reads), WITH_LIVES(writes), WITH_LIVES(whole_written),
    WITH_LIVES(update_early), WITH_LIVES(launches),
    WITH_LIVES(update_beside), WITH_LIVES(across_batch),
    WITH_LIVES(copy_moved), ROW(batch_steps), ROW(host), ROW(in_place),
    ROW(arena_bytes), ROW(state_bytes), ROW(max_live_bytes), ROW(host_bytes),
    {"wild", wild, false, false},
};

int count_spoilers(void)
{
    return buffer_spoiler_count + (int)(sizeof spoilers / sizeof *spoilers);
}

const Spoiler *spoiler_of(int kind)
{
    return kind < buffer_spoiler_count
               ? &buffer_spoilers[kind]
               : &spoilers[kind - buffer_spoiler_count];
}

void corrupt_plan(Spoil *s, int kind)
{
    const Spoiler *spoiler = spoiler_of(kind);
    spoiler->spoil(s);
    if (spoiler->may_restate && draw(s, 2)) restate(s->arena, s->plan);
}
