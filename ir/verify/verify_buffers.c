// Checks a plan's buffers against the values of the graph:
//
//   - there is a buffer for each value, of its type, shape and kind, aliased as
//     the value is; slices only where launches accept them;
//   - the state is a packed prefix, in the order of state files.
#include <string.h>
#include "verify_program.h"

// True if the buffer matches value v.  A view of an input may be an input, and
// a buffer under an output may be marked as output.
static bool is_value(const Against *a, ValueId v, const PlanBuffer *buffer)
{
    const Graph *g = a->g;
    const Value *value = &g->values[v];
    bool view = a->within[v].whole != NONE;
    return strcmp(buffer->name, value->name) == 0 &&
           (buffer->kind == value->kind || (view && buffer->kind == INPUT)) &&
           buffer->dtype == value->dtype &&
           same_shape(buffer->shape, value->shape) &&
           buffer->persistent == value->persistent &&
           (buffer->output || !value->output) && buffer->view == view &&
           buffer->fused_load == !is_stored(g, v);
}

static const char *check_values(Against *a)
{
    if (a->plan->buffer_count != a->g->value_count)
        return arena_print(a->arena, "%d buffers for %d values",
                           a->plan->buffer_count, (int)a->g->value_count);
    for (ValueId v = 0; v < a->g->value_count; v++)
        if (!is_value(a, v, &a->plan->buffers[v]))
            return arena_print(a->arena, "%s differs from the program",
                               a->g->values[v].name);
    return NULL;
}

// An alias has the offset and the rows of its value.
static const char *check_names(Against *a)
{
    const PlanBuffer *buffers = a->plan->buffers;
    for (ValueId v = 0; v < a->g->value_count; v++) {
        Within within = a->within[v];
        if (within.whole == NONE) continue;
        const PlanBuffer *whole = &buffers[within.whole];
        if (buffers[v].offset - within.start != whole->offset ||
            buffers[v].rows != (within.rows > 0 ? within.rows : whole->rows))
            return arena_print(a->arena, "%s does not alias %s as in the "
                               "program", buffers[v].name, whole->name);
    }
    return NULL;
}

// Only launches that accept slices touch one.
static const char *check_slices(Against *a)
{
    const Sliceable *may = values_sliceable(a->g, a->nodes, a->count);
    for (ValueId v = 0; v < a->g->value_count; v++)
        if (a->plan->buffers[v].rows > 0 &&
            !may_have_rows(may[v], a->plan->buffers[v].rows))
            return arena_print(a->arena, "%s is a slice, which not all its "
                               "launches accept", a->g->values[v].name);
    return NULL;
}

// True if a buffer of the state begins where the previous one ends.
static bool follows(const PlanBuffer *buffer, int64_t *end)
{
    if (buffer->offset != *end) return false;
    *end += padded(buffer->bytes);
    return true;
}

// The state has the header, then the values of inference, then the rest.
static const char *check_state(Against *a)
{
    const Graph *g = a->g;
    const PlanBuffer *buffers = a->plan->buffers;
    int64_t end = 0;
    bool in_order = follows(&buffers[g->header], &end);
    for (Kind kind = PARAM; kind <= STATE; kind++)
        for (ValueId v = 0; v < g->value_count && in_order; v++)
            if (g->values[v].kind == kind && v != g->header)
                in_order = follows(&buffers[v], &end);
    if (in_order && end == a->plan->state_bytes) return NULL;
    return "the state is not laid out as its files are";
}

const char *check_buffers(Against *a)
{
    static const char *(*const checks[])(Against *) = {
        check_values, check_names, check_slices, check_state,
    };
    const char *wrong = NULL;
    for (size_t i = 0; i < sizeof checks / sizeof *checks && !wrong; i++)
        wrong = checks[i](a);
    return wrong;
}
