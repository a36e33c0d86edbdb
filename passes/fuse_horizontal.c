// fuse_horizontal: launches of one kind, each over arrays of its own, as one.
//
//   [40] a.sgd: sgd(a, d.a, ...)         [41] a.sgd: sgd(a, d.a, ...)
//   [41] b.grad: ...                 ->  [42] b.sgd: sgd(b, d.b, ...) grouped
//   [42] b.sgd: sgd(b, d.b, ...)
//
// What kernels take several arrays is their operators' to say (launch_item):
// updates of parameters, of averages and of running statistics, gradients that
// are summed over batches or in parts; and what does several things to the same
// rows (launch_own): a loss, its gradient and metrics.  Such a launch waits for
// others, which keeps alive what it reads, and so it waits no longer than
// memory allows: before a node in which more bytes would be alive than the
// order had at its peak, those of a kind are launched, first the kind that
// keeps most bytes; and before any node those that it needs.  So the peak stays
// what schedule made it.  What needs one that waits, and is of such a kind,
// waits with it for a later launch.
//
// What a launch can do last (Kernel.last), as the sums of a loss's rows and the
// end of the training step, is grouped with the one behind which it stands, or
// to the one that it waits for.
//
// Should the arena be larger all the same (addresses are harder to find where
// more is alive, and slices count as whole here), the runner asks again,
// without what makes a value, with a part of the peak or for what keeps little
// (Graph.waits), and at last leaves the pass out.
#include "../ir/launch_group.h"
#include "order/dependences.h"
#include "order/live_model.h"
#include "pass.h"

// A node that waits, to be launched in the wave after those that it needs.
typedef struct Waiting {
    NodeId  node;
    int32_t wave;
} Waiting;

typedef struct Grouper {
    Graph      *g;
    Dependences depend;
    Lives       now;
    int64_t     peak;           // what may be alive while launches wait
    Launch     *launch;         // of each node that takes several arrays
    bool       *may_wait;       // of each node
    int32_t    *left;           // of each: how many it needs that are not put
    NodeId      group;          // the first of the launch that was put last, if
                                // it can do more at its end; or NONE
    Waiting    *waiting;
    int32_t     waiting_count;
    bool       *trial;          // of each, while bytes are counted
    bool       *waits;          // of each node, while all are launched
    // Of each node that needs one that waits, if `round` is the current one:
    // the first wave that it could be in.
    int32_t    *wave, *round;
    int32_t     rounds;
    NodeId     *order;          // as far as it is made; which are grouped
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

// Puts what can be done last: at the end of the launch before it, if that can
// do more there.
static void put_last(Grouper *s, NodeId i)
{
    put(s, i, s->group != NONE);
    s->group = NONE;
}

// Whether waiting nodes a and b are of one kind.
static bool same_kind(const Grouper *s, int32_t a, int32_t b)
{
    const Node *n = &s->g->nodes[s->waiting[a].node];
    const Node *m = &s->g->nodes[s->waiting[b].node];
    const Launch *l = &s->launch[s->waiting[a].node];
    return (m->op == n->op && m->kernel == n->kernel) ||
           (l->own_arg > 0 && are_alike(l, &s->launch[s->waiting[b].node]));
}

// Puts what waits to be done last and needs no other that is not put, behind
// the launch that was put last.
static void put_waiting_last(Grouper *s, bool *done)
{
    for (int32_t k = 0; k < s->waiting_count && s->group != NONE; k++) {
        NodeId i = s->waiting[k].node;
        if (done[k] || !can_be_last(s, i) || s->left[i] > 0) continue;
        done[k] = true;
        put_last(s, i);
    }
}

// Puts the node that waits at `at`, and after it all of its wave that can be in
// the same launch.
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

// Whether another that waits needs this node.
static bool is_waited_for(const Grouper *s, NodeId i)
{
    const Edge *edges = s->depend.edges;
    int32_t e = s->depend.first[i];
    while (e != NONE && !s->waits[edges[e].to]) e = edges[e].next;
    return e != NONE;
}

// What no other waits for goes with the last of its kind; if it is done last,
// behind all, and so nobody has to go before it.
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

// Wave by wave those that wait, but for the ones that stay, for which the waves
// begin anew; of these, what is done last may go with a launch.
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

// Those that node i needs, and what goes with them.
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

// The bytes that would be free if the first wave of waiting node `at` and its
// kind were launched; all of them are counted.
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

// Of all waves those of a kind, that of waiting node `of`, and what they need.
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

// The kind that in the first wave keeps most bytes alive; false: none keeps
// any.
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

// Whether what node i reads last has not more bytes than may wait.
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
    Lives start = lives_new(g);
    Grouper s = {
        .g = g, .depend = find_dependences(g, start.class_of),
        .launch = NEW_ARRAY(g->arena, count, Launch),
        .may_wait = NEW_ARRAY(g->arena, count, bool),
        .left = NEW_ARRAY(g->arena, count, int32_t), .group = NONE,
        .waiting = NEW_ARRAY(g->arena, count, Waiting),
        .trial = NEW_ARRAY(g->arena, count, bool),
        .waits = NEW_ARRAY(g->arena, count, bool),
        .wave = NEW_ARRAY(g->arena, count, int32_t),
        .round = NEW_ARRAY(g->arena, count, int32_t),
        .order = NEW_ARRAY(g->arena, count, NodeId),
        .grouped = NEW_ARRAY(g->arena, count, bool),
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
}
