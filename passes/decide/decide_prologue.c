// Decides which values are stored although they can be computed on load.
//
// A GEMM computes an operand on load once for each tap of its window and each
// tile of the other operand (gemm_time.h).  Storing the operand takes a launch
// and its bytes.  The model says which is faster, for the forward launches that
// read it and for the backward ones:
//
//     on load      no bytes
//     apart        stored for the forward readers, or computed a second time
//                  and stored for the backward ones, or both; its bytes are
//                  alive only between these launches
//     shared       stored once for all readers; alive from forward to backward
//
// A choice with more bytes must be faster.  --prefer memory takes the first,
// --prefer time the fastest.  Otherwise choices with the largest gain for a
// byte come first.  The peak may be a twentieth above that of all values on
// load.  It is the peak of the later passes on a copy, without a search for
// offsets.
//
// A budget takes the fastest of a few sets of choices that fit, each with the
// recomputation that it needs.  The sets do not depend on the budget, so more
// memory never costs more.
#include <string.h>
#include "decide_prologue.h"
#include "../../ir/base/sizes.h"
#include "../../ir/gpu/gpu_model.h"
#include "../offload/host_budget.h"
#include "../trial.h"

enum {
    MOST_TRIALS = 24,           // copies whose peak is computed, and their
    MOST_NODES = 1 << 17,       // nodes, but at least FEWEST_TRIALS
    FEWEST_TRIALS = 4,
    GROWTH = 20,                // balanced: the peak may grow by 1/20
    LEVELS = 3                  // sets of choices that a budget tries, and none
};

typedef struct Choice {
    NodeId   node;
    uint8_t  how;               // PrologueChoice
    int64_t  saved;             // picoseconds, over the choice before it for
                                // this node
    int64_t  bytes;             // of the value
} Choice;

typedef struct Prologues {
    Graph             *g;       // before the pass
    const PassOptions *o;
    Graph             *fused;   // a copy after it, with all values on load
    Uses               uses;    // of the copy
    Choice            *choice;
    int32_t            count;
    int64_t            limit;   // of the peak in bytes, if it is balanced
    int                trials;
} Prologues;

// ---- the time of a choice ---------------------------------------------------

// Returns the picoseconds of the launches that read v in a phase, directly or
// through inlined nodes.
// NOLINTNEXTLINE(misc-no-recursion)
static int64_t readers_time(const Prologues *p, ValueId v, bool backward)
{
    const Graph *g = p->fused;
    int64_t time = 0;
    for (int32_t k = p->uses.start[v]; k < p->uses.start[v + 1]; k++) {
        const Node *reader = &g->nodes[p->uses.list[k]];
        int64_t more = 0;
        if ((reader->phase == BACKWARD) != backward) continue;
        if (is_launch(reader)) more = node_time(g, reader, graph_gpu(g));
        else more = readers_time(p, reader->results[0], backward);
        time = capped_sum(time, more);
    }
    return time;
}

// Returns the picoseconds that the readers of v in a phase save if v is stored.
static int64_t saved_by(const Prologues *p, ValueId v, bool backward)
{
    Node *maker = &p->fused->nodes[p->fused->values[v].def];
    int64_t loaded = readers_time(p, v, backward);
    maker->fused_load = false;
    int64_t stored = readers_time(p, v, backward);
    maker->fused_load = true;
    return loaded - stored;
}

// Returns the picoseconds of the launch that stores node i's value.
static int64_t storing(const Prologues *p, NodeId i)
{
    Graph *g = p->fused;
    g->nodes[i].fused_load = false;
    int64_t time = node_time(g, &g->nodes[i], graph_gpu(g));
    g->nodes[i].fused_load = true;
    return time;
}

static void add_choice(Prologues *p, NodeId i, int how, int64_t saved)
{
    const Value *made = &p->fused->values[p->fused->nodes[i].results[0]];
    p->choice[p->count++] = (Choice){ i, (uint8_t)how, saved,
                                      value_bytes(made) };
}

