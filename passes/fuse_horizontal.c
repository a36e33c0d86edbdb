// fuse_horizontal: fuses launches of one kind over different arrays into one.
//
//   [40] a.sgd: sgd(a, d.a, ...)         [41] a.sgd: sgd(a, d.a, ...)
//   [41] b.grad: ...                 ->  [42] b.sgd: sgd(b, d.b, ...) grouped
//   [42] b.sgd: sgd(b, d.b, ...)
//
// Operators tell which kernels take several arrays (launch_item): updates of
// parameters, averages and running statistics, and gradients summed over
// batches or in parts.  Others do several things to the same rows (launch_own):
// a loss, its gradient and metrics.  Such a launch is delayed to meet others,
// which extends the live ranges of its operands.  The delay ends at a node that
// needs a delayed result, or at which live bytes would exceed the peak of
// schedule's order.  In the first case the kind that frees most bytes is
// launched first.  So the peak stays the same.  A node of such a kind that
// needs a delayed one is delayed too, into a later wave.
//
// A last block can do some operations (Kernel.last), such as the sum of a
// loss's rows.  Such an operation is grouped with the launch before it or with
// the one that it waits for.
//
// The arena may still grow: offsets are harder to find with more live bytes,
// and slices count as whole values here.  Then decide_horizontal.c repeats the
// pass with sparser settings (Graph.waits), and finally leaves it out.
#include "../ir/launch_group.h"
#include "order/dependences.h"
#include "order/live_model.h"
#include "pass.h"

// A delayed node.  Nodes of one wave need only nodes of earlier waves.
typedef struct Waiting {
    NodeId  node;
    int32_t wave;
    int32_t next;               // delayed node of its wave and kind, or NONE
} Waiting;

// Arrays have an element for each node of the graph, or for each delayed node.
typedef struct Grouper {
    Graph      *g;
    Dependences depend;
    Lives       now;
    int64_t     peak;           // limit of live bytes while launches are
                                // delayed
    Launch     *launch;         // of each node that takes several arrays
    bool       *may_wait;       // of each node: it may be delayed
    int32_t    *kind;           // of each node that may be delayed
    int32_t     kinds;
    int32_t    *of_kind;        // an element for each kind
    int32_t    *left;           // of each: the nodes it needs that are not in
                                // order yet
    NodeId      group;          // the first node of the last launch, if its
                                // last block can do more; or NONE
    Waiting    *waiting;
    int32_t     waiting_count;
    // The delayed nodes of wave w: by_wave[wave_start[w]] to before
    // by_wave[wave_start[w + 1]]; those for a last block (sort_waves).
    int32_t    *by_wave, *wave_start, *lasts;
    int32_t     wave_count, last_count;
    bool       *done, *stays;   // of each delayed node: launched; not now
    NodeId     *trial;          // nodes that run while bytes are counted
    bool       *waits;          // of each node, while all are launched
    // The first wave that each node could be in, if it needs a delayed one and
    // its `round` is the current round.
    int32_t    *wave, *round;
    int32_t     rounds;
    NodeId     *order;          // the new order so far, and which nodes of it
                                // are grouped
    bool       *grouped;
    int32_t     order_count;
} Grouper;

static void put(Grouper *s, NodeId i, bool grouped)
{
    const Edge *edges = s->depend.edges;
    for (int32_t k = s->depend.first[i]; k != NONE; k = edges[k].next)
        s->left[edges[k].to]--;
    s->grouped[s->order_count] = grouped;
    s->order[s->order_count++] = i;
    lives_run(&s->now, i);
    if (!grouped) s->group = s->launch[i].takes_last ? i : NONE;
}

static bool can_be_last(const Grouper *s, NodeId i)
{
    const Node *n = &s->g->nodes[i];
    return n->op->kernels[n->kernel].last != NULL;
}

// Appends a node that a last block can do: grouped with the launch before it,
// if that launch has room for it.
static void put_last(Grouper *s, NodeId i)
{
    put(s, i, s->group != NONE);
    s->group = NONE;
}

static int32_t kind_of(const Grouper *s, int32_t k)
{
    return s->kind[s->waiting[k].node];
}

