// Prints the plan: as JSON, which other programs can check, and as MiniMalloc's
// CSV, which other planners can solve.  Names are escaped, though names of the
// language do not need it.
#include <inttypes.h>
#include "../op/cost.h"
#include "../base/json.h"
#include "plan.h"

static const char *truth(bool b)
{
    return b ? "true" : "false";
}

// Prints "name": "text" or null, with a comma: it is never the last member.
static void print_field(const char *name, const char *text, FILE *out)
{
    fprintf(out, "\"%s\": ", name);
    if (text != NULL) json_string(text, out);
    else fputs("null", out);
    fputs(", ", out);
}

// Prints ids; a step touches no buffer that is left out.
static void print_ids(const Plan *plan, const int32_t *ids, int count,
                      FILE *out)
{
    fputc('[', out);
    for (int i = 0; i < count; i++)
        fprintf(out, "%s%" PRId32, i ? ", " : "",
                plan->buffers[ids[i]].printed_id);
    fputc(']', out);
}

// Prints the printed buffer that a buffer aliases, as an id or null.
static void print_alias(const Plan *plan, int32_t k, FILE *out)
{
    while (k != NONE && plan->buffers[k].printed_id == NONE)
        k = plan->buffers[k].alias_of;
    if (k == NONE)
        fputs("null", out);
    else
        fprintf(out, "%" PRId32, plan->buffers[k].printed_id);
}

// Prints a step in one line, so that plans can be compared by line.
static void print_step(const Plan *plan, const PlanStep *step, FILE *out)
{
    fputs("    {", out);
    print_field("op", step->op, out);
    print_field("name", step->name, out);
    if (step->kernel) print_field("kernel", step->kernel, out);
    print_field("phase", phase_names[step->phase], out);
    if (plan->host_bytes > 0 && step->host >= 0)
        fprintf(out, "\"host\": %" PRId64 ", ", step->host);
    fprintf(out, "\"line\": %" PRId32 ", \"flops\": %" PRId64
            ", \"moved_bytes\": %" PRId64 ", \"model_time_ps\": %" PRId64
            ", \"reads\": ", step->line, step->flops, step->moved, step->time);
    print_ids(plan, step->reads, step->read_count, out);
    fputs(", \"writes\": ", out);
    print_ids(plan, step->writes, step->write_count, out);
    fputs(", \"inplace\": [", out);
    for (int i = 0; i < step->in_place_count; i++) {
        if (i) fputs(", ", out);
        print_ids(plan, step->in_place[i], 2, out);
    }
    fputs("]}", out);
}

static void print_shape(Shape shape, FILE *out)
{
    fputs("\"shape\": [", out);
    for (int i = 0; i < shape.rank; i++)
        fprintf(out, "%s%" PRId64, i ? ", " : "", shape.dim[i]);
    fputs("], ", out);
}

// Prints a buffer in one line; first and last are steps, inclusive.
static void print_buffer(const Plan *plan, const PlanBuffer *buffer,
                         FILE *out)
{
    fprintf(out, "    {\"id\": %" PRId32 ", ", buffer->printed_id);
    print_field("name", buffer->name, out);
    print_field("kind", kind_names[buffer->kind], out);
    print_field("dtype", dtype_names[buffer->dtype], out);
    print_shape(buffer->shape, out);
    fprintf(out, "\"bytes\": %" PRId64 ", \"offset\": %" PRId64 ", ",
            buffer->bytes, buffer->offset);
    fprintf(out, "\"first\": %" PRId32 ", \"last\": %" PRId32 ", ",
            buffer->first, buffer->last);
    fprintf(out, "\"persistent\": %s, \"output\": %s, \"view\": %s, ",
            truth(buffer->persistent), truth(buffer->output),
            truth(buffer->view));
    fputs("\"alias_of\": ", out);
    print_alias(plan, buffer->alias_of, out);
    if (buffer->rows > 0)
        fprintf(out, ", \"rows\": %" PRId64 ", \"stride\": %" PRId64,
                buffer->rows, buffer->stride);
    fprintf(out, ", \"line\": %" PRId32 "}", buffer->line);
}