// True if each launch that reads v, directly or through inlined nodes, is of
// the phase of the node that reads v.
// NOLINTNEXTLINE(misc-no-recursion)
static bool has_clear_readers(const Prologues *p, ValueId v, const Phase *phase)
{
    const Graph *g = p->fused;
    for (int32_t k = p->uses.start[v]; k < p->uses.start[v + 1]; k++) {
        const Node *reader = &g->nodes[p->uses.list[k]];
        Phase own = reader->phase;
        if (phase != NULL && own != *phase) return false;
        if (!is_launch(reader) &&
            !has_clear_readers(p, reader->results[0], &own))
            return false;
    }
    return true;
}

static void list_choices(Prologues *p, NodeId i)
{
    ValueId v = p->fused->nodes[i].results[0];
    if (!p->fused->nodes[i].fused_load || p->g->nodes[i].fused_load ||
        !has_clear_readers(p, v, NULL))
        return;
    int64_t stored = storing(p, i);
    int64_t forward = saved_by(p, v, false), backward = saved_by(p, v, true);
    int apart = (forward > stored ? STORE_FORWARD : 0) |
                (backward > stored ? STORE_BACKWARD : 0);
    int64_t saved = larger(forward - stored, 0) + larger(backward - stored, 0);
    if (apart != 0) add_choice(p, i, apart, saved);
    if (forward > 0 && backward > 0 && forward + backward - stored > saved)
        add_choice(p, i, STORE_SHARED, forward + backward - stored - saved);
}

// ---- the order of choices ---------------------------------------------------

// True if a comes before b: apart before shared, then by gain for a byte.
static bool precedes(const Choice *a, const Choice *b)
{
    bool shared = a->how == STORE_SHARED;
    if (shared != (b->how == STORE_SHARED)) return !shared;
    // Both sides are below 2^63: picoseconds of a step, and thousands of bytes.
    int64_t left = capped_product(a->saved, larger(b->bytes / 1024, 1));
    int64_t right = capped_product(b->saved, larger(a->bytes / 1024, 1));
    return left != right ? left > right : a->node < b->node;
}

static void sort_choices(Prologues *p)
{
    for (int32_t i = 1; i < p->count; i++) {
        Choice moved = p->choice[i];
        int32_t k = i;
        for (; k > 0 && precedes(&moved, &p->choice[k - 1]); k--)
            p->choice[k] = p->choice[k - 1];
        p->choice[k] = moved;
    }
}

// ---- the choices within the limit -------------------------------------------

// Returns a copy of the graph, in arena, with these choices.
static Graph *copy_with(const Prologues *p, const uint8_t *how, Arena *arena)
{
    Graph *copy = nameless_copy(p->g, arena);
    copy->decisions.prologue = how;
    return copy;
}

static int64_t peak_of(Prologues *p, const uint8_t *how)
{
    Arena *arena = arena_new();
    int64_t bytes =
        least_from(copy_with(p, how, arena), p->o, PASS_fuse_prologue);
    arena_free(arena);
    p->trials++;
    return bytes;
}

// Returns the picoseconds of a step with these choices.  Later passes may keep
// more values for them, so it is not the sum of what each saves.
static int64_t time_of(const Prologues *p, const uint8_t *how)
{
    Arena *arena = arena_new();
    int64_t time =
        time_from(copy_with(p, how, arena), p->o, PASS_fuse_prologue);
    arena_free(arena);
    return time;
}

// Adds choices begin .. end - 1 to how.  Tries all, then each half for itself
// if the peak exceeds the limit, as long as trials are left.
// NOLINTNEXTLINE(misc-no-recursion)
static void add_choices(Prologues *p, uint8_t *how, int32_t begin, int32_t end)
{
    int64_t most = larger(MOST_NODES / p->g->node_count, FEWEST_TRIALS);
    if (begin == end || p->trials >= smaller(most, MOST_TRIALS)) return;
    Arena *arena = arena_new();
    uint8_t *before = NEW_ARRAY(arena, p->g->node_count, uint8_t);
    memcpy(before, how, (size_t)p->g->node_count);
    for (int32_t k = begin; k < end; k++)
        how[p->choice[k].node] = p->choice[k].how;
    bool fits = peak_of(p, how) <= p->limit;
    if (!fits) memcpy(how, before, (size_t)p->g->node_count);
    arena_free(arena);
    if (fits || end - begin == 1) return;
    int32_t middle = begin + (end - begin) / 2;
    add_choices(p, how, begin, middle);
    add_choices(p, how, middle, end);
}

