// Together: launches of one kind, each over arrays of its own, as one.
//
//   [40] a.sgd: sgd(a, d.a, ...)         [41] a.sgd: sgd(a, d.a, ...)
//   [41] b.grad: ...                 ->  [42] b.sgd: sgd(b, d.b, ...) joined
//   [42] b.sgd: sgd(b, d.b, ...)
//
// What kernels take several arrays is their operators' to say (launch_item):
// updates of parameters, of averages and of running statistics, gradients that
// are summed over batches or in parts.  Such a launch waits for others, which
// keeps alive what it reads, and so it waits no longer than memory allows:
// before a node in which more bytes would be alive than the order had at its
// peak, those of a kind are launched, first the kind that keeps most bytes; all
// are, before a node that needs one.  So the peak stays what schedule made it.
// What needs one that waits, and is of such a kind, waits with it for a later
// launch.
//
// Should the arena be larger all the same (addresses are harder to find where
// more is alive, and slices count as whole here), the runner asks again,
// without what makes a value, with a part of the peak or for what keeps little
// (Graph.waits), and at last leaves the pass out.
#include "../ir/together.h"
#include "depend.h"
#include "lives.h"
#include "pass.h"

void pass_together(Graph *g);

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
    Waiting    *waiting;
    int32_t     waiting_count;
    bool       *trial;          // of each, while bytes are counted
    bool       *waits;          // of each node, while all are launched
    // Of each node, if `round` is the current one: the first wave that it could
    // be in, for it needs one that waits.
    int32_t    *wave, *round;
    int32_t     rounds;
    NodeId     *order;          // as far as it is made; which are joined
    bool       *joined;
    int32_t     order_count;
} Grouper;

static void put(Grouper *s, NodeId i, bool joined)
{
    s->joined[s->order_count] = joined;
    s->order[s->order_count++] = i;
    lives_run(&s->now, i);
}

// Whether waiting nodes a and b are of one kind.
static bool same_kind(const Grouper *s, int32_t a, int32_t b)
{
    const Node *n = &s->g->nodes[s->waiting[a].node];
    const Node *m = &s->g->nodes[s->waiting[b].node];
    return m->op == n->op && m->part == n->part;
}

// Puts the node that waits at `at`, and after it all of its wave that can be in
// the same launch.
static void launch_group(Grouper *s, int32_t at, bool *done)
{
    Waiting first = s->waiting[at];
    const Launch *l = &s->launch[first.node];
    Phase phase = s->g->nodes[first.node].phase;
    int64_t bytes = 0;
    for (int32_t k = at; k < s->waiting_count; k++) {
        Waiting w = s->waiting[k];
        if (done[k] || w.wave != first.wave || !same_kind(s, at, k) ||
            s->g->nodes[w.node].phase != phase ||
            !are_alike(l, &s->launch[w.node]))
            continue;
        int64_t more = item_bytes(&s->launch[w.node]);
        if (bytes + more > MOST_ITEM_BYTES) break;
        bytes += more;
        done[k] = true;
        put(s, w.node, k > at);
    }
}

// What no other waits for goes with the last of its kind.
static void move_back(Grouper *s)
{
    const Edge *edges = s->depend.edges;
    for (int32_t k = 0; k < s->waiting_count; k++)
        s->waits[s->waiting[k].node] = true;
    for (int32_t k = 0; k < s->waiting_count; k++) {
        Waiting *w = &s->waiting[k];
        int32_t e = s->depend.first[w->node];
        while (e != NONE && !s->waits[edges[e].to]) e = edges[e].next;
        for (int32_t j = 0; j < s->waiting_count && e == NONE; j++)
            if (same_kind(s, k, j) && s->waiting[j].wave > w->wave)
                w->wave = s->waiting[j].wave;
    }
    for (int32_t k = 0; k < s->waiting_count; k++)
        s->waits[s->waiting[k].node] = false;
}