// Prints the total costs of all steps, in the model of the plan's GPU.
static void print_costs(const Plan *plan, FILE *out)
{
    int64_t flops = 0, moved = 0, time = plan->waiting, recomputed = 0;
    for (int i = 0; i < plan->step_count; i++) {
        const PlanStep *step = &plan->steps[i];
        flops = capped_sum(flops, step->flops);
        moved = capped_sum(moved, step->moved);
        time = capped_sum(time, step->time);
        recomputed += step->phase == RECOMPUTE;
    }
    fputs("  ", out);
    print_field("precision", plan->precision, out);
    print_field("gpu", plan->gpu, out);
    if (plan->budget > 0)
        fprintf(out, "\"budget_bytes\": %" PRId64 ",\n", plan->budget);
    else
        fputs("\"budget_bytes\": null,\n", out);
    fprintf(out, "  \"model_time_ps\": %" PRId64 ", \"copy_wait_ps\": %" PRId64
            ",\n", time, plan->waiting);
    fprintf(out, "  \"flops\": %" PRId64 ", \"moved_bytes\": %" PRId64
            ", \"recomputed_steps\": %" PRId64 ",\n", flops, moved, recomputed);
}

// Prints the numbers of the plan, then all steps, then all buffers.
void plan_print_json(const Plan *plan, FILE *out)
{
    fputs("{\n  \"schema\": 1,\n  ", out);
    print_field("net", plan->net, out);
    print_field("mode", mode_names[plan->mode], out);
    fprintf(out, "\"batch\": %" PRId64 ",\n", plan->batch);
    fprintf(out, "  \"alignment\": %d,\n", ALIGNMENT);
    fprintf(out, "  \"arena_bytes\": %" PRId64 ",\n", plan->arena_bytes);
    fprintf(out, "  \"state_bytes\": %" PRId64 ",\n", plan->state_bytes);
    fprintf(out, "  \"max_live_bytes\": %" PRId64 ",\n", plan->max_live_bytes);
    if (plan->host_bytes > 0)
        fprintf(out, "  \"host_bytes\": %" PRId64 ",\n", plan->host_bytes);
    if (plan->batch_steps > 0)
        fprintf(out, "  \"batch_steps\": %d,\n", plan->batch_steps);
    print_costs(plan, out);
    fputs("  \"steps\": [\n", out);
    for (int i = 0; i < plan->step_count; i++) {
        print_step(plan, &plan->steps[i], out);
        fputs(i + 1 < plan->step_count ? ",\n" : "\n", out);
    }
    fputs("  ],\n  \"buffers\": [\n", out);
    bool first = true;
    for (int k = 0; k < plan->buffer_count; k++) {
        if (plan->buffers[k].printed_id == NONE) continue;
        if (!first) fputs(",\n", out);
        print_buffer(plan, &plan->buffers[k], out);
        first = false;
    }
    fputs("\n  ]\n}\n", out);
}

// Prints the buffers that alias no other, with padded sizes; upper is
// exclusive.
void plan_print_csv(const Plan *plan, FILE *out)
{
    fputs("id,lower,upper,size,offset\n", out);
    for (int k = 0; k < plan->buffer_count; k++) {
        const PlanBuffer *buffer = &plan->buffers[k];
        if (buffer->alias_of != NONE || buffer->first == NONE ||
            buffer_is_given(buffer))
            continue;
        int64_t size = padded(buffer->bytes);
        fprintf(out, "%" PRId32 ",%" PRId32 ",%" PRId32, buffer->printed_id,
                buffer->first, buffer->last + 1);
        fprintf(out, ",%" PRId64 ",%" PRId64 "\n", size, buffer->offset);
    }
}