// Sorts the delayed nodes by wave, links those of one wave and kind, and lists
// those for a last block.
static void sort_waves(Grouper *s)
{
    int32_t count = s->waiting_count, *start = s->wave_start;
    s->wave_count = s->last_count = 0;
    for (int32_t k = 0; k < count; k++)
        if (s->waiting[k].wave >= s->wave_count)
            s->wave_count = s->waiting[k].wave + 1;
    for (int32_t w = 0; w <= s->wave_count; w++) start[w] = 0;
    for (int32_t k = 0; k < count; k++) start[s->waiting[k].wave]++;
    for (int32_t w = 1; w <= s->wave_count; w++) start[w] += start[w - 1];
    for (int32_t k = count - 1; k >= 0; k--)
        s->by_wave[--start[s->waiting[k].wave]] = k;
    for (int32_t kind = 0; kind < s->kinds; kind++) s->of_kind[kind] = NONE;
    for (int32_t at = count - 1; at >= 0; at--) {
        Waiting *w = &s->waiting[s->by_wave[at]];
        int32_t *after = &s->of_kind[s->kind[w->node]];
        bool has_next = *after != NONE && s->waiting[*after].wave == w->wave;
        w->next = has_next ? *after : NONE;
        *after = s->by_wave[at];
    }
    for (int32_t k = 0; k < count; k++)
        if (can_be_last(s, s->waiting[k].node)) s->lasts[s->last_count++] = k;
}

// Appends delayed nodes that a last block can do and that need nothing more, to
// the last launch.
static void put_waiting_last(Grouper *s)
{
    for (int32_t l = 0; l < s->last_count && s->group != NONE; l++) {
        int32_t k = s->lasts[l];
        NodeId i = s->waiting[k].node;
        if (s->done[k] || s->left[i] > 0) continue;
        s->done[k] = true;
        put_last(s, i);
    }
}

// Appends the delayed node `at`, grouped with all of its wave that fit in the
// same launch.
static void launch_group(Grouper *s, int32_t at)
{
    NodeId first = s->waiting[at].node;
    const Launch *l = &s->launch[first];
    Phase phase = s->g->nodes[first].phase;
    int64_t bytes = 0;
    if (can_be_last(s, first)) {
        s->done[at] = true;
        put_last(s, first);
        return;
    }
    for (int32_t k = at; k != NONE; k = s->waiting[k].next) {
        NodeId i = s->waiting[k].node;
        if (k != at &&
            (s->done[k] ||
             (s->g->nodes[i].phase != phase && l->own_arg == 0) ||
             !are_alike(l, &s->launch[i])))
            continue;
        int64_t more = item_bytes(&s->launch[i]);
        if (bytes + more > MOST_ITEM_BYTES) break;
        bytes += more;
        s->done[k] = true;
        put(s, i, k != at);
    }
    put_waiting_last(s);
}

// True if another delayed node needs this one.
static bool is_waited_for(const Grouper *s, NodeId i)
{
    const Edge *edges = s->depend.edges;
    int32_t e = s->depend.first[i];
    while (e != NONE && !s->waits[edges[e].to]) e = edges[e].next;
    return e != NONE;
}

// Moves nodes that no delayed node needs to the last wave of their kind.  Nodes
// for a last block go after all waves, so that no other node is launched for
// them.
static void move_back(Grouper *s)
{
    int32_t behind = 0;
    for (int32_t k = 0; k < s->waiting_count; k++) {
        s->waits[s->waiting[k].node] = true;
        if (s->waiting[k].wave >= behind) behind = s->waiting[k].wave + 1;
    }
    for (int32_t k = s->waiting_count - 1; k >= 0; k--) {
        Waiting *w = &s->waiting[k];
        if (!can_be_last(s, w->node) || is_waited_for(s, w->node)) continue;
        w->wave = behind;
        s->waits[w->node] = false;
    }
    for (int32_t kind = 0; kind < s->kinds; kind++) s->of_kind[kind] = 0;
    for (int32_t k = 0; k < s->waiting_count; k++) {
        int32_t *last = &s->of_kind[kind_of(s, k)];
        if (s->waiting[k].wave > *last) *last = s->waiting[k].wave;
    }
    for (int32_t k = 0; k < s->waiting_count; k++)
        if (!is_waited_for(s, s->waiting[k].node))
            s->waiting[k].wave = s->of_kind[kind_of(s, k)];
    for (int32_t k = 0; k < s->waiting_count; k++)
        s->waits[s->waiting[k].node] = false;
}

static void wait(Grouper *s, NodeId i)
{
    int32_t wave = s->left[i] > 0 ? s->wave[i] : 0;
    s->waiting[s->waiting_count++] = (Waiting){ i, wave, NONE };
    const Edge *edges = s->depend.edges;
    for (int32_t k = s->depend.first[i]; k != NONE; k = edges[k].next) {
        NodeId to = edges[k].to;
        if (s->round[to] != s->rounds || s->wave[to] <= wave)
            s->wave[to] = wave + 1;
        s->round[to] = s->rounds;
    }
}

