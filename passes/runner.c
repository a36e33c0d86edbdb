// The runner: takes a graph through the table of passes.  It alone checks a
// pass's facts, times it, verifies the graph after it and dumps it.  No pass
// runs without it.

#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "decide/decide_remat.h"
#include "decide/decide_gated_grad.h"
#include "decide/decide_grad_add.h"
#include "../ir/base/search_cache.h"
#include "batch_split.h"
#include "decide/decide_horizontal.h"
#include "decide/decide_prologue.h"
#include "decide/decide_round_weights.h"

const char *const checkpoint_names[CHECKPOINT_COUNT] = {
    "auto", "elementwise", "marked", "every", "off",
};

const char *const prefer_names[PREFER_COUNT] = {
    "memory", "balanced", "time",
};

const Pass passes[PASS_COUNT] = {
#define PASS(name, after, needs, gives, optional, decide, summary) \
    {#name, after, needs, gives, optional, decide, summary, pass_##name},
#include "passes.def"
#undef PASS
};

// Names may be written with hyphens.
static bool same_name(const char *name, const char *word, size_t length)
{
    if (strlen(name) != length) return false;
    for (size_t i = 0; i < length; i++)
        if (name[i] != (word[i] == '-' ? '_' : word[i])) return false;
    return true;
}

const Pass *find_pass(const char *name, size_t length)
{
    for (int i = 0; i < PASS_COUNT; i++)
        if (same_name(passes[i].name, name, length)) return &passes[i];
    return NULL;
}

// -O0 enables the required passes only; -O1 and -O2, the default, enable all.
void pass_options_default(PassOptions *o, int level)
{
    memset(o, 0, sizeof *o);
    for (int i = 0; i < PASS_COUNT; i++)
        o->enabled[i] = !passes[i].optional || level >= 1;
    o->prefer = PREFER_BALANCED;
}

bool pass_options_set(PassOptions *o, const char *name, bool on)
{
    const Pass *pass = find_pass(name, strlen(name));
    if (!pass || !pass->optional) return false;
    o->enabled[pass - passes] = on;
    return true;
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void dump(const Graph *g, const PassOptions *o, int number)
{
    const char *name = passes[number].name;
    if (!o->dump || g->diag->file_failed) return;
    if (strcmp(o->dump, "all") && !same_name(name, o->dump, strlen(o->dump)))
        return;
    if (!o->dump_dir) {
        fprintf(stderr, "# %s: after %s\n", mode_names[g->mode], name);
        graph_print(g, stderr);
        return;
    }
    const char *path =
        arena_print(g->arena, "%s/%02d-%s%s%s.ir", o->dump_dir, number + 1,
                    name, g->mode == TRAIN ? "" : ".",
                    g->mode == TRAIN ? "" : mode_names[g->mode]);
    FILE *file = fopen(path, "w");
    if (file) graph_print(g, file);
    bool written = file && !fflush(file) && !ferror(file);
    int why = errno;
    bool closed = file && !fclose(file);
    if (written && closed) return;
    if (!written) errno = why;
    why = errno;
    if (file) remove(path);
    errno = why;
    error(g->diag, (Pos){ .file = NONE }, "can't write '%s': %s", path,
          strerror(errno));
    g->diag->file_failed = true;
}

static ValueId *copy_ids(Arena *arena, const ValueId *ids, int32_t count)
{
    ValueId *copy = NEW_ARRAY(arena, count, ValueId);
    for (int32_t k = 0; k < count; k++) copy[k] = ids[k];
    return copy;
}

// Copies the nodes before the first pass that orders them.  From then on passes
// may only reorder, and the verifier compares the plan with the copy.
static void remember(Graph *g)
{
    Node *written = NEW_ARRAY(g->arena, g->node_count, Node);
    for (NodeId i = 0; i < g->node_count; i++) {
        Node *n = &written[i];
        *n = g->nodes[i];
        n->operands = copy_ids(g->arena, n->operands, n->operand_count);
        n->results = copy_ids(g->arena, n->results, n->result_count);
    }
    g->written = written;
    g->written_count = g->node_count;
}

int pass_at(const PassOptions *o, int place)
{
    return o->order != NULL ? o->order[place] : place;
}

int pass_place(const PassOptions *o, int number)
{
    int place = 0;
    while (pass_at(o, place) != number) place++;
    return place;
}

const char *pass_too_early(const PassOptions *o)
{
    uint32_t ran = 0;
    for (int place = 0; place < PASS_COUNT; place++) {
        int i = pass_at(o, place);
        if ((passes[i].after & ~ran) != 0) return passes[i].name;
        ran |= UINT32_C(1) << i;
    }
    return NULL;
}

static void check_table(void)
{
    const char *early = pass_too_early(&(PassOptions){ .order = NULL });
    if (early != NULL) bug("pass %s runs before one that it is after", early);
}

bool run_pass(Graph *g, const PassOptions *o, int number, bool enabled)
{
    const Pass *pass = &passes[number];
    if ((g->facts & pass->needs) != pass->needs)
        bug("pass %s needs facts %x, the graph has %x", pass->name,
            pass->needs, g->facts);
    if (pass->gives & IS_SCHEDULED) remember(g);
    bool runs = enabled || pass->optional == PLAIN;
    if (runs) pass->run(g, o);
    g->facts |= pass->gives;
    return runs || pass->gives;
}

// A graph read from text may be past a pass: it has the facts of the pass or of
// a later one.
static bool is_past(const Graph *g, const PassOptions *o, int place)
{
    unsigned given = 0;
    for (int k = place; k < PASS_COUNT; k++)
        given |= passes[pass_at(o, k)].gives;
    return g->facts & given;
}

static bool stops_after(const PassOptions *o, const Pass *pass)
{
    return o->stop_after &&
           same_name(pass->name, o->stop_after, strlen(o->stop_after));
}

// Prints the peak and the bound that schedule found, without persistent values.
static void print_order(const Graph *g)
{
    if (g->order_peak == 0) return;
    fprintf(stderr, "%-14s peak %" PRId64, "order", g->order_peak);
    if (g->order_bound == 0)
        fprintf(stderr, ", slices counted as whole\n");
    else
        fprintf(stderr, ", bound %" PRId64 "%s\n", g->order_bound,
                g->order_peak == g->order_bound ? ", optimal" : "");
}

static void print_again(const Graph *g)
{
    if (g->decisions.fit != NULL)
        fprintf(stderr, "%-14s %s\n", "checkpoint", fit_text(g));
}

const char *checkpoint_text(Arena *arena, const Checkpoint *checkpoint)
{
    const char *name = checkpoint_names[checkpoint->kind];
    if (checkpoint->kind != CHECKPOINT_EVERY) return name;
    return arena_print(arena, "%s %" PRId64, name, checkpoint->every);
}

bool has_limit(const PassOptions *o)
{
    return o->budget > 0 || o->smallest;
}

bool searches(const PassOptions *o)
{
    CheckpointKind kind = o->checkpoint.kind;
    return has_limit(o) && o->enabled[PASS_checkpoint] &&
           (kind == CHECKPOINT_AUTO || kind == CHECKPOINT_ELEMENTWISE);
}

bool is_only_named(const Graph *g)
{
    const Fit *fit = g->decisions.fit;
    return fit != NULL && fit->refused && g->node_count > MANY_NODES / 2;
}

static bool run_rows(Graph *g, const PassOptions *o)
{
    verify(g, "the front end");
    double total = 0;
    for (int k = 0; k < PASS_COUNT; k++) {
        int i = pass_at(o, k);
        const Pass *pass = &passes[i];
        if (is_past(g, o, k)) {
            if (stops_after(o, pass)) return false;
            continue;
        }
        double start = seconds();
        PassDecision decision = o->enabled[i] ? PASS_RUNS : PASS_IS_LEFT_OUT;
        if (o->enabled[i] && pass->decide) decision = pass->decide(g, o);
        if (decision == PASSES_STOP) return false;
        bool ran = run_pass(g, o, i, decision == PASS_RUNS);
        double middle = seconds();
        if (ran && (!o->measured || k == PASS_COUNT - 1))
            verify(g, pass->name);
        double end = seconds();
        total += end - start;
        if (o->time)
            fprintf(stderr, "%-14s %8.3f ms, verify %8.3f ms, %d nodes\n",
                    pass->name, 1e3 * (middle - start), 1e3 * (end - middle),
                    g->node_count);
        dump(g, o, i);
        if (stops_after(o, pass)) return false;
    }
    if (o->time) {
        fprintf(stderr, "%-14s %8.3f ms\n", "all passes", 1e3 * total);
        print_order(g);
        print_again(g);
    }
    return true;
}

// Chooses the slices of the batch: by --split, by the graph's own request, or
// by the budget.  False after an error.
static bool find_slices(Graph *g, const PassOptions *o)
{
    bool asked = g->decisions.split_samples > 0;
    if (o->split_samples > 0) {
        g->decisions.split_samples = o->split_samples;
        g->decisions.split_pixels = o->split_pixels;
    }
    if (g->decisions.split_samples > 0 &&
        ceil_div(g->batch, g->decisions.split_samples) > MOST_SLICES) {
        error(g->diag, (Pos){ .file = NONE },
              "%s: slices of %" PRId64 " samples are too many of a batch of %"
              PRId64 ": it falls into %d at most",
              o->split_samples > 0 ? "--split" : "--microbatch",
              g->decisions.split_samples, g->batch, MOST_SLICES);
        return false;
    }
    if (asked && o->split_samples == 0) settle_split(g, o, run_rows);
    else choose_split(g, o, run_rows);
    return true;
}

bool run_passes(Graph *g, const PassOptions *o)
{
    double start = seconds();
    Arena *arena = arena_new();
    check_table();
    // Compile chosen slices by the same short search that measured them.
    PassOptions own = *o;
    if (own.known == NULL) own.known = known_new(arena);
    choose_stored(g, &own, run_rows);
    bool done = find_slices(g, &own);
    if (done && o->time)
        fprintf(stderr, "%-14s %8.3f ms\n", "slices tried",
                1e3 * (seconds() - start));
    own.quick |= g->decisions.split_samples > 0 && o->split_samples == 0;
    done = done && run_rows(g, &own) && check_budget(g, o);
    known_spend(own.known, g->node_count, WORK_GRAPH_NODE);
    arena_free(arena);
    return done;
}
