// Prints the plan as a trace, which Perfetto and chrome://tracing show.  The
// format is the Trace Event Format of Chromium: X is an event with a duration,
// C a counter, M a name; times are in microseconds.  Perfetto counts in whole
// nanoseconds, and drops a launch that begins before the end of another.  So
// begin and end of each are rounded, and not its duration.
#include <inttypes.h>
#include "../op/cost.h"
#include "../base/json.h"
#include "plan.h"

// Rounds picoseconds down to nanoseconds.
static int64_t nanoseconds(int64_t time)
{
    return time / 1000;
}

// Prints nanoseconds as microseconds.
static void print_time(const char *name, int64_t time, FILE *out)
{
    fprintf(out, "\"%s\": %" PRId64 ".%03" PRId64, name, time / 1000,
            time % 1000);
}

static void print_text(const char *name, const char *text, FILE *out)
{
    fprintf(out, "\"%s\": ", name);
    json_string(text, out);
}

// Prints a launch that begins at this time.
static void print_launch(const PlanStep *step, int number, int64_t begin,
                         FILE *out)
{
    fputs("    {\"ph\": \"X\", \"pid\": 1, \"tid\": 1, ", out);
    int64_t end = capped_sum(begin, step->time);
    print_time("ts", nanoseconds(begin), out);
    fputs(", ", out);
    print_time("dur", nanoseconds(end) - nanoseconds(begin), out);
    fputs(", ", out);
    print_text("name", step->name, out);
    fprintf(out, ", \"cat\": \"%s\", \"args\": {\"step\": %d, ",
            phase_names[step->phase], number);
    print_text("op", step->op, out);
    if (step->kernel != NULL) {
        fputs(", ", out);
        print_text("kernel", step->kernel, out);
    }
    fprintf(out, ", \"phase\": \"%s\", \"line\": %" PRId32
            ", \"model_time_ps\": %" PRId64 ", \"moved_bytes\": %" PRId64
            ", \"flops\": %" PRId64, phase_names[step->phase], step->line,
            step->time, step->moved, step->flops);
    for (int i = 0; i < step->more_count; i++) {
        fputs(i ? ", " : ", \"also\": [", out);
        json_string(step->more[i], out);
    }
    fputs(step->more_count > 0 ? "]}},\n" : "}},\n", out);
}

static void print_counter(int64_t begin, int64_t bytes, FILE *out)
{
    fputs("    {\"ph\": \"C\", \"pid\": 1, ", out);
    print_time("ts", nanoseconds(begin), out);
    fprintf(out, ", \"name\": \"arena\", \"args\": {\"live bytes\": %" PRId64
            "}}", bytes);
}

// A saturated time ends the sum, as it does in a plan's.
void plan_print_trace(Arena *arena, const Plan *plan, FILE *out)
{
    const int64_t *live = plan_live(arena, plan);
    int64_t now = 0;
    fputs("{\n  \"displayTimeUnit\": \"ns\",\n  \"otherData\": {", out);
    print_text("net", plan->net, out);
    fprintf(out, ", \"mode\": \"%s\", \"batch\": %" PRId64 ", ",
            mode_names[plan->mode], plan->batch);
    print_text("precision", plan->precision, out);
    fputs(", ", out);
    print_text("gpu", plan->gpu, out);
    fprintf(out, ", \"arena_bytes\": %" PRId64 ", \"max_live_bytes\": %" PRId64
            "},\n  \"traceEvents\": [\n", plan->arena_bytes,
            plan->max_live_bytes);
    fputs("    {\"ph\": \"M\", \"pid\": 1, \"name\": \"process_name\", "
          "\"args\": {", out);
    print_text("name", plan->net, out);
    fputs("}},\n    {\"ph\": \"M\", \"pid\": 1, \"tid\": 1, \"name\": "
          "\"thread_name\", \"args\": {\"name\": \"launches, modelled\"}},\n",
          out);
    for (int i = 0; i < plan->step_count; i++) {
        print_launch(&plan->steps[i], i, now, out);
        print_counter(now, live[i], out);
        fputs(",\n", out);
        now = capped_sum(now, plan->steps[i].time);
    }
    print_counter(now, plan->state_bytes, out);
    fputs("\n  ]\n}\n", out);
}