// Takes only the first choices, which save the part level / LEVELS of the time.
static void take_level(const Prologues *p, uint8_t *how, int level)
{
    int64_t all = 0, part = 0;
    memset(how, ALL_ON_LOAD, (size_t)p->g->node_count);
    for (int32_t k = 0; k < p->count; k++)
        all = capped_sum(all, p->choice[k].saved);
    for (int32_t k = 0; k < p->count &&
         (level == LEVELS || part < all / LEVELS * level); k++) {
        how[p->choice[k].node] = p->choice[k].how;
        part = capped_sum(part, p->choice[k].saved);
    }
}

static void take_fastest_level(const Prologues *p, uint8_t *how)
{
    int best = 0;
    int64_t least = INT64_MAX;
    for (int level = 0; level <= LEVELS; level++) {
        take_level(p, how, level);
        int64_t time = time_of(p, how);
        if (time < least) best = level;
        least = smaller(least, time);
    }
    take_level(p, how, best);
}

// Takes the choices that keep the peak within 1 / GROWTH, if they are faster.
static void take_balanced(Prologues *p, uint8_t *how)
{
    int64_t least = peak_of(p, how), time = time_of(p, how);
    int64_t known = p->g->decisions.least_peak;
    int32_t apart = 0;
    if (known > 0) least = smaller(least, known);
    p->limit = least + least / GROWTH;
    while (apart < p->count && p->choice[apart].how != STORE_SHARED) apart++;
    add_choices(p, how, 0, apart);
    add_choices(p, how, apart, p->count);
    if (time_of(p, how) >= time)
        memset(how, ALL_ON_LOAD, (size_t)p->g->node_count);
}

static void choose(Prologues *p)
{
    uint8_t *how = NEW_ARRAY(p->g->arena, p->g->node_count, uint8_t);
    if (has_limit(p->o)) take_level(p, how, p->g->decisions.stored_level);
    else if (p->o->prefer == PREFER_TIME) take_fastest_level(p, how);
    else take_balanced(p, how);
    p->g->decisions.prologue = how;
}

// Computes all values on load; gives them the type that they have if stored.
static void lower_fused(const Prologues *p)
{
    Graph *g = p->fused;
    Arena *arena = arena_new();
    bool *fused = NEW_ARRAY(arena, g->node_count, bool);
    pass_fuse_prologue(g, p->o);
    for (NodeId i = 0; i < g->node_count; i++) {
        fused[i] = g->nodes[i].fused_load;
        g->nodes[i].fused_load = false;
    }
    pass_lower_precision(g, p->o);
    for (NodeId i = 0; i < g->node_count; i++)
        g->nodes[i].fused_load = fused[i];
    arena_free(arena);
}

bool has_prologues(const Graph *g)
{
    for (NodeId i = 0; i < g->node_count; i++) {
        const Node *n = &g->nodes[i];
        bool by_pass = n->fused_load && can_load(g, n) && !is_gate(n);
        if (n->stored || by_pass) return true;
    }
    return false;
}

bool stores_least(const Graph *g, const PassOptions *o)
{
    return o->prefer == PREFER_MEMORY ||
           (has_limit(o) && g->decisions.stored_level == 0);
}

PassDecision decide_prologue(Graph *g, const PassOptions *o)
{
    if (has_prologues(g)) return PASS_IS_LEFT_OUT;
    if (stores_least(g, o) || g->facts & IS_SCHEDULED) return PASS_RUNS;
    Arena *arena = arena_new();
    Prologues p = { .g = g, .o = o, .fused = graph_copy(g, arena) };
    lower_fused(&p);
    p.uses = graph_uses(p.fused);
    p.choice = NEW_ARRAY(arena, 2 * g->node_count, Choice);
    for (NodeId i = 0; i < g->node_count; i++) list_choices(&p, i);
    sort_choices(&p);
    if (p.count > 0) choose(&p);
    arena_free(arena);
    return PASS_RUNS;
}

