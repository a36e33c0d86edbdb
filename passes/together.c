// Together: launches of one kind, each over arrays of its own, as one.
//
//   [40] a.sgd: sgd(a, d.a, ...)         [41] a.sgd: sgd(a, d.a, ...)
//   [41] b.grad: ...                 ->  [42] b.sgd: sgd(b, d.b, ...) joined
//   [42] b.sgd: sgd(b, d.b, ...)
//
// What kernels take several arrays is their operators' to say (launch_item):
// updates of parameters, of averages and of running statistics, gradients that
// are summed over batches.  Such a launch waits for others, which keeps alive
// what it reads, and so it waits no longer than memory allows: all that wait
// are launched before a node in which more bytes would be alive than the order
// had at its peak, or which needs one of them.  So the peak stays what schedule
// made it.  What needs one that waits, and is of such a kind, waits with it for
// a later launch.
//
// Should the arena be larger all the same (addresses are harder to find where
// more is alive, and slices count as whole here), the runner asks again, with a
// part of the peak (Graph.waiting_percent), and at last leaves the pass out.
#include <string.h>
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

// Puts the node that waits at `at`, and after it all of its wave that can be in
// the same launch.
static void launch_group(Grouper *s, int32_t at, bool *done)
{
    Waiting first = s->waiting[at];
    const Launch *l = &s->launch[first.node];
    const Node *n = &s->g->nodes[first.node];
    int64_t bytes = 0;
    for (int32_t k = at; k < s->waiting_count; k++) {
        Waiting w = s->waiting[k];
        const Node *m = &s->g->nodes[w.node];
        if (done[k] || w.wave != first.wave || m->op != n->op ||
            m->part != n->part || m->phase != n->phase ||
            !are_alike(l, &s->launch[w.node]))
            continue;
        int64_t more = item_bytes(&s->launch[w.node]);
        if (bytes + more > MOST_ITEM_BYTES) break;
        bytes += more;
        done[k] = true;
        put(s, w.node, k > at);
    }
}

static void launch_waiting(Grouper *s)
{
    bool *done = NEW_ARRAY(s->g->arena, s->waiting_count, bool);
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

static void visit(Grouper *s, NodeId i)
{
    bool needs = s->round[i] == s->rounds;
    if (s->may_wait[i]) {
        wait(s, i);
        return;
    }
    if (s->waiting_count > 0 &&
        (needs || lives_within(&s->now, i) > s->peak))
        launch_waiting(s);
    put(s, i, false);
}

static void reorder(Grouper *s)
{
    Graph *g = s->g;
    Node *nodes = NEW_ARRAY(g->arena, g->node_count, Node);
    for (NodeId i = 0; i < g->node_count; i++) {
        nodes[i] = g->nodes[s->order[i]];
        nodes[i].joined = s->joined[i];
        for (int32_t r = 0; r < nodes[i].result_count; r++)
            if (nodes[i].results[r] != NONE)
                g->values[nodes[i].results[r]].def = i;
    }
    memcpy(g->nodes, nodes, (size_t)g->node_count * sizeof(Node));
}

// What makes something may not wait: it would be read.
static void find_launches(Grouper *s)
{
    for (NodeId i = 0; i < s->g->node_count; i++) {
        const Node *n = &s->g->nodes[i];
        s->round[i] = NONE;
        s->order[i] = i;
        if (!is_launch(n) || n->result_count > 0 || (n->op->flags & COPIES))
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
        .wave = NEW_ARRAY(g->arena, count, int32_t),
        .round = NEW_ARRAY(g->arena, count, int32_t),
        .order = NEW_ARRAY(g->arena, count, NodeId),
        .joined = NEW_ARRAY(g->arena, count, bool),
    };
    find_launches(&s);
    s.peak = lives_peak(&start, s.order);
    if (g->waiting_percent > 0) s.peak = s.peak / 100 * g->waiting_percent;
    s.now = lives_copy(&start);
    for (NodeId i = 0; i < g->node_count; i++) visit(&s, i);
    launch_waiting(&s);
    reorder(&s);
}