// Launches the delayed nodes wave by wave, as sorted, except those that stay.
// Their waves are numbered anew; those for a last block may still join a
// launch.
static void launch_waves(Grouper *s)
{
    int32_t left = 0, count = s->waiting_count;
    for (int32_t k = 0; k < count; k++)
        s->done[k] = s->stays[k] && !can_be_last(s, s->waiting[k].node);
    for (int32_t at = 0; at < count; at++) {
        int32_t k = s->by_wave[at];
        if (!s->done[k] && !s->stays[k]) launch_group(s, k);
    }
    for (int32_t k = 0; k < count; k++)
        if (s->stays[k] &&
            (!s->done[k] || !can_be_last(s, s->waiting[k].node)))
            s->waiting[left++] = s->waiting[k];
    s->waiting_count = 0;
    s->rounds++;
    for (int32_t k = 0; k < left; k++) wait(s, s->waiting[k].node);
}

static void launch_waiting(Grouper *s)
{
    for (int32_t k = 0; k < s->waiting_count; k++) s->stays[k] = false;
    move_back(s);
    sort_waves(s);
    launch_waves(s);
}

// Launches the delayed nodes that node i needs, and others of their kind and
// wave.
static void launch_needed(Grouper *s, NodeId i)
{
    s->waits[i] = true;
    for (int32_t k = s->waiting_count - 1; k >= 0; k--) {
        s->stays[k] = !is_waited_for(s, s->waiting[k].node);
        s->waits[s->waiting[k].node] = !s->stays[k];
        s->done[k] = false;
    }
    s->waits[i] = false;
    for (int32_t k = 0; k < s->waiting_count; k++)
        s->waits[s->waiting[k].node] = false;
    sort_waves(s);
    for (int32_t at = 0; at < s->waiting_count; at++) {
        int32_t first = s->by_wave[at], k = first;
        if (s->done[first]) continue;
        while (k != NONE && s->stays[k]) k = s->waiting[k].next;
        bool is_needed = k != NONE;
        for (k = first; k != NONE; k = s->waiting[k].next) {
            s->done[k] = true;
            if (is_needed) s->stays[k] = false;
        }
    }
    launch_waves(s);
}

// Returns the bytes freed by launching, from the first wave, the kind of
// delayed node `at`, the first of them.  Sets done for all these nodes.
static int64_t bytes_waiting(Grouper *s, int32_t at)
{
    int64_t before = s->now.live;
    int32_t count = 0;
    for (int32_t k = at; k != NONE; k = s->waiting[k].next) {
        s->done[k] = true;
        s->trial[count++] = s->waiting[k].node;
        lives_run(&s->now, s->waiting[k].node);
    }
    int64_t bytes = before - s->now.live;
    while (count > 0) lives_take_back(&s->now, s->trial[--count]);
    return bytes;
}

// Launches all waves of one kind, that of delayed node `of`, and the nodes that
// they need.
static void launch_kind(Grouper *s, int32_t of)
{
    int32_t last = 0, kind = kind_of(s, of);
    for (int32_t k = s->waiting_count - 1; k >= 0; k--) {
        const Waiting *w = &s->waiting[k];
        bool is_kind = kind_of(s, k) == kind;
        if (is_kind && w->wave > last) last = w->wave;
        s->stays[k] = !is_kind && !is_waited_for(s, w->node);
        s->waits[w->node] = !s->stays[k];
    }
    for (int32_t k = 0; k < s->waiting_count; k++)
        if (kind_of(s, k) == kind && !is_waited_for(s, s->waiting[k].node))
            s->waiting[k].wave = last;
    for (int32_t k = 0; k < s->waiting_count; k++)
        s->waits[s->waiting[k].node] = false;
    sort_waves(s);
    launch_waves(s);
}

// Launches the kind whose first wave frees most bytes; false if none frees any.
static bool launch_fullest(Grouper *s)
{
    int32_t fullest = NONE;
    int64_t most = 0;
    for (int32_t k = 0; k < s->waiting_count; k++) s->done[k] = false;
    sort_waves(s);
    for (int32_t at = 0; at < s->wave_start[1]; at++) {
        int32_t k = s->by_wave[at];
        if (s->done[k]) continue;
        int64_t bytes = bytes_waiting(s, k);
        if (bytes > most) most = bytes, fullest = k;
    }
    if (fullest == NONE) return false;
    launch_kind(s, fullest);
    return true;
}

