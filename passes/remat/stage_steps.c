// Finds the steps of a stage's runs from their end: a step runs if a result is
// wanted, and then its operands are wanted.  Bytes are counted from the end,
// too.  Values that are made once count as 0.  Peaks are computed with and
// without the run's input, which may die in the run.
#include "../../ir/base/sizes.h"
#include "stage_steps.h"

// ---- one stage --------------------------------------------------------------

RematRuns remat_runs_new(Arena *arena, const RematStages *s)
{
    size_t count = (size_t)s->r->value_count + 1;
    RematRuns g = {.arena = arena, .s = s, .input = NO_VALUE,
                   .output = NO_VALUE};
    g.scan = remat_scan_new(arena, &s->counted);
    g.own = NEW_ARRAY(arena, count, bool);
    g.there = NEW_ARRAY(arena, count, bool);
    g.keep = NEW_ARRAY(arena, count, bool);
    g.wanted = NEW_ARRAY(arena, count, bool);
    g.wish = NEW_ARRAY(arena, count, int32_t);
    g.value = NEW_ARRAY(arena, count, int32_t);
    g.passing = NEW_ARRAY(arena, count, int32_t);
    return g;
}

static void set_own(RematRuns *g)
{
    const RematStages *s = g->s;
    const Remat *r = s->r;
    for (int32_t k = 0; k < g->value_count; k++) {
        int32_t v = g->value[k];
        g->own[v] = g->there[v] = g->keep[v] = g->wanted[v] = false;
    }
    g->value_count = 0;
    for (int32_t k = r->makes[s->forward[g->stage]];
         k < r->makes[s->forward[g->stage + 1]]; k++) {
        int32_t v = r->make[k];
        if (s->once[v] || g->own[v]) continue;
        g->own[v] = true;
        g->value[g->value_count++] = v;
    }
}

static void set_passing(RematRuns *g)
{
    const RematStages *s = g->s;
    const Remat *r = s->r;
    int32_t at = s->backward[g->stage];
    g->passing_count = 0;
    for (int32_t v = 0; v < r->value_count; v++) {
        if (s->once[v] || r->makers[v] == r->makers[v + 1]) continue;
        int32_t made = r->maker[r->makers[v]];
        if (made >= r->backward_start && made < at && s->last_reader[v] >= at)
            g->passing[g->passing_count++] = v;
    }
}

void remat_runs_of(RematRuns *g, int32_t stage)
{
    const RematStages *s = g->s;
    g->stage = stage;
    g->input = stage > 0 ? s->output[stage - 1] : NO_VALUE;
    g->output = stage < s->count - 1 ? s->output[stage] : NO_VALUE;
    set_own(g);
    set_passing(g);
}

// ---- lists of steps ---------------------------------------------------------

static void append(RematRuns *g, int32_t step)
{
    g->list.step = arena_grow(g->arena, g->list.step, &g->list_capacity,
                              (int64_t)g->list.count + 1, sizeof(int32_t));
    g->list.step[g->list.count++] = step;
}

static RematList take_list(RematRuns *g)
{
    RematList list = {g->list.count,
                      NEW_ARRAY(g->arena, (size_t)g->list.count + 1, int32_t)};
    for (int32_t i = 0; i < list.count; i++) list.step[i] = g->list.step[i];
    g->list.count = 0;
    return list;
}

int64_t remat_list_cost(const Remat *r, const RematList *list)
{
    int64_t cost = 0;
    for (int32_t i = 0; i < list->count; i++) cost += r->cost[list->step[i]];
    return cost;
}

// The steps from the first to the last that make a wanted value.
typedef struct Span {
    int32_t first, last;
} Span;

static const Span no_steps = {INT32_MAX, -1};

// Wants an own value.
static void want(RematRuns *g, int32_t v, Span *span)
{
    const Remat *r = g->s->r;
    if (g->wanted[v]) return;
    g->wanted[v] = true;
    g->wish[g->wish_count++] = v;
    int32_t first = r->maker[r->makers[v]];
    int32_t last = r->maker[r->makers[v + 1] - 1];
    if (first < span->first) span->first = first;
    if (last > span->last) span->last = last;
}

static bool makes_wanted(const RematRuns *g, int32_t step)
{
    const Remat *r = g->s->r;
    for (int32_t k = r->makes[step]; k < r->makes[step + 1]; k++)
        if (g->wanted[r->make[k]]) return true;
    return false;
}

// Appends the stage's steps that make the wanted values from existing ones, and
// marks the values as existing.  The span grows with the operands that are
// wanted too.
static void make_wanted(RematRuns *g, Span span)
{
    const Remat *r = g->s->r;
    int32_t low = g->s->forward[g->stage], high = g->s->forward[g->stage + 1];
    int32_t begin = g->list.count;
    if (span.last >= high) span.last = high - 1;
    for (int32_t i = span.last; i >= span.first && i >= low; i--) {
        g->looks++;
        if (!makes_wanted(g, i)) continue;
        append(g, i);
        for (int32_t k = r->reads[i]; k < r->reads[i + 1]; k++)
            if (g->own[r->read[k]] && !g->there[r->read[k]])
                want(g, r->read[k], &span);
    }
    int32_t *step = g->list.step;
    for (int32_t i = begin, j = g->list.count - 1; i < j; i++, j--) {
        int32_t other = step[i];
        step[i] = step[j];
        step[j] = other;
    }
    for (; g->wish_count > 0; g->wish_count--) {
        g->there[g->wish[g->wish_count - 1]] = true;
        g->wanted[g->wish[g->wish_count - 1]] = false;
    }
}

