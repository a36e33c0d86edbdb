// Corruptions of a plan's buffers, one function each.
#include "draw.h"

static void offset_nudged(Spoil *s)
{
    draw_buffer(s)->offset += 256 * nudge(s, 8);
}

static void offset_unaligned(Spoil *s)
{
    draw_buffer(s)->offset += nudge(s, 300);
}

static void offset_of_another(Spoil *s)
{
    draw_buffer(s)->offset = draw_buffer(s)->offset;
}

// Anywhere above the state: where there is room, nothing is wrong.
static void offset_anywhere(Spoil *s)
{
    int64_t room = (s->plan->arena_bytes - s->plan->state_bytes) / 256 + 1;
    uint32_t limit = room < 1 << 30 ? (uint32_t)room : 1u << 30;
    draw_such(s, passes_away)->offset =
        s->plan->state_bytes + 256 * (int64_t)draw(s, limit);
}

// It and all its aliases: the effect of a planner.
static void class_moved(Spoil *s)
{
    PlanBuffer *root = draw_such(s, passes_away);
    int64_t room = (s->plan->arena_bytes - s->plan->state_bytes) / 256 + 1;
    uint32_t limit = room < 1 << 30 ? (uint32_t)room : 1u << 30;
    move_class(s->plan, root, s->plan->state_bytes - root->offset +
                                  256 * (int64_t)draw(s, limit));
}

static void offset_within(Spoil *s)
{
    PlanBuffer *buffer = draw_such(s, is_alias);
    buffer->offset += 4 * nudge(s, 16);
}

// Changes a slice, or a buffer that is none.
static void rows(Spoil *s)
{
    PlanBuffer *buffer = draw(s, 4) ? draw_such(s, is_slice) : draw_buffer(s);
    switch (draw(s, 3)) {
    case 0: buffer->rows += nudge(s, 2); break;
    case 1: buffer->rows *= 2; break;
    default: buffer->rows /= 2;
    }
}

// Rows and stride that fit, for a slice that has others or for another buffer;
// or a slice is said to be none.  Rows that divide its own bytes or the root's:
// of the one or the other nothing may be left over.
static void resliced(Spoil *s)
{
    bool (*const any_of[])(const PlanBuffer *) = {is_slice, is_slice, is_alias,
                                                  passes_away};
    PlanBuffer *buffer = draw_such(s, any_of[draw(s, 4)]);
    const PlanBuffer *root = root_of(s->plan, buffer);
    int64_t whole = draw(s, 2) ? root->bytes : buffer->bytes;
    buffer->rows = buffer->stride = 0;
    if (draw(s, 3) == 0) return;
    buffer->rows = 1 + draw(s, 100);
    for (int i = 0; i < 50 && whole % buffer->rows != 0; i++)
        buffer->rows = 1 + draw(s, 100);
    buffer->stride = root->bytes / buffer->rows;
}

static void stride(Spoil *s)
{
    PlanBuffer *buffer = draw(s, 4) ? draw_such(s, is_slice) : draw_buffer(s);
    if (draw(s, 2)) buffer->stride += 4 * nudge(s, 8);
    else buffer->stride = draw(s, 2) ? 0 : 2 * buffer->stride;
}

// A row of another length: still a slice, of other columns.
static void column(Spoil *s)
{
    PlanBuffer *buffer = draw_such(s, is_slice);
    if (!is_slice(buffer)) return;
    int64_t width = buffer->bytes / buffer->rows;
    buffer->offset += draw(s, 2) ? width : -width;
}

static bool is_fused_load(const PlanBuffer *buffer)
{
    return buffer->fused_load;
}