// All that wait.
static void launch_waiting(Grouper *s)
{
    bool *done = NEW_ARRAY(s->g->arena, s->waiting_count, bool);
    move_back(s);
    int32_t waves = 0;
    for (int32_t k = 0; k < s->waiting_count; k++)
        if (s->waiting[k].wave >= waves) waves = s->waiting[k].wave + 1;
    for (int32_t wave = 0; wave < waves; wave++)
        for (int32_t k = 0; k < s->waiting_count; k++)
            if (!done[k] && s->waiting[k].wave == wave)
                launch_group(s, k, done);
    s->waiting_count = 0;
    s->rounds++;
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

// Of the first wave the kind that keeps most bytes alive; false: none keeps
// any.
static bool launch_fullest(Grouper *s)
{
    bool *done = NEW_ARRAY(s->g->arena, s->waiting_count, bool);
    bool *stays = NEW_ARRAY(s->g->arena, s->waiting_count, bool);
    int32_t fullest = NONE, left = 0;
    int64_t most = 0;
    for (int32_t k = 0; k < s->waiting_count; k++) {
        if (done[k] || s->waiting[k].wave > 0) continue;
        int64_t bytes = bytes_waiting(s, k, done);
        if (bytes > most) most = bytes, fullest = k;
    }
    if (fullest == NONE) return false;
    for (int32_t k = 0; k < s->waiting_count; k++)
        stays[k] = done[k] =
            s->waiting[k].wave > 0 || !same_kind(s, fullest, k);
    for (int32_t k = 0; k < s->waiting_count; k++)
        if (!done[k]) launch_group(s, k, done);
    for (int32_t k = 0; k < s->waiting_count; k++)
        if (stays[k]) s->waiting[left++] = s->waiting[k];
    s->waiting_count = left;
    return true;
}

static void wait(Grouper *s, NodeId i)
{
    int32_t wave = s->round[i] == s->rounds ? s->wave[i] : 0;
    s->waiting[s->waiting_count++] = (Waiting){ i, wave };
    const Edge *edges = s->depend.edges;
    for (int32_t k = s->depend.first[i]; k != NONE; k = edges[k].next) {
        NodeId to = edges[k].to;
        if (s->round[to] != s->rounds || s->wave[to] <= wave)
            s->wave[to] = wave + 1;
        s->round[to] = s->rounds;
    }
}

// Whether what node i reads last has not more bytes than may wait.
static bool keeps_little(Grouper *s, NodeId i)
{
    int64_t before = s->now.live, parts = s->g->waits.parts;
    if (parts == 0) return true;
    lives_run(&s->now, i);
    int64_t bytes = before - s->now.live;
    lives_take_back(&s->now, i);
    return bytes <= s->peak / parts;
}

static void visit(Grouper *s, NodeId i)
{
    bool needs = s->round[i] == s->rounds;
    if (s->may_wait[i] && (needs || keeps_little(s, i))) {
        wait(s, i);
        return;
    }
    if (needs) launch_waiting(s);
    while (s->waiting_count > 0 && lives_within(&s->now, i) > s->peak)
        if (!launch_fullest(s)) launch_waiting(s);
    put(s, i, false);
}

static void find_launches(Grouper *s)
{
    for (NodeId i = 0; i < s->g->node_count; i++) {
        const Node *n = &s->g->nodes[i];
        s->round[i] = NONE;
        s->order[i] = i;
        if (!is_launch(n) || (n->op->flags & COPIES) ||
            (n->result_count > 0 && !s->g->waits.makers))
            continue;
        s->launch[i].g = s->g;
        n->op->parts[n->part].launch(s->g, n, &s->launch[i]);
        s->may_wait[i] = takes_items(&s->launch[i]);
    }
}

void pass_together(Graph *g)
{
    size_t count = (size_t)g->node_count;
    Lives start = lives_new(g);
    Grouper s = {
        .g = g, .depend = find_dependences(g, start.class_of),
        .launch = NEW_ARRAY(g->arena, count, Launch),
        .may_wait = NEW_ARRAY(g->arena, count, bool),
        .waiting = NEW_ARRAY(g->arena, count, Waiting),
        .trial = NEW_ARRAY(g->arena, count, bool),
        .waits = NEW_ARRAY(g->arena, count, bool),
        .wave = NEW_ARRAY(g->arena, count, int32_t),
        .round = NEW_ARRAY(g->arena, count, int32_t),
        .order = NEW_ARRAY(g->arena, count, NodeId),
        .joined = NEW_ARRAY(g->arena, count, bool),
    };
    find_launches(&s);
    s.peak = lives_peak(&start, s.order);
    if (g->waits.permille > 0) s.peak = s.peak / 1000 * g->waits.permille;
    s.now = lives_copy(&start);
    for (NodeId i = 0; i < g->node_count; i++) visit(&s, i);
    launch_waiting(&s);
    graph_reorder(g, s.order);
    for (NodeId i = 0; i < g->node_count; i++) g->nodes[i].joined = s.joined[i];
}
