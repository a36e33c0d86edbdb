// The plan's checker.  It shares no code with the planner and trusts only the
// reads and writes of the steps.  It computes lifetimes from these, compares
// them and the plan's numbers, and checks
//
//   - that no two live buffers overlap, unless one is declared an alias of the
//     other;
//   - by replaying the steps over a map of the value that each byte holds
//     (verify_replay.c), that every read finds its own value in every byte,
//     that a step that overwrites an operand declares it, byte for byte, and
//     that persistent values and outputs hold their own value at the end.
//
// Both use a map from bytes to their contents (byte_owner_map.h), which answers
// in O(log n), so the check takes O(n log n).  The first fault ends it.
#include <stdlib.h>
#include "verify_plan.h"

Span buffer_span(const Checker *c, int32_t k)
{
    const PlanBuffer *buffer = &c->plan->buffers[k];
    int64_t begin = buffer->offset;
    if (buffer->rows > 0) {
        int64_t start = c->plan->buffers[c->root[k]].offset;
        begin = start + (begin - start) * buffer->rows;
    }
    return (Span){begin, begin + buffer->bytes};
}

static int64_t round_up(int64_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

// ---- ids --------------------------------------------------------------------

// True if all ids are buffers with bytes.
static bool all_there(const int32_t *list, int count, const Plan *plan)
{
    for (int i = 0; i < count; i++)
        if (list[i] < 0 || list[i] >= plan->buffer_count ||
            plan->buffers[list[i]].fused_load)
            return false;
    return true;
}

// Checks that every id is valid; later checks index with them.
static const char *check_names(Checker *c)
{
    const Plan *plan = c->plan;
    int limit = plan->buffer_count;
    for (int i = 0; i < plan->step_count; i++) {
        const PlanStep *step = &plan->steps[i];
        if (!all_there(step->reads, step->read_count, plan) ||
            !all_there(step->writes, step->write_count, plan))
            return arena_print(c->arena, "step %d %s names no buffer", i,
                               step->name);
    }
    for (int k = 0; k < limit; k++) {
        int32_t other = plan->buffers[k].alias_of;
        if (other != NONE && (!all_there(&other, 1, plan) ||
                              plan->buffers[k].fused_load))
            return arena_print(c->arena, "%s aliases no buffer",
                               plan->buffers[k].name);
    }
    return NULL;
}

// Follows every chain of aliases, or of views, to its end; false if one is a
// cycle.  Each link is followed once.
static bool follow(Checker *c, bool views_only, int32_t *ends)
{
    enum { on_path = -2 };
    const PlanBuffer *buffers = c->plan->buffers;
    int32_t *path = NEW_ARRAY(c->arena, c->plan->buffer_count, int32_t);
    for (int k = 0; k < c->plan->buffer_count; k++) ends[k] = NONE;
    for (int32_t k = 0; k < c->plan->buffer_count; k++) {
        int32_t at = k, length = 0;
        while (ends[at] == NONE && buffers[at].alias_of != NONE &&
               (buffers[at].view || !views_only)) {
            ends[at] = on_path;
            path[length++] = at;
            at = buffers[at].alias_of;
        }
        if (ends[at] == on_path) return false;
        if (ends[at] == NONE) ends[at] = at;
        while (length > 0) ends[path[--length]] = ends[at];
    }
    return true;
}

static const char *check_aliases(Checker *c)
{
    if (!follow(c, false, c->root) || !follow(c, true, c->value))
        return "aliases lead in a circle";
    return NULL;
}

// ---- single buffers ---------------------------------------------------------

// Returns the bytes that a shape needs; -1 on overflow.
static int64_t bytes_needed(const PlanBuffer *buffer)
{
    int64_t bytes = dtype_bytes(buffer->dtype);
    for (int i = 0; i < buffer->shape.rank; i++) {
        int64_t dim = buffer->shape.dim[i];
        if (dim < 0 || (dim > 0 && bytes > (INT64_MAX >> 1) / dim)) return -1;
        bytes *= dim;
    }
    return bytes;
}

// A buffer has space for every element and, except workspaces, not much more.
static const char *check_size(Checker *c, const PlanBuffer *buffer)
{
    if (buffer->dtype >= DTYPE_COUNT || buffer->kind >= KIND_COUNT ||
        buffer->shape.rank < 0 || buffer->shape.rank > MAX_RANK)
        return arena_print(c->arena, "%s has no type", buffer->name);
    int64_t needed = bytes_needed(buffer);
    if (needed < 0 || buffer->bytes <= 0 || buffer->bytes < needed)
        return arena_print(c->arena, "%s does not hold its shape",
                           buffer->name);
    if (buffer->kind != WORKSPACE && buffer->bytes - needed > ALIGNMENT)
        return arena_print(c->arena, "%s is larger than its shape",
                           buffer->name);
    return NULL;
}

// The caller's inputs come after the arena.
static const char *check_inside(Checker *c, int k)
{
    const PlanBuffer *buffer = &c->plan->buffers[k];
    const PlanBuffer *root = &c->plan->buffers[c->root[k]];
    bool given = buffer_is_given(root);
    int64_t end = given ? INT64_MAX : c->plan->arena_bytes;
    if (buffer->fused_load)
        return buffer->persistent || buffer->output
                   ? arena_print(c->arena, "%s has no bytes", buffer->name)
                   : NULL;
    if (given && buffer->offset < c->plan->arena_bytes)
        return arena_print(c->arena, "%s is the caller's, but in the arena",
                           buffer->name);
    if (buffer->offset < 0 || buffer->offset > end ||
        buffer->bytes > end - buffer->offset)
        return arena_print(c->arena, "%s is outside the arena", buffer->name);
    if (is_persistent(buffer->kind) && !root->persistent)
        return arena_print(c->arena, "%s is not persistent", buffer->name);
    // A view that no step touches is not printed: readers of the plan see the
    // output mark on the buffer that it aliases.
    if (buffer->output && !c->plan->buffers[c->value[k]].output)
        return arena_print(c->arena, "%s is an output, and its value is not",
                           buffer->name);
    return NULL;
}

// A slice has whole rows, each within a row of the root, so that no span
// overflows.  Slices of a root have equal rows, and a buffer that is no slice
// covers all of the root.  A root that states rows is dense.
static bool is_slice(const Checker *c, int k)
{
    const PlanBuffer *buffer = &c->plan->buffers[k];
    const PlanBuffer *root = &c->plan->buffers[c->root[k]];
    int64_t rows = c->rows[c->root[k]], column = buffer->offset - root->offset;
    if (buffer->rows == 0)
        return rows == 0 || buffer->bytes == root->bytes;
    return buffer->rows == rows &&
           root->bytes % rows == 0 && buffer->bytes % rows == 0 &&
           root->bytes / rows == buffer->stride &&
           column >= 0 && column <= buffer->stride - buffer->bytes / rows;
}

// The rows of a root are those of its slices.
static void find_rows(Checker *c)
{
    for (int k = 0; k < c->plan->buffer_count; k++)
        if (c->plan->buffers[k].rows > 0)
            c->rows[c->root[k]] = c->plan->buffers[k].rows;
}

// A root is aligned; an alias is inside its buffer.
static const char *check_place(Checker *c, int k)
{
    const PlanBuffer *buffer = &c->plan->buffers[k];
    if (buffer->fused_load) return NULL;
    if (buffer->alias_of == NONE) {
        if (buffer->offset % ALIGNMENT != 0)
            return arena_print(c->arena, "%s is not aligned", buffer->name);
        return NULL;
    }
    Span own = buffer_span(c, k), parent = buffer_span(c, buffer->alias_of);
    if (own.begin < parent.begin || own.end > parent.end)
        return arena_print(c->arena, "%s is not inside %s", buffer->name,
                           c->plan->buffers[buffer->alias_of].name);
    return NULL;
}

static const char *check_buffers(Checker *c)
{
    for (int k = 0; k < c->plan->buffer_count; k++) {
        const char *wrong = check_size(c, &c->plan->buffers[k]);
        if (!wrong) wrong = check_inside(c, k);
        if (wrong) return wrong;
    }
    // Only from here on the ends of buffers can't overflow.
    find_rows(c);
    for (int k = 0; k < c->plan->buffer_count; k++)
        if (!is_slice(c, k))
            return arena_print(c->arena, "%s is no slice of %s",
                               c->plan->buffers[k].name,
                               c->plan->buffers[c->root[k]].name);
    for (int k = 0; k < c->plan->buffer_count; k++) {
        const char *wrong = check_place(c, k);
        if (wrong) return wrong;
    }
    return NULL;
}

// ---- lifetimes --------------------------------------------------------------

// An input that is read before it is written was staged before any step.
static void touch(Checker *c, int32_t k, int step, bool read)
{
    const PlanBuffer *buffer = &c->plan->buffers[k];
    if (buffer->persistent) return;
    if (c->first[k] == NONE)
        c->first[k] = read && buffer->kind == INPUT ? 0 : step;
    c->last[k] = step;
}

static void find_touches(Checker *c)
{
    const Plan *plan = c->plan;
    for (int k = 0; k < plan->buffer_count; k++) {
        c->first[k] = c->begin[k] = plan->buffers[k].persistent ? 0 : NONE;
        c->last[k] = c->end[k] = NONE;
    }
    for (int i = 0; i < plan->step_count; i++) {
        const PlanStep *step = &plan->steps[i];
        for (int j = 0; j < step->read_count; j++)
            touch(c, step->reads[j], i, true);
        for (int j = 0; j < step->write_count; j++)
            touch(c, step->writes[j], i, false);
    }
    for (int k = 0; k < plan->buffer_count; k++)
        if (plan->buffers[k].persistent ||
            (plan->buffers[k].output && c->first[k] != NONE))
            c->last[k] = plan->step_count - 1;
}

// The lifetime of a root is the union of those of its aliases.
static void join_roots(Checker *c)
{
    for (int k = 0; k < c->plan->buffer_count; k++) {
        int32_t r = c->root[k];
        if (c->first[k] == NONE) continue;
        if (c->begin[r] == NONE || c->first[k] < c->begin[r])
            c->begin[r] = c->first[k];
        if (c->last[k] > c->end[r]) c->end[r] = c->last[k];
    }
}

// A root must state the union of its aliases' lifetimes, another buffer its
// own, and one that no step touches, its root's; a root must have one.
static const char *check_lives(Checker *c)
{
    find_touches(c);
    join_roots(c);
    for (int k = 0; k < c->plan->buffer_count; k++) {
        const PlanBuffer *buffer = &c->plan->buffers[k];
        if (buffer->fused_load) continue;
        int32_t r = c->root[k];
        bool whole = r == k || c->first[k] == NONE;
        int32_t first = whole ? c->begin[r] : c->first[k];
        int32_t last = whole ? c->end[r] : c->last[k];
        if (first == NONE || buffer->first != first || buffer->last != last)
            return arena_print(c->arena, "%s states a life of %d..%d, is "
                               "alive %d..%d", buffer->name, buffer->first,
                               buffer->last, first, last);
    }
    return NULL;
}

// Steps of a batch come before those of the update, which reads only persistent
// values of a batch, since there may be several batches.
static const char *check_batches(Checker *c)
{
    const Plan *plan = c->plan;
    for (int i = 0; i < plan->step_count && plan->batch_steps != 0; i++) {
        const PlanStep *step = &plan->steps[i];
        bool updates = i >= plan->batch_steps;
        if ((step->phase == UPDATE) != updates)
            return arena_print(c->arena, "%s is not where a batch ends",
                               step->name);
        for (int j = 0; j < step->read_count && updates; j++) {
            int32_t k = step->reads[j];
            if (!plan->buffers[k].persistent &&
                c->first[k] < plan->batch_steps)
                return arena_print(c->arena, "%s reads %s of the last batch "
                                   "alone", step->name, plan->buffers[k].name);
        }
    }
    return NULL;
}

// ---- no overlap -------------------------------------------------------------

ByteMap *plan_byte_map(Checker *c)
{
    int32_t count = c->plan->buffer_count;
    int64_t *addresses = NEW_ARRAY(c->arena, 2 * (size_t)count, int64_t);
    for (int32_t k = 0; k < count; k++) {
        Span span = buffer_span(c, k);
        addresses[2 * k] = span.begin;
        addresses[2 * k + 1] = span.end;
    }
    return byte_map_new(c->arena, addresses, 2 * count);
}

typedef struct Event {
    int32_t step;               // ends are at last + 1, and come first
    bool    begins;
    int32_t buffer;
} Event;

static int compare_events(const void *left, const void *right)
{
    const Event *a = left, *b = right;
    if (a->step != b->step) return a->step < b->step ? -1 : 1;
    if (a->begins != b->begins) return a->begins ? 1 : -1;
    return (a->buffer > b->buffer) - (a->buffer < b->buffer);
}

// Lists events of roots only: aliases share their root's bytes.
static Event *list_events(Checker *c, int32_t *count)
{
    int32_t limit = c->plan->buffer_count;
    Event *events = NEW_ARRAY(c->arena, 2 * (size_t)limit, Event);
    for (int32_t k = 0; k < limit; k++) {
        if (c->root[k] != k || c->plan->buffers[k].fused_load) continue;
        events[(*count)++] = (Event){c->begin[k], true, k};
        events[(*count)++] = (Event){c->end[k] + 1, false, k};
    }
    qsort(events, (size_t)*count, sizeof *events, compare_events);
    return events;
}

// Checks the bound and the arena, which may end in padding.
static const char *check_figures(Checker *c, int64_t most, int64_t top)
{
    if (most != c->plan->max_live_bytes)
        return arena_print(c->arena, "at most %lld bytes are alive, not %lld",
                           (long long)most,
                           (long long)c->plan->max_live_bytes);
    if (round_up(top) != round_up(c->plan->arena_bytes))
        return arena_print(c->arena, "the buffers end at %lld, the arena at "
                           "%lld", (long long)top,
                           (long long)c->plan->arena_bytes);
    return NULL;
}

// Walks the steps with a map of live buffers.
static const char *check_overlap(Checker *c)
{
    const PlanBuffer *buffers = c->plan->buffers;
    int32_t count = 0, other;
    Event *events = list_events(c, &count);
    ByteMap *alive = plan_byte_map(c);
    int64_t live = 0, most = 0, top = 0;
    for (int32_t i = 0; i < count; i++) {
        int32_t k = events[i].buffer;
        int64_t begin = buffers[k].offset, end = begin + buffers[k].bytes;
        int64_t size = round_up(buffers[k].bytes);
        bool given = buffer_is_given(&buffers[k]);
        if (!events[i].begins) {
            byte_map_write(alive, begin, end, NONE);
            if (!given) live -= size;
            continue;
        }
        if (byte_map_differs(alive, begin, end, NONE, &other))
            return arena_print(c->arena, "%s and %s share bytes while both "
                               "are alive", buffers[k].name,
                               buffers[other].name);
        byte_map_write(alive, begin, end, k);
        if (given) continue;
        live += size;
        if (live > most) most = live;
        if (end > top) top = end;
    }
    return check_figures(c, most, top);
}

const char *verify_plan(Arena *arena, const Plan *plan)
{
    static const char *(*const checks[])(Checker *) = {
        check_names, check_aliases, check_buffers,
        check_lives, check_batches, check_overlap, check_replay,
    };
    int32_t count = plan->buffer_count;
    Checker c = {.arena = arena, .plan = plan};
    int32_t **of_each[] = {&c.root, &c.value, &c.first, &c.last, &c.begin,
                           &c.end, &c.writer, &c.before};
    for (size_t i = 0; i < sizeof of_each / sizeof *of_each; i++)
        *of_each[i] = NEW_ARRAY(arena, count, int32_t);
    c.rows = NEW_ARRAY(arena, count, int64_t);
    const char *wrong = NULL;
    for (size_t i = 0; i < sizeof checks / sizeof *checks && !wrong; i++)
        wrong = checks[i](&c);
    return wrong;
}