RematList remat_runs_all(RematRuns *g)
{
    const RematStages *s = g->s;
    for (int32_t i = s->forward[g->stage]; i < s->forward[g->stage + 1]; i++)
        append(g, i);
    return take_list(g);
}

RematList remat_runs_forward(RematRuns *g, bool output, bool kept)
{
    Span span = no_steps;
    for (int32_t k = 0; k < g->value_count; k++) {
        int32_t v = g->value[k];
        g->there[v] = false;
        if ((v == g->output && output) || (kept && g->keep[v]))
            want(g, v, &span);
    }
    make_wanted(g, span);
    return take_list(g);
}

// Appends the stage's backward steps, each after the steps that recompute its
// operands.
static void append_backward(RematRuns *g)
{
    const RematStages *s = g->s;
    const Remat *r = s->r;
    for (int32_t k = 0; k < g->value_count; k++) {
        int32_t v = g->value[k];
        g->there[v] = g->keep[v];
    }
    for (int32_t i = s->backward[g->stage + 1]; i < s->backward[g->stage];
         i++) {
        Span span = no_steps;
        g->looks++;
        for (int32_t k = r->reads[i]; k < r->reads[i + 1]; k++) {
            int32_t v = r->read[k];
            if (g->own[v] && !g->there[v]) want(g, v, &span);
        }
        if (g->wish_count > 0) make_wanted(g, span);
        append(g, i);
    }
}

RematList remat_runs_backward(RematRuns *g)
{
    append_backward(g);
    return take_list(g);
}

int64_t remat_backward_cost(RematRuns *g)
{
    append_backward(g);
    int64_t cost = remat_list_cost(g->s->r, &g->list);
    g->list.count = 0;
    return cost;
}

RematList remat_runs_joined(RematRuns *g, const RematList *a,
                            const RematList *b)
{
    for (int32_t i = 0; i < a->count; i++) append(g, a->step[i]);
    for (int32_t i = 0; i < b->count; i++) append(g, b->step[i]);
    return take_list(g);
}

bool remat_list_reads(const Remat *r, const RematList *list, int32_t v)
{
    for (int32_t i = 0; i < list->count; i++)
        for (int32_t k = r->reads[list->step[i]];
             k < r->reads[list->step[i] + 1]; k++)
            if (r->read[k] == v) return true;
    return false;
}

// ---- bytes ------------------------------------------------------------------

static void need_left(RematRuns *g, RematLeft left)
{
    for (int32_t k = 0; k < g->value_count; k++) {
        int32_t v = g->value[k];
        if ((v == g->output && left.output) || (left.kept && g->keep[v]))
            remat_scan_need(&g->scan, v);
    }
    for (int32_t k = 0; left.gradient && k < g->passing_count; k++)
        remat_scan_need(&g->scan, g->passing[k]);
}

// Resets liveness after a list of steps.
static void forget(RematRuns *g, const RematList *list)
{
    const Remat *r = g->s->r;
    for (int32_t i = 0; i < list->count; i++) {
        int32_t step = list->step[i];
        for (int32_t k = r->reads[step]; k < r->reads[step + 1]; k++)
            g->scan.value[r->read[k]].needed = false;
        for (int32_t k = r->makes[step]; k < r->makes[step + 1]; k++)
            g->scan.value[r->make[k]].needed = false;
    }
    for (int32_t k = 0; k < g->value_count; k++)
        g->scan.value[g->value[k]].needed = false;
    for (int32_t k = 0; k < g->passing_count; k++)
        g->scan.value[g->passing[k]].needed = false;
    g->scan.alive = 0;
}

// Returns the peak of a run, including the values alive at its ends; the input
// is alive at its start.
static int64_t run_bytes(RematRuns *g, const RematList *list, RematLeft left)
{
    need_left(g, left);
    int64_t most = g->scan.alive;
    for (int32_t i = list->count - 1; i >= 0; i--)
        most = larger(most, remat_scan_step(&g->scan, list->step[i]));
    if (g->input != NO_VALUE) remat_scan_need(&g->scan, g->input);
    most = larger(most, g->scan.alive);
    forget(g, list);
    if (g->input != NO_VALUE) g->scan.value[g->input].needed = false;
    return most;
}

ChainPeak remat_runs_peak(RematRuns *g, const RematList *list, RematLeft left)
{
    ChainPeak peak = {.last = run_bytes(g, list, left)};
    if (g->input == NO_VALUE) {
        peak.held = peak.last;
        return peak;
    }
    int64_t *bytes = &g->scan.value[g->input].bytes, input = *bytes;
    *bytes = 0;
    peak.held = run_bytes(g, list, left);
    *bytes = input;
    return peak;
}