// True if the operands that die at node i have at most the bytes that may be
// kept for a delay.
static bool keeps_little(Grouper *s, NodeId i)
{
    int64_t before = s->now.live, parts = s->g->decisions.waits.parts;
    if (parts == 0) return true;
    lives_run(&s->now, i);
    int64_t bytes = before - s->now.live;
    lives_take_back(&s->now, i);
    return bytes <= s->peak / parts;
}

static void visit(Grouper *s, NodeId i)
{
    bool needs = s->left[i] > 0;
    if (can_be_last(s, i) ? needs : s->may_wait[i] &&
                                    (needs || keeps_little(s, i))) {
        wait(s, i);
        return;
    }
    if (needs) launch_needed(s, i);
    while (s->waiting_count > 0 && lives_within(&s->now, i) > s->peak)
        if (!launch_fullest(s)) launch_waiting(s);
    (can_be_last(s, i) ? put_last(s, i) : put(s, i, false));
}

static void find_launches(Grouper *s)
{
    for (NodeId i = 0; i < s->g->node_count; i++) {
        const Node *n = &s->g->nodes[i];
        s->round[i] = NONE;
        s->order[i] = i;
        s->left[i] = s->depend.needed[i];
        if (!is_launch(n) || (n->op->flags & COPIES)) continue;
        s->launch[i].g = s->g;
        s->launch[i].node = n;
        n->op->kernels[n->kernel].launch(s->g, n, &s->launch[i]);
        s->may_wait[i] = takes_more(&s->launch[i]) &&
                         (n->result_count == 0 ||
                          s->g->decisions.waits.makers ||
                          s->launch[i].own_arg > 0);
    }
}

// True if nodes i and j are of one kind: of one operator and part.  Launches
// that do several things to the same rows are of one kind if one launch can do
// both.
static bool same_kind(const Grouper *s, NodeId i, NodeId j)
{
    const Node *n = &s->g->nodes[i], *m = &s->g->nodes[j];
    if (s->launch[i].own_arg > 0)
        return are_alike(&s->launch[i], &s->launch[j]);
    return m->op == n->op && m->kernel == n->kernel;
}

// Numbers the kinds.  A kind is known by its first node.
static void find_kinds(Grouper *s)
{
    NodeId *first = NEW_ARRAY(s->g->arena, (size_t)s->g->node_count, NodeId);
    for (NodeId i = 0; i < s->g->node_count; i++) {
        int32_t kind = 0;
        if (!s->may_wait[i] && !can_be_last(s, i)) continue;
        while (kind < s->kinds && !same_kind(s, i, first[kind])) kind++;
        if (kind == s->kinds) first[s->kinds++] = i;
        s->kind[i] = kind;
    }
    s->of_kind = NEW_ARRAY(s->g->arena, (size_t)s->kinds, int32_t);
}

void pass_fuse_horizontal(Graph *g, const PassOptions *o)
{
    (void)o;
    size_t count = (size_t)g->node_count;
    Graph scratch = graph_with_new_arena(g);
    Arena *arena = scratch.arena;
    Lives start = lives_new(&scratch);
    Grouper s = {
        .g = &scratch, .depend = find_dependences(&scratch, start.class_of),
        .launch = NEW_ARRAY(arena, count, Launch),
        .may_wait = NEW_ARRAY(arena, count, bool),
        .left = NEW_ARRAY(arena, count, int32_t), .group = NONE,
        .waiting = NEW_ARRAY(arena, count, Waiting),
        .by_wave = NEW_ARRAY(arena, count, int32_t),
        .wave_start = NEW_ARRAY(arena, count + 2, int32_t),
        .lasts = NEW_ARRAY(arena, count, int32_t),
        .done = NEW_ARRAY(arena, count, bool),
        .stays = NEW_ARRAY(arena, count, bool),
        .trial = NEW_ARRAY(arena, count, NodeId),
        .kind = NEW_ARRAY(arena, count, int32_t),
        .waits = NEW_ARRAY(arena, count, bool),
        .wave = NEW_ARRAY(arena, count, int32_t),
        .round = NEW_ARRAY(arena, count, int32_t),
        .order = NEW_ARRAY(arena, count, NodeId),
        .grouped = NEW_ARRAY(arena, count, bool),
    };
    find_launches(&s);
    find_kinds(&s);
    s.peak = lives_peak(&start, s.order);
    if (g->decisions.waits.permille > 0)
        s.peak = s.peak / 1000 * g->decisions.waits.permille;
    s.now = lives_copy(&start);
    for (NodeId i = 0; i < g->node_count; i++) visit(&s, i);
    launch_waiting(&s);
    graph_reorder(g, s.order);
    for (NodeId i = 0; i < g->node_count; i++)
        g->nodes[i].grouped = s.grouped[i];
    arena_free(arena);
}
