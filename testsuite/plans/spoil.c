// What may be wrong with a plan, one function each.
#include "../unit/nets.h"
#include "spoil.h"

// ---- draws ------------------------------------------------------------------

static uint32_t draw(Spoil *s, uint32_t limit)
{
    return next_number(&s->seed, limit);
}

static int64_t nudge(Spoil *s, uint32_t reach)
{
    return (int64_t)draw(s, 2 * reach + 1) - reach;
}

static int32_t draw_id(Spoil *s)
{
    return (int32_t)draw(s, (uint32_t)s->plan->buffer_count);
}

static PlanBuffer *draw_buffer(Spoil *s)
{
    return &s->plan->buffers[draw_id(s)];
}

static PlanStep *draw_step(Spoil *s)
{
    return &s->plan->steps[draw(s, (uint32_t)s->plan->step_count)];
}

// A buffer with this property, if a few draws meet one.
static PlanBuffer *draw_such(Spoil *s,
                             bool (*such)(const PlanBuffer *))
{
    PlanBuffer *buffer = draw_buffer(s);
    for (int i = 0; i < 50 && !such(buffer); i++)
        buffer = draw_buffer(s);
    return buffer;
}

static bool is_alias(const PlanBuffer *buffer)
{
    return buffer->alias_of != NONE;
}

static bool persists(const PlanBuffer *buffer)
{
    return buffer->persistent;
}

static bool passes_away(const PlanBuffer *buffer)
{
    return !buffer->persistent && buffer->alias_of == NONE;
}

static void drop_step(Spoil *s, int at)
{
    for (int i = at; i + 1 < s->plan->step_count; i++)
        s->plan->steps[i] = s->plan->steps[i + 1];
    s->plan->step_count--;
}

// ---- buffers ----------------------------------------------------------------

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

static void move_class(Plan *plan, PlanBuffer *root, int64_t by)
{
    for (int k = 0; k < plan->buffer_count; k++)
        if (root_of(plan, &plan->buffers[k]) == root)
            plan->buffers[k].offset += by;
}

// It and all that lie in it: what a planner would do.
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

static bool is_slice(const PlanBuffer *buffer)
{
    return buffer->rows > 0;
}

// Of a slice, or of what is none.
static void rows(Spoil *s)
{
    PlanBuffer *buffer = draw(s, 4) ? draw_such(s, is_slice) : draw_buffer(s);
    switch (draw(s, 3)) {
    case 0: buffer->rows += nudge(s, 2); break;
    case 1: buffer->rows *= 2; break;
    default: buffer->rows /= 2;
    }
}

// Rows and stride that fit, for a slice that has others or for what is none;
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

static bool is_inlined(const PlanBuffer *buffer)
{
    return buffer->inlined;
}

// A stored value that is said to be computed where it is read, or the other way
// round; or one that is becomes what only a stored one can be: kept, or a name
// for another one, whose bytes it says were staged, so that nothing makes them.
static void inlined(Spoil *s)
{
    PlanBuffer *buffer = draw_such(s, is_inlined);
    uint32_t how = draw(s, 4);
    if (how == 0 || !buffer->inlined) {
        buffer = draw(s, 4) ? draw_buffer(s) : draw_such(s, persists);
        buffer->inlined = !buffer->inlined;
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

static void output(Spoil *s)
{
    PlanBuffer *buffer = draw_buffer(s);
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
    for (int i = 0; i < *count; i++)
        if (ids[i] == id) return;
    ids[(*count)++] = id;
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

// One that is there goes, or one of what the step touches comes.
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

// A result laid over another operand or result of its step, with all that lies
// in it: what a share that asks too little would do.
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

// ---- numbers that name nothing ----------------------------------------------

// A slice and what it lies in so far apart that its column times its rows is no
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

#define ROW(name) {#name, name, false, true}
#define WITH_LIVES(name) {#name, name, true, true}

const Spoiler spoilers[] = {
    ROW(offset_nudged), ROW(offset_unaligned), ROW(offset_of_another),
    ROW(offset_anywhere), ROW(class_moved), ROW(offset_within), ROW(rows),
    ROW(resliced), ROW(stride), ROW(column), WITH_LIVES(inlined),
    ROW(first_step), ROW(last_step),
    ROW(alias_to_any), WITH_LIVES(alias_in_chain), ROW(view), ROW(size), ROW(shape),
    ROW(type), ROW(kind), ROW(persistence), ROW(output),
    ROW(state_swapped), WITH_LIVES(steps_swapped), WITH_LIVES(step_moved),
    WITH_LIVES(neighbours_swapped), WITH_LIVES(step_dropped),
    WITH_LIVES(step_twice), WITH_LIVES(joined), WITH_LIVES(reads), WITH_LIVES(writes),
    ROW(in_place), ROW(arena_bytes), ROW(state_bytes), ROW(max_live_bytes),
    {"wild", wild, false, false},
};
const int spoiler_count = sizeof spoilers / sizeof *spoilers;

void corrupt_plan(Spoil *s, int kind)
{
    spoilers[kind].spoil(s);
    if (spoilers[kind].may_restate && draw(s, 2)) restate(s->arena, s->plan);
}
