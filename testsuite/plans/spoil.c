// What may be wrong with a plan, one function each.
#include <string.h>
#include "../../passes/place.h"
#include "../unit/nets.h"
#include "spoil.h"

// ---- copies -----------------------------------------------------------------

static int32_t *copy_ids(Arena *arena, const int32_t *ids, int count)
{
    // Room for one more, which a corruption may add.
    int32_t *copy = NEW_ARRAY(arena, count + 1, int32_t);
    if (count > 0) memcpy(copy, ids, (size_t)count * sizeof *copy);
    return copy;
}

static void copy_step(Arena *arena, PlanStep *step)
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

static bool same_step(const PlanStep *a, const PlanStep *b)
{
    return strcmp(a->name, b->name) == 0 && a->phase == b->phase &&
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
           a->alias_of == b->alias_of;
}

bool same_plan(const Plan *a, const Plan *b)
{
    if (a->arena_bytes != b->arena_bytes || a->state_bytes != b->state_bytes ||
        a->max_live_bytes != b->max_live_bytes ||
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

static PlanBuffer *root_of(const Plan *plan, PlanBuffer *buffer)
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
        if (buffer->alias_of != NONE || buffer->first == NONE) continue;
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
static void restate(Spoil *s)
{
    Plan *plan = s->plan;
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
    plan->max_live_bytes = most_alive(s->arena, plan);
}

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
    int at = (int)draw(s, (uint32_t)s->plan->step_count);
    for (int i = at; i + 1 < s->plan->step_count; i++)
        s->plan->steps[i] = s->plan->steps[i + 1];
    s->plan->step_count--;
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

static void wild(Spoil *s)
{
    const int32_t nothing[] = {-2, s->plan->buffer_count, 1 << 30};
    int32_t id = nothing[draw(s, 3)];
    PlanStep *step = draw_step(s);
    PlanBuffer *buffer = draw_buffer(s);
    switch (draw(s, 8)) {
    case 0: if (step->read_count > 0) step->reads[0] = id; break;
    case 1: if (step->write_count > 0) step->writes[0] = id; break;
    case 2: buffer->alias_of = id; break;
    case 3: buffer->kind = (Kind)(1 << 20); break;
    case 4: buffer->dtype = (DType)(1 << 20); break;
    case 5: buffer->shape.rank = -1; break;
    case 6: s->plan->buffers = NULL, s->plan->buffer_count = 0; break;
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
    ROW(offset_anywhere), ROW(class_moved), ROW(offset_within), ROW(first_step),
    ROW(last_step), ROW(alias_to_any), WITH_LIVES(alias_in_chain), ROW(view),
    ROW(size), ROW(shape), ROW(type), ROW(kind), ROW(persistence), ROW(output),
    ROW(state_swapped), WITH_LIVES(steps_swapped), WITH_LIVES(step_moved),
    WITH_LIVES(neighbours_swapped), WITH_LIVES(step_dropped),
    WITH_LIVES(step_twice), WITH_LIVES(joined), WITH_LIVES(reads), WITH_LIVES(writes),
    ROW(in_place), ROW(arena_bytes), ROW(state_bytes), ROW(max_live_bytes),
    {"wild", wild, false, false},
};
const int spoiler_count = sizeof spoilers / sizeof *spoilers;

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
        buffer->printed_id = named_only ? NONE : count++;
    }
}

void corrupt_plan(Spoil *s, int kind)
{
    spoilers[kind].spoil(s);
    if (spoilers[kind].may_restate && draw(s, 2)) restate(s);
}
