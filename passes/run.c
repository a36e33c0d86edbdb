// The runner: takes a graph through the table of passes.  It alone checks that
// what a pass needs holds, times it, verifies the graph after it and dumps it;
// passes do none of that, and none can be run without it.

#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "budget.h"
#include "host_copies.h"
#include "marks.h"
#include "remat.h"
#include "split.h"

#define PASS(name, needs, gives, breaks, optional, what) \
    void pass_##name(Graph *g);
#include "passes.def"
#undef PASS

const char *const checkpoint_names[CHECKPOINT_COUNT] = {
    "auto", "elementwise", "marked", "every", "off",
};

// What stands in for a pass that is left out, where something must.
void share_views(Graph *g);     // share.c
void plan_disjoint(Graph *g);   // plan.c
int64_t plan_least(Graph *g);   // what no plan has less than
int64_t plan_trial(Graph *g);   // what a short search finds

const Pass passes[PASS_COUNT] = {
#define PASS(name, needs, gives, breaks, optional, what) \
    {#name, needs, gives, breaks, optional, what, pass_##name},
#include "passes.def"
#undef PASS
};

static void (*instead_of(const Pass *pass))(Graph *)
{
    if (pass == &passes[PASS_share]) return share_views;
    if (pass == &passes[PASS_plan]) return plan_disjoint;
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
    if (written && !fclose(file)) return;
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
// begins to.
static void run_pass(Graph *g, const Pass *pass, bool enabled)
{
    if ((g->facts & pass->needs) != pass->needs)
        bug("pass %s needs facts %x, the graph has %x", pass->name,
            pass->needs, g->facts);
    if (pass->gives & IS_SCHEDULED) remember(g);
    void (*run)(Graph *) = enabled ? pass->run : instead_of(pass);
    if (run) run(g);
    g->facts = (g->facts & ~pass->breaks) | pass->gives;
}

// From behind checkpoint to what plan needs.
static void run_to_plan(Graph *g, const PassOptions *o, bool together)
{
    for (int i = PASS_checkpoint + 1; i < PASS_plan; i++)
        if (i != PASS_together || together)
            run_pass(g, &passes[i], o->enabled[i]);
}

Graph *shared_after(const Graph *ordered, const PassOptions *o, Arena *arena)
{
    Graph *copy = graph_copy(ordered, arena);
    run_to_plan(copy, o, false);
    return copy;
}

// Copies to host memory and back, when the order is known: it stays.
static void park(Graph *g, const PassOptions *o)
{
    HostCopy *copy;
    Arena *arena = arena_new();
    HostModel m = host_model(shared_after(g, o, arena));
    host_park(&m, g->parking);
    int32_t count = host_steps(&m, &copy);
    put_copies(g, copy, count);
    arena_free(arena);
}

// What is computed again changes lifetimes, so the order is found anew.
static void run_checkpoint(Graph *g, const PassOptions *o)
{
    run_pass(g, &passes[PASS_checkpoint], o->enabled[PASS_checkpoint]);
    if (g->program && o->enabled[PASS_schedule]) passes[PASS_schedule].run(g);
    if (g->parking) park(g, o);
}

// The arena of one that was shared, or what it has at least if that is above
// the limit.
static int64_t arena_of(Graph *shared, const PassOptions *o, int64_t limit)
{
    int64_t bytes = plan_least(shared);
    if (bytes > limit) return bytes;
    run_pass(shared, &passes[PASS_plan], o->enabled[PASS_plan]);
    return shared->arena_bytes;
}

Graph *ordered_with(const Graph *g, const PassOptions *o,
                    const RematProgram *program, Arena *arena)
{
    Graph *copy = graph_copy(g, arena);
    copy->program = program;
    run_checkpoint(copy, o);
    return copy;
}

// The arena, limit as above, of a graph that is through checkpoint, whose
// launches are put together, or not.
static int64_t arena_with(const Graph *g, const PassOptions *o, int64_t limit,
                          bool together)
{
    Arena *arena = arena_new();
    Graph *copy = graph_copy(g, arena);
    run_to_plan(copy, o, together);
    int64_t bytes = arena_of(copy, o, limit);
    arena_free(arena);
    return bytes;
}

// The smaller of the two; the second is only made if the first may be larger.
static int64_t smaller_arena(const Graph *g, const PassOptions *o,
                             int64_t limit)
{
    int64_t bytes = arena_with(g, o, limit, o->enabled[PASS_together]);
    if (!o->enabled[PASS_together]) return bytes;
    int64_t apart = arena_with(g, o, bytes > limit ? limit : bytes - 1, false);
    return apart < bytes ? apart : bytes;
}

// Plans a graph that is through checkpoint with its launches apart; its values
// know that plan's offsets.  Returns its arena.
static int64_t plan_apart(Graph *g, const PassOptions *o)
{
    Arena *arena = arena_new();
    Graph *apart = shared_after(g, o, arena);
    int64_t bytes = arena_of(apart, o, INT64_MAX);
    int64_t *offsets = NEW_ARRAY(g->arena, g->value_count, int64_t);
    for (ValueId v = 0; v < g->value_count; v++)
        offsets[v] = apart->values[v].offset;
    g->apart_offsets = offsets;
    arena_free(arena);
    return bytes;
}

// How many launches a graph has if they wait as it says; INT32_MAX if that
// takes a larger arena, as far as a short search finds, or saves none of best.
static int32_t try_waiting(const Graph *g, const PassOptions *o, int64_t limit,
                           int32_t best)
{
    Arena *arena = arena_new();
    Graph *copy = graph_copy(g, arena);
    run_to_plan(copy, o, true);
    int32_t launches = 0;
    for (NodeId i = 0; i < copy->node_count; i++)
        if (is_launch(&copy->nodes[i]) && !copy->nodes[i].joined) launches++;
    int64_t bytes = launches < best ? plan_least(copy) : INT64_MAX;
    if (bytes <= limit)
        bytes = o->enabled[PASS_plan] ? plan_trial(copy)
                                      : arena_of(copy, o, limit);
    arena_free(arena);
    return bytes <= limit ? launches : INT32_MAX;
}

// Lets launches wait so that the fewest are left in an arena that is no larger;
// false: none may.
static bool choose_waiting(Graph *g, const PassOptions *o)
{
    static const struct Waits tries[] = {
        {true, 1000, 0},       {true, 990, 0},        {true, 950, 0},
        {true, 750, 0},        {false, 1000, 0},      {false, 990, 0},
        {false, 950, 0},       {false, 990, 100000},  {false, 950, 100000},
        {false, 750, 100000}};
    int64_t apart = plan_apart(g, o);
    int32_t least = INT32_MAX;
    struct Waits best = tries[0];
    for (size_t k = 0; k < sizeof tries / sizeof *tries; k++) {
        g->waits = tries[k];
        int32_t launches = try_waiting(g, o, apart, least);
        if (launches >= least) continue;
        least = launches;
        best = tries[k];
    }
    g->waits = best;
    return least < INT32_MAX;
}

int64_t arena_after(const Graph *g, const PassOptions *o,
                    const RematProgram *program, int64_t limit)
{
    Arena *arena = arena_new();
    int64_t bytes = smaller_arena(ordered_with(g, o, program, arena), o, limit);
    arena_free(arena);
    return bytes;
}

Graph *parked_with(const Graph *ordered, const PassOptions *o,
                   const Parking *parking, Arena *arena)
{
    Graph *copy = graph_copy(ordered, arena);
    copy->parking = parking;
    park(copy, o);
    return copy;
}

int64_t arena_parked(const Graph *parked, const PassOptions *o, int64_t limit)
{
    return smaller_arena(parked, o, limit);
}

// A graph that was read from text may be past a pass: it has what the pass
// gives or, where that is no fact, what a later one gives.
static bool is_past(const Graph *g, int number)
{
    unsigned given = passes[number].gives, later = 0;
    if (given) return (g->facts & given) == given;
    for (int i = number + 1; i < PASS_COUNT; i++) later |= passes[i].gives;
    return g->facts & later;
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
    if (g->fit != NULL)
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

// Chooses what is computed again or parked, unless that was before the graph
// was read; false, after an error, where that can't be.
static bool find_program(Graph *g, const PassOptions *o)
{
    CheckpointKind kind = o->checkpoint.kind;
    if (g->mode != TRAIN || !o->enabled[PASS_checkpoint] ||
        (kind == CHECKPOINT_OFF && !(o->offload && o->budget > 0)) ||
        host_use(g).events > 0)
        return true;
    // Maps may go to host memory though nothing is computed again.
    if (kind == CHECKPOINT_OFF && o->offload) {
        fit_budget(g, o);
        return true;
    }
    if (!searches(o)) return follow_marks(g, o);
    fit_budget(g, o);
    return true;
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
        if (i == PASS_together && enabled && g->mode == TRAIN)
            enabled = choose_waiting(g, o);
        if (i == PASS_checkpoint && !find_program(g, o)) return false;
        if (i == PASS_checkpoint) run_checkpoint(g, o);
        else run_pass(g, pass, enabled);
        double middle = seconds();
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

// Which slices of the batch are taken: those that --split says, those that the
// graph asks for, or those that a budget does.  False after an error.
static bool find_slices(Graph *g, const PassOptions *o)
{
    bool asked = g->split_samples > 0;
    if (o->split_samples > 0) {
        g->split_samples = o->split_samples;
        g->split_pixels = o->split_pixels;
    }
    if (g->split_samples > 0 &&
        ceil_div(g->batch, g->split_samples) > MOST_SLICES) {
        error(g->diag, (Pos){ .file = NONE }, "slices of %" PRId64 " samples "
              "are too many of a batch of %" PRId64 ": it falls into %d at "
              "most", g->split_samples, g->batch, MOST_SLICES);
        return false;
    }
    if (asked && o->split_samples == 0) settle_split(g, o, run_rows);
    else choose_split(g, o, run_rows);
    return true;
}

bool run_passes(Graph *g, const PassOptions *o)
{
    double start = seconds();
    if (!find_slices(g, o)) return false;
    if (o->time)
        fprintf(stderr, "%-14s %8.3f ms\n", "slices tried",
                1e3 * (seconds() - start));
    return run_rows(g, o) && check_budget(g, o);
}
