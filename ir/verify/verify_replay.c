// Replays the steps of a plan over a map of the value that each byte holds.
// Parameters, state and inputs are present from the start; a view holds the
// value that it views.  A value is written once, at once or in parts.  Only a
// step that also reads it, an update, may write it again.
#include "verify_plan.h"

static bool has(const int32_t *list, int count, int32_t k)
{
    for (int i = 0; i < count; i++)
        if (list[i] == k) return true;
    return false;
}

// An overwrite covers all bytes: a part would mix two values.
static bool same_bytes(const Checker *c, int32_t k, int32_t other)
{
    Span a = buffer_span(c, k), b = buffer_span(c, other);
    return a.begin == b.begin && a.end == b.end;
}

static bool overlap(const Checker *c, int32_t k, int32_t other)
{
    Span a = buffer_span(c, k), b = buffer_span(c, other);
    return a.begin < b.end && b.begin < a.end;
}

// True if a part of buffer k's value was written to its bytes before; parts of
// a value are compared with each other.
static bool was_written(const Checker *c, int32_t k)
{
    int32_t part = c->writer[c->value[k]];
    while (part != NONE && !overlap(c, k, part)) part = c->before[part];
    return part != NONE;
}

static bool is_said(const PlanStep *step, int32_t written, int32_t read)
{
    for (int i = 0; i < step->in_place_count; i++)
        if (step->in_place[i][0] == written && step->in_place[i][1] == read)
            return true;
    return false;
}

// A declared overwrite is of a value written here over another value read here,
// with the same bytes.
static const char *check_said(Checker *c, const PlanStep *step)
{
    for (int i = 0; i < step->in_place_count; i++) {
        int32_t written = step->in_place[i][0], read = step->in_place[i][1];
        if (!has(step->writes, step->write_count, written) ||
            !has(step->reads, step->read_count, read) ||
            c->value[written] == c->value[read] ||
            !same_bytes(c, written, read))
            return arena_print(c->arena, "%s: a declared overwrite is wrong",
                               step->name);
    }
    return NULL;
}

// Write i of a step may overlap neither other writes nor reads of another
// value, unless the overwrite is declared.
static const char *check_write(Checker *c, const PlanStep *step, int i)
{
    const PlanBuffer *buffers = c->plan->buffers;
    int32_t k = step->writes[i];
    for (int j = 0; j < i; j++)
        if (overlap(c, k, step->writes[j]))
            return arena_print(c->arena, "%s writes %s and %s to the same "
                               "bytes", step->name, buffers[k].name,
                               buffers[step->writes[j]].name);
    bool reads_it = false;
    for (int j = 0; j < step->read_count; j++) {
        int32_t read = step->reads[j];
        if (c->value[read] == c->value[k])
            reads_it = true;
        else if (overlap(c, k, read) && !is_said(step, k, read))
            return arena_print(c->arena, "%s writes %s over %s, which it "
                               "reads, without declaring it", step->name,
                               buffers[k].name, buffers[read].name);
    }
    if (!reads_it && was_written(c, k))
        return arena_print(c->arena, "%s writes %s again without reading it",
                           step->name, buffers[k].name);
    return NULL;
}

// Checks that buffer k holds its own value in every byte.
static const char *check_held(Checker *c, const ByteMap *memory,
                              const char *reader, int32_t k)
{
    const PlanBuffer *buffers = c->plan->buffers;
    Span span = buffer_span(c, k);
    int32_t other;
    if (!byte_map_differs(memory, span.begin, span.end, c->value[k], &other))
        return NULL;
    return arena_print(c->arena, "%s needs %s, whose bytes hold %s", reader,
                       buffers[k].name,
                       other == NONE ? "nothing" : buffers[other].name);
}

// Sets the bytes of buffer k to its value.  A whole is listed even if its parts
// are, since it covers others too.
static void hold(Checker *c, ByteMap *memory, int32_t k)
{
    Span span = buffer_span(c, k);
    byte_map_write(memory, span.begin, span.end, c->value[k]);
    int32_t part = c->writer[c->value[k]];
    while (part != NONE && part != k) part = c->before[part];
    if (part == k) return;
    c->before[k] = c->writer[c->value[k]];
    c->writer[c->value[k]] = k;
}

// Reads precede writes, as in a launch.
static const char *replay_step(Checker *c, ByteMap *memory,
                               const PlanStep *step)
{
    const char *wrong = check_said(c, step);
    for (int j = 0; j < step->read_count && !wrong; j++)
        wrong = check_held(c, memory, step->name, step->reads[j]);
    for (int j = 0; j < step->write_count && !wrong; j++)
        wrong = check_write(c, step, j);
    for (int j = 0; j < step->write_count && !wrong; j++)
        hold(c, memory, step->writes[j]);
    return wrong;
}

// Checks all steps, from the initial contents to the final ones.
const char *check_replay(Checker *c)
{
    const Plan *plan = c->plan;
    ByteMap *memory = plan_byte_map(c);
    const char *wrong = NULL;
    for (int k = 0; k < plan->buffer_count; k++)
        c->writer[k] = c->before[k] = NONE;
    for (int k = 0; k < plan->buffer_count; k++)
        if (plan->buffers[k].persistent || plan->buffers[k].kind == INPUT)
            hold(c, memory, k);
    for (int i = 0; i < plan->step_count && !wrong; i++)
        wrong = replay_step(c, memory, &plan->steps[i]);
    for (int k = 0; k < plan->buffer_count && !wrong; k++)
        if (plan->buffers[k].persistent || plan->buffers[k].output)
            wrong = check_held(c, memory, "the end", k);
    return wrong;
}