// A stored value is said to be computed on load, or the other way round.
// Otherwise one that is computed on load gets a role that only a stored one can
// have: kept, or aliased. Or it becomes a name for another one, whose bytes it
// says were staged, so that nothing makes them.
static void fused_load(Spoil *s)
{
    PlanBuffer *buffer = draw_such(s, is_fused_load);
    uint32_t how = draw(s, 4);
    if (how == 0 || !buffer->fused_load) {
        buffer = draw(s, 4) ? draw_buffer(s) : draw_such(s, persists);
        buffer->fused_load = !buffer->fused_load;
    } else if (how == 1) {
        buffer->persistent = true;
    } else if (how == 2) {
        draw_such(s, is_alias)->alias_of =
            (int32_t)(buffer - s->plan->buffers);
    } else {
        const PlanStep *step = draw_step(s);
        if (step->write_count == 0) return;
        PlanBuffer *made = &s->plan->buffers[step->writes[0]];
        buffer->alias_of = step->writes[0];
        buffer->offset = made->offset, buffer->bytes = made->bytes;
        buffer->shape = made->shape, buffer->dtype = made->dtype;
        buffer->rows = made->rows, buffer->stride = made->stride;
        buffer->view = true, buffer->kind = INPUT;
        drop_step(s, (int)(step - s->plan->steps));
    }
}

static void first_step(Spoil *s)
{
    draw_buffer(s)->first += (int32_t)nudge(s, 3);
}

static void last_step(Spoil *s)
{
    draw_buffer(s)->last += (int32_t)nudge(s, 3);
}

static void alias_to_any(Spoil *s)
{
    uint32_t count = (uint32_t)s->plan->buffer_count;
    draw_buffer(s)->alias_of =
        (int32_t)draw(s, count + 1) - 1;
}

// Another of its chain, or none.
static void alias_in_chain(Spoil *s)
{
    PlanBuffer *buffer = draw_such(s, is_alias);
    for (uint32_t i = draw(s, 3); i < 3; i++)
        if (buffer->alias_of != NONE)
            buffer->alias_of = s->plan->buffers[buffer->alias_of].alias_of;
}

static void view(Spoil *s)
{
    PlanBuffer *buffer = draw_such(s, is_alias);
    buffer->view = !buffer->view;
}

static void size(Spoil *s)
{
    draw_buffer(s)->bytes += nudge(s, 600);
}

static void shape(Spoil *s)
{
    PlanBuffer *buffer = draw_buffer(s);
    if (buffer->shape.rank == 0) return;
    int axis = (int)draw(s, (uint32_t)buffer->shape.rank);
    buffer->shape.dim[axis] += nudge(s, 2);
}

static void type(Spoil *s)
{
    draw_buffer(s)->dtype = (DType)draw(s, DTYPE_COUNT);
}

static void kind(Spoil *s)
{
    draw_buffer(s)->kind = (Kind)draw(s, KIND_COUNT);
}

static void persistence(Spoil *s)
{
    PlanBuffer *buffer = draw(s, 2)
                             ? draw_buffer(s)
                             : draw_such(s, persists);
    buffer->persistent = !buffer->persistent;
}

// Half the time of a buffer without bytes, which few nets have.
static void output(Spoil *s)
{
    PlanBuffer *buffer = draw(s, 2)
                             ? draw_buffer(s)
                             : draw_such(s, has_no_bytes);
    buffer->output = !buffer->output;
}

static void state_swapped(Spoil *s)
{
    PlanBuffer *a = draw_such(s, persists);
    PlanBuffer *b = draw_such(s, persists);
    for (int i = 0; i < 50 && (b == a || b->bytes != a->bytes); i++)
        b = draw_such(s, persists);
    int64_t offset = a->offset;
    a->offset = b->offset;
    b->offset = offset;
}

const Spoiler buffer_spoilers[] = {
    ROW(offset_nudged), ROW(offset_unaligned), ROW(offset_of_another),
    ROW(offset_anywhere), ROW(class_moved), ROW(offset_within), ROW(rows),
    ROW(resliced), ROW(stride), ROW(column), WITH_LIVES(fused_load),
    ROW(first_step), ROW(last_step), ROW(alias_to_any),
    WITH_LIVES(alias_in_chain), ROW(view), ROW(size), ROW(shape), ROW(type),
    ROW(kind), ROW(persistence), ROW(output), ROW(state_swapped),
};
const int buffer_spoiler_count =
    sizeof buffer_spoilers / sizeof *buffer_spoilers;
