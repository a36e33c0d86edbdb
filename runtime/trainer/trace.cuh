// A trace of training steps, with the time that each launch took, for Perfetto and
// chrome://tracing.  Only programs of cnnc --main --trace mark their launches.
#pragma once
#include "evaluate.cuh"

// RunTrace: a trace that is being written.  The file's stream is NULL before and after it.
struct RunTrace {
    BesideFile file;
    long long first, last;      // training steps, from 1; 0: none
    double begun;               // when the first of them began
};

// Parses --trace-steps, N or FIRST..LAST; by default 2..4, since the first training step is slower.
// The run has taken `taken` training steps and ends after step `end`.
static inline bool plan_trace(const Trainer *t, uint64_t taken, uint64_t end, RunTrace *trace)
{
    const char *path = t->option[OPTION_TRACE], *text = t->option[OPTION_TRACE_STEPS];
    if (!path) return true;
    if (!t->net->launches)
        return complain("--trace %s: wanted a program of cnnc --main --trace, whose launches can "
                        "be timed", path);
    char *at = NULL;
    trace->first = strtoll(text ? text : "2", &at, 10);
    trace->last = text ? trace->first : 4;
    bool good = !text || at != text;
    if (text && good && !strncmp(at, "..", 2)) {
        const char *from = at + 2;
        trace->last = strtoll(from, &at, 10);
        good = at != from;
    }
    if (!good || *at || trace->first < 1 || trace->last < trace->first)
        return complain("--trace-steps %s: wanted training steps from 1, such as 2..4", text);
    return ((uint64_t)trace->first > taken && (uint64_t)trace->last <= end) ||
           complain("--trace %s: wanted training steps %lld to %lld, and this run takes %llu to "
                    "%llu", path, trace->first, trace->last, (unsigned long long)taken + 1,
                    (unsigned long long)end);
}

static inline bool is_traced(const RunTrace *trace, uint64_t step)
{
    return (uint64_t)trace->first <= step && step <= (uint64_t)trace->last;
}

// Begins a training step that is traced, and the file before the first one.
static inline bool begin_traced(const Trainer *t, uint64_t step, RunTrace *trace)
{
    const Net *net = t->net;
    LaunchMarks *m = net->marks;
    m->on = true;
    m->count = 0;
    if (trace->file.out) return true;
    trace->begun = clock_seconds();
    if (!open_beside(t->option[OPTION_TRACE], &trace->file)) return false;
    fprintf(trace->file.out,
            "{\n\"displayTimeUnit\": \"ns\",\n\"otherData\": {\"net\": \"%s\", \"batch\": %d, "
            "\"first_step\": %llu, \"arena_bytes\": %zu},\n\"traceEvents\": [\n"
            "{\"ph\": \"M\", \"pid\": 1, \"name\": \"process_name\", \"args\": {\"name\": \"%s\"}},"
            "\n{\"ph\": \"M\", \"pid\": 1, \"tid\": 1, \"name\": \"thread_name\", \"args\": "
            "{\"name\": \"launches, measured\"}}", net->name, net->batch, (unsigned long long)step,
            net->arena_bytes, net->name);
    return true;
}

// Ends a traced training step: waits for the device and writes the step's events.  The host's clock
// places the steps, and the device's the launches of each.  `begun` is when the step began.
static inline bool end_traced(const Trainer *t, uint64_t step, double begun, RunTrace *trace)
{
    const Net *net = t->net;
    LaunchMarks *m = net->marks;
    FILE *out = trace->file.out;
    const double origin = 1e6 * (begun - trace->begun);
    m->on = false;
    cudaError_t error = cudaStreamSynchronize(*net->stream);
    for (int i = 0; i + 1 < m->count && error == cudaSuccess; i += 2) {
        float begin = 0, end = 0;
        const NetLaunch *l = &net->launches[m->step[i]];
        error = cudaEventElapsedTime(&begin, m->event[0], m->event[i]);
        if (error == cudaSuccess) error = cudaEventElapsedTime(&end, m->event[0], m->event[i + 1]);
        // Perfetto counts whole nanoseconds, and drops a launch that begins before another's end.
        const double from = round(1e3 * (origin + 1e3 * (double)begin)) / 1e3;
        const double to = round(1e3 * (origin + 1e3 * (double)end)) / 1e3;
        fprintf(out, ",\n{\"ph\": \"C\", \"pid\": 1, \"ts\": %.3f, \"name\": \"arena\", \"args\": "
                "{\"live bytes\": %lld}}", from, l->live_bytes);
        fprintf(out, ",\n{\"ph\": \"X\", \"pid\": 1, \"tid\": 1, \"ts\": %.3f, \"dur\": %.3f, "
                "\"name\": \"%s\", \"cat\": \"%s\", \"args\": {\"training_step\": %llu, \"step\": "
                "%d, \"phase\": \"%s\", \"line\": %d, \"moved_bytes\": %lld, \"flops\": %lld}}",
                from, to - from, l->name, l->phase, (unsigned long long)step, m->step[i], l->phase,
                l->line, l->moved_bytes, l->flops);
    }
    if (error != cudaSuccess)
        return complain("--trace: the times can't be read: %s", cudaGetErrorString(error));
    if (step < (uint64_t)trace->last) return true;
    fprintf(out, "\n]\n}\n");
    if (!close_beside(&trace->file, true)) return false;
    return printf("training steps %lld to %lld are in %s\n", trace->first, trace->last,
                  t->option[OPTION_TRACE]) > 0;
}

// Drops the trace of a run that ended before its last step, and destroys the events.
static inline bool drop_trace(const Trainer *t, RunTrace *trace)
{
    bool good = true;
    for (int i = 0; t->net->marks && i < t->net->marks->room; i++)
        good = cudaEventDestroy(t->net->marks->event[i]) == cudaSuccess && good;
    if (t->net->marks) {
        free(t->net->marks->event);
        free(t->net->marks->step);
        *t->net->marks = {};
    }
    if (trace->file.out) {
        drop_beside(&trace->file);
        give_warning("--trace %s: the run ended before training step %lld: nothing is written",
                     t->option[OPTION_TRACE], trace->last);
    }
    return good || complain("--trace: an event can't be destroyed");
}