// ---- a budget ---------------------------------------------------------------

// Compiles a copy of g.  Sets *any, if it is not NULL, to true if there are
// choices, of which levels above 0 take some.
static Outcome outcome_of(const Graph *g, const PassOptions *o, int level,
                          Compile *compile, bool *any)
{
    Arena *arena = arena_new();
    Graph *copy = graph_copy(g, arena);
    copy->decisions.stored_level = level;
    Outcome outcome = compile_trial(copy, o, compile);
    if (any != NULL)
        *any = copy->decisions.prologue != NULL ||
               copy->decisions.rounds_weights;
    arena_free(arena);
    return outcome;
}

// Sets plain to the outcomes of all levels without recomputation, and *fits to
// the fastest that fits, or NONE.  False if there are no choices: all levels
// are alike.
static bool find_plain(const Graph *g, const PassOptions *o, Compile *compile,
                       Outcome plain[LEVELS + 1], int *fits)
{
    PassOptions once = *o;
    once.stop_after = NULL;
    once.checkpoint.kind = CHECKPOINT_OFF;
    once.offload = false;
    once.trial = once.quick = true;
    bool any;
    *fits = NONE;
    for (int level = LEVELS; level >= 0; level--) {
        plain[level] = outcome_of(g, &once, level, compile,
                                  level == LEVELS ? &any : NULL);
        if (!any) return false;
        if (plain[level].arena_bytes <= o->budget &&
            (*fits == NONE || plain[level].time <= plain[*fits].time))
            *fits = level;
    }
    return true;
}

// Returns the level that takes the least time with recomputation.  Level `fits`
// needs none; it may be NONE.
static int find_recomputed(const Graph *g, const PassOptions *o,
                           Compile *compile, const Outcome *plain, int fits)
{
    PassOptions trial = *o;
    trial.stop_after = NULL;
    trial.quick = trial.trial = true;
    int best = fits == NONE ? 0 : fits;
    Outcome least = fits == NONE ? outcome_of(g, &trial, 0, compile, NULL)
                                 : plain[fits];
    for (int level = fits == NONE ? 1 : 0; level <= LEVELS; level++) {
        if (plain[level].time >= least.time &&
            least.arena_bytes <= o->budget)
            continue;
        Outcome tried = outcome_of(g, &trial, level, compile, NULL);
        if (tried.arena_bytes > o->budget ||
            !is_better_outcome(&tried, &least, o->budget))
            continue;
        least = tried;
        best = level;
    }
    return best;
}

void choose_stored(Graph *g, const PassOptions *o, Compile *compile)
{
    // Gains below 1 / WORTH of the step are not worth a search.
    enum { LARGEST_GRAPH = 2048, WORTH = 50 };
    Outcome plain[LEVELS + 1];
    if (o->budget == 0 || o->smallest || o->prefer == PREFER_MEMORY ||
        !o->enabled[PASS_fuse_prologue] || g->facts != 0 ||
        g->node_count > LARGEST_GRAPH || g->decisions.split_samples > 0)
        return;
    int fits;
    if (!find_plain(g, o, compile, plain, &fits)) return;
    int64_t fastest = plain[0].time;
    for (int level = 1; level <= LEVELS; level++)
        fastest = smaller(fastest, plain[level].time);
    int64_t gain = plain[fits == NONE ? 0 : fits].time - fastest;
    bool recomputes = g->mode == TRAIN && searches(o) &&
                      g->node_count <= SMALL_GRAPH &&
                      gain > fastest / WORTH;
    if (recomputes) fits = find_recomputed(g, o, compile, plain, fits);
    g->decisions.stored_level = fits == NONE ? 0 : fits;
}
