// The runner: takes a graph through the table of passes.  It alone checks that
// what a pass needs holds, times it, verifies the graph after it and dumps it;
// passes do none of that, and none can be run without it.

#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "decide/decide_remat.h"
#include "decide/decide_gated_grad.h"
#include "offload/host_copies.h"
#include "../ir/base/search_cache.h"
#include "remat/user_checkpoints.h"
#include "remat/remat_schedule.h"
#include "batch_split.h"
#include "placement/arena_estimate.h"
#include "decide/decide_horizontal.h"

#define PASS(name, needs, gives, breaks, optional, what) \
    void pass_##name(Graph *g);
#include "passes.def"
#undef PASS

const char *const checkpoint_names[CHECKPOINT_COUNT] = {
    "auto", "elementwise", "marked", "every", "off",
};

// What stands in for a pass that is left out, where something must.
void share_views(Graph *g);     // share_buffers.c
void plan_disjoint(Graph *g);   // assign_offsets.c

const Pass passes[PASS_COUNT] = {
#define PASS(name, needs, gives, breaks, optional, what) \
    {#name, needs, gives, breaks, optional, what, pass_##name},
#include "passes.def"
#undef PASS
};

static void (*instead_of(const Pass *pass))(Graph *)
{
    if (pass == &passes[PASS_share_buffers]) return share_views;
    if (pass == &passes[PASS_assign_offsets]) return plan_disjoint;
    return NULL;
}

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

// -O0 shares nothing and fuses nothing; -O1 does what costs no arithmetic;
// -O2, the default, everything.
void pass_options_default(PassOptions *o, int level)
{
    memset(o, 0, sizeof *o);
    for (int i = 0; i < PASS_COUNT; i++)
        o->enabled[i] = !passes[i].optional || level >= 1;
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

// From schedule on, passes may only order nodes: what they must keep is
// remembered, and the plan is held against it.
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

// Runs a pass, or its stand-in; what it breaks ceases to hold, what it gives
// begins to.  False where there was neither, and the graph is as it was.
static bool run_pass(Graph *g, const Pass *pass, bool enabled)
{
    if ((g->facts & pass->needs) != pass->needs)
        bug("pass %s needs facts %x, the graph has %x", pass->name,
            pass->needs, g->facts);
    if (pass->gives & IS_SCHEDULED) remember(g);
    void (*run)(Graph *) = enabled ? pass->run : instead_of(pass);
    if (run) run(g);
    g->facts = (g->facts & ~pass->breaks) | pass->gives;
    return run || pass->breaks || pass->gives;
}

Graph *shared_after(const Graph *ordered, const PassOptions *o, bool together,
                    Arena *arena)
{
    Graph *copy = graph_copy(ordered, arena);
    known_spend(copy->known, copy->node_count, WORK_TRIAL_NODE);
    for (int i = PASS_checkpoint + 1; i < PASS_assign_offsets; i++)
        run_pass(copy, &passes[i],
                 o->enabled[i] && (i != PASS_fuse_horizontal || together));
    return copy;
}

int64_t least_from(Graph *g, const PassOptions *o, int first)
{
    for (int i = first; i < PASS_assign_offsets; i++)
        run_pass(g, &passes[i],
                 o->enabled[i] && i != PASS_checkpoint &&
                     i != PASS_fuse_horizontal);
    return plan_least(g);
}

// Copies to host memory and back, when the order is known: it stays.
static void offload(Graph *g, const PassOptions *o)
{
    HostCopy *copy;
    Arena *arena = arena_new();
    HostModel m = host_model(shared_after(g, o, false, arena));
    host_offload(&m, g->decisions.offloading);
    int32_t count = host_steps(&m, &copy);
    put_copies(g, copy, count);
    arena_free(arena);
}

// What is computed again changes lifetimes, so the order is found anew.
static void run_checkpoint(Graph *g, const PassOptions *o)
{
    run_pass(g, &passes[PASS_checkpoint], o->enabled[PASS_checkpoint]);
    if (g->decisions.remat_schedule && o->enabled[PASS_schedule])
        passes[PASS_schedule].run(g);
    if (g->decisions.offloading) offload(g, o);
}

int64_t arena_of_shared(Graph *shared, const PassOptions *o, int64_t limit)
{
    int64_t bytes = plan_least(shared);
    if (bytes > limit) return bytes;
    if (o->near && o->enabled[PASS_assign_offsets])
        return plan_near(shared, limit);
    run_pass(shared, &passes[PASS_assign_offsets],
             o->enabled[PASS_assign_offsets]);
    return shared->arena_bytes;
}

Graph *ordered_with(const Graph *g, const PassOptions *o,
                    const RematSchedule *schedule, Arena *arena)
{
    Graph *copy = graph_copy(g, arena);
    copy->decisions.remat_schedule = schedule;
    run_checkpoint(copy, o);
    return copy;
}

// Limit as above.
static int64_t arena_of_ordered(const Graph *g, const PassOptions *o,
                                int64_t limit)
{
    Arena *arena = arena_new();
    int64_t bytes =
        arena_of_shared(shared_after(g, o, false, arena), o, limit);
    arena_free(arena);
    return bytes;
}

int64_t arena_after(const Graph *g, const PassOptions *o,
                    const RematSchedule *schedule, int64_t limit)
{
    Arena *arena = arena_new();
    int64_t bytes =
        arena_of_ordered(ordered_with(g, o, schedule, arena), o, limit);
    arena_free(arena);
    return bytes;
}

Graph *offloaded_with(const Graph *ordered, const PassOptions *o,
                      const Offloading *offloading, Arena *arena)
{
    Graph *copy = graph_copy(ordered, arena);
    copy->decisions.offloading = offloading;
    offload(copy, o);
    return copy;
}

int64_t arena_offloaded(const Graph *offloaded, const PassOptions *o,
                        int64_t limit)
{
    return arena_of_ordered(offloaded, o, limit);
}

// A graph that was read from text may be past a pass: it has what the pass
// gives or what a later one gives.
static bool is_past(const Graph *g, int number)
{
    unsigned given = 0;
    for (int i = number; i < PASS_COUNT; i++) given |= passes[i].gives;
    return g->facts & given;
}

static bool stops_after(const PassOptions *o, const Pass *pass)
{
    return o->stop_after &&
           same_name(pass->name, o->stop_after, strlen(o->stop_after));
}

// What schedule found, without what is persistent.
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

bool searches(const PassOptions *o)
{
    CheckpointKind kind = o->checkpoint.kind;
    return o->budget > 0 && o->enabled[PASS_checkpoint] &&
           (kind == CHECKPOINT_AUTO || kind == CHECKPOINT_ELEMENTWISE);
}

// Chooses what is computed again or offloaded, unless that was before the graph
// was read; false, after an error, where that can't be, or without one where no
// choice is of use.
static bool find_schedule(Graph *g, const PassOptions *o)
{
    CheckpointKind kind = o->checkpoint.kind;
    if (g->mode != TRAIN || !o->enabled[PASS_checkpoint] ||
        (kind == CHECKPOINT_OFF && !(o->offload && o->budget > 0)) ||
        host_use(g).events > 0)
        return true;
    // Maps may go to host memory though nothing is computed again.
    if (kind == CHECKPOINT_OFF && o->offload) return fit_budget(g, o);
    if (!searches(o)) return follow_marks(g, o);
    return fit_budget(g, o);
}

static bool run_rows(Graph *g, const PassOptions *o)
{
    verify(g, "the front end");
    double total = 0;
    for (int i = 0; i < PASS_COUNT; i++) {
        const Pass *pass = &passes[i];
        if (is_past(g, i)) {
            if (stops_after(o, pass)) return false;
            continue;
        }
        double start = seconds();
        bool enabled = o->enabled[i];
        if (i == PASS_fuse_activation_grad && enabled && g->mode == TRAIN)
            choose_gates(g, o);
        if (i == PASS_fuse_horizontal && enabled && g->mode != INFER)
            enabled = choose_waits(g, o);
        if (i == PASS_checkpoint && !find_schedule(g, o)) return false;
        bool ran = true;
        if (i == PASS_checkpoint) run_checkpoint(g, o);
        else ran = run_pass(g, pass, enabled);
        double middle = seconds();
        if (ran) verify(g, pass->name);
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

// Which slices of the batch are taken: those that --split says, those that the
// graph asks for, or those that a budget does.  False after an error.
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
    g->known = o->known != NULL ? o->known : known_new(arena);
    g->is_trial = o->trial;
    bool done = find_slices(g, o);
    if (done && o->time)
        fprintf(stderr, "%-14s %8.3f ms\n", "slices tried",
                1e3 * (seconds() - start));
    // What was chosen among slices is made as it was measured.
    PassOptions own = *o;
    own.quick |= g->decisions.split_samples > 0 && o->split_samples == 0;
    done = done && run_rows(g, &own) && check_budget(g, o);
    known_spend(g->known, g->node_count, WORK_GRAPH_NODE);
    g->known = NULL;
    arena_free(arena);
    return done;
}
