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
} Waiting;

typedef struct Grouper {
    Graph      *g;
    Dependences depend;
    Lives       now;
    int64_t     peak;           // limit of live bytes while launches are
                                // delayed
    Launch     *launch;         // of each node that takes several arrays
    bool       *may_wait;       // of each node: it may be delayed
    int32_t    *left;           // of each: the nodes it needs that are not in
                                // order yet
    NodeId      group;          // the first node of the last launch, if its
                                // last block can do more; or NONE
    Waiting    *waiting;
    int32_t     waiting_count;
    bool       *trial;          // of each delayed node, while bytes are counted
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

// True if delayed nodes a and b are of one kind.
static bool same_kind(const Grouper *s, int32_t a, int32_t b)
{
    const Node *n = &s->g->nodes[s->waiting[a].node];
    const Node *m = &s->g->nodes[s->waiting[b].node];
    const Launch *l = &s->launch[s->waiting[a].node];
    return (m->op == n->op && m->kernel == n->kernel) ||
           (l->own_arg > 0 && are_alike(l, &s->launch[s->waiting[b].node]));
}

// Appends delayed nodes that a last block can do and that need nothing more, to
// the last launch.
static void put_waiting_last(Grouper *s, bool *done)
{
    for (int32_t k = 0; k < s->waiting_count && s->group != NONE; k++) {
        NodeId i = s->waiting[k].node;
        if (done[k] || !can_be_last(s, i) || s->left[i] > 0) continue;
        done[k] = true;
        put_last(s, i);
    }
}

// Appends the delayed node `at`, grouped with all of its wave that fit in the
// same launch.
static void launch_group(Grouper *s, int32_t at, bool *done)
{
    Waiting first = s->waiting[at];
    const Launch *l = &s->launch[first.node];
    Phase phase = s->g->nodes[first.node].phase;
    int64_t bytes = 0;
    if (can_be_last(s, first.node)) {
        done[at] = true;
        put_last(s, first.node);
        return;
    }
    for (int32_t k = at; k < s->waiting_count; k++) {
        Waiting w = s->waiting[k];
        if (k > at &&
            (done[k] || w.wave != first.wave || !same_kind(s, at, k) ||
             (s->g->nodes[w.node].phase != phase && l->own_arg == 0) ||
             !are_alike(l, &s->launch[w.node])))
            continue;
        int64_t more = item_bytes(&s->launch[w.node]);
        if (bytes + more > MOST_ITEM_BYTES) break;
        bytes += more;
        done[k] = true;
        put(s, w.node, k > at);
    }
    put_waiting_last(s, done);
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
    for (int32_t k = 0; k < s->waiting_count; k++) {
        Waiting *w = &s->waiting[k];
        if (is_waited_for(s, w->node)) continue;
        for (int32_t j = 0; j < s->waiting_count; j++)
            if (same_kind(s, k, j) && s->waiting[j].wave > w->wave)
                w->wave = s->waiting[j].wave;
    }
    for (int32_t k = 0; k < s->waiting_count; k++)
        s->waits[s->waiting[k].node] = false;
}

static void wait(Grouper *s, NodeId i)
{
    int32_t wave = s->left[i] > 0 ? s->wave[i] : 0;
    s->waiting[s->waiting_count++] = (Waiting){ i, wave };
    const Edge *edges = s->depend.edges;
    for (int32_t k = s->depend.first[i]; k != NONE; k = edges[k].next) {
        NodeId to = edges[k].to;
        if (s->round[to] != s->rounds || s->wave[to] <= wave)
            s->wave[to] = wave + 1;
        s->round[to] = s->rounds;
    }
}

// Launches the delayed nodes wave by wave, except those that stay.  Their waves
// are numbered anew; those for a last block may still join a launch.
static void launch_waves(Grouper *s, const bool *stays)
{
    bool *done = NEW_ARRAY(s->g->arena, s->waiting_count, bool);
    int32_t waves = 0, left = 0;
    for (int32_t k = 0; k < s->waiting_count; k++) {
        if (s->waiting[k].wave >= waves) waves = s->waiting[k].wave + 1;
        done[k] = stays[k] && !can_be_last(s, s->waiting[k].node);
    }
    for (int32_t wave = 0; wave < waves; wave++)
        for (int32_t k = 0; k < s->waiting_count; k++)
            if (!done[k] && !stays[k] && s->waiting[k].wave == wave)
                launch_group(s, k, done);
    for (int32_t k = 0; k < s->waiting_count; k++)
        if (stays[k] && (!done[k] || !can_be_last(s, s->waiting[k].node)))
            s->waiting[left++] = s->waiting[k];
    s->waiting_count = 0;
    s->rounds++;
    for (int32_t k = 0; k < left; k++) wait(s, s->waiting[k].node);
}

static void launch_waiting(Grouper *s)
{
    bool *stays = NEW_ARRAY(s->g->arena, s->waiting_count, bool);
    move_back(s);
    launch_waves(s, stays);
}

// Launches the delayed nodes that node i needs, and others of their kind and
// wave.
static void launch_needed(Grouper *s, NodeId i)
{
    bool *stays = NEW_ARRAY(s->g->arena, s->waiting_count, bool);
    s->waits[i] = true;
    for (int32_t k = s->waiting_count - 1; k >= 0; k--) {
        stays[k] = !is_waited_for(s, s->waiting[k].node);
        s->waits[s->waiting[k].node] = !stays[k];
    }
    for (int32_t k = 0; k < s->waiting_count; k++)
        for (int32_t j = 0; j < s->waiting_count && stays[k]; j++)
            stays[k] = !s->waits[s->waiting[j].node] || !same_kind(s, j, k) ||
                       s->waiting[j].wave != s->waiting[k].wave;
    s->waits[i] = false;
    for (int32_t k = 0; k < s->waiting_count; k++)
        s->waits[s->waiting[k].node] = false;
    launch_waves(s, stays);
}

// Returns the bytes freed by launching, from the first wave, the kind of
// delayed node `at`.  Sets counted for all nodes of that kind.
static int64_t bytes_waiting(Grouper *s, int32_t at, bool *counted)
{
    int64_t before = s->now.live;
    for (int32_t k = at; k < s->waiting_count; k++) {
        bool is_kind = same_kind(s, at, k) && s->waiting[k].wave == 0 &&
                       !counted[k];
        s->trial[k] = is_kind;
        if (!is_kind) continue;
        counted[k] = true;
        lives_run(&s->now, s->waiting[k].node);
    }
    int64_t bytes = before - s->now.live;
    for (int32_t k = s->waiting_count - 1; k >= at; k--)
        if (s->trial[k]) lives_take_back(&s->now, s->waiting[k].node);
    return bytes;
}

// Launches all waves of one kind, that of delayed node `of`, and the nodes that
// they need.
static void launch_kind(Grouper *s, int32_t of)
{
    bool *is_kind = NEW_ARRAY(s->g->arena, s->waiting_count, bool);
    bool *stays = NEW_ARRAY(s->g->arena, s->waiting_count, bool);
    int32_t last = 0;
    for (int32_t k = s->waiting_count - 1; k >= 0; k--) {
        const Waiting *w = &s->waiting[k];
        is_kind[k] = same_kind(s, of, k);
        if (is_kind[k] && w->wave > last) last = w->wave;
        stays[k] = !is_kind[k] && !is_waited_for(s, w->node);
        s->waits[w->node] = !stays[k];
    }
    for (int32_t k = 0; k < s->waiting_count; k++)
        if (is_kind[k] && !is_waited_for(s, s->waiting[k].node))
            s->waiting[k].wave = last;
    for (int32_t k = 0; k < s->waiting_count; k++)
        s->waits[s->waiting[k].node] = false;
    launch_waves(s, stays);
}

// Launches the kind whose first wave frees most bytes; false if none frees any.
static bool launch_fullest(Grouper *s)
{
    bool *done = NEW_ARRAY(s->g->arena, s->waiting_count, bool);
    int32_t fullest = NONE;
    int64_t most = 0;
    for (int32_t k = 0; k < s->waiting_count; k++) {
        if (done[k] || s->waiting[k].wave > 0) continue;
        int64_t bytes = bytes_waiting(s, k, done);
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
        .trial = NEW_ARRAY(arena, count, bool),
        .waits = NEW_ARRAY(arena, count, bool),
        .wave = NEW_ARRAY(arena, count, int32_t),
        .round = NEW_ARRAY(arena, count, int32_t),
        .order = NEW_ARRAY(arena, count, NodeId),
        .grouped = NEW_ARRAY(arena, count, bool),
    };
    find_launches(&s);
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
