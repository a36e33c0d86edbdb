// schedule: orders the launches for the smallest peak of live bytes.
//
//   wgrad2 dgrad2 wgrad1 sgd1 sgd2  ->  wgrad2 dgrad2 sgd2 wgrad1 sgd1
//
// Forward comes before backward, and the last node closes the training step.
// The program's order stays if its peak is the lower bound (peak_bound.c).
// Otherwise the pass tries other orders and takes the first with the lowest
// peak:
//
//   - greedy: the ready node after which the fewest bytes are alive.  So an
//     update runs as soon as its gradient exists and all readers of its weight
//     are done.  A weight gradient waits while it is larger than the bytes that
//     it frees;
//   - the same, where a gradient that only an update reads counts as freed;
//   - the best of all orders, if the search ends (peak_search.c): of backward
//     and update, and of forward if the peak is there.
//
// Views and values computed on load come as early as possible: they cost
// nothing.
#include <string.h>
#include "../ir/base/search_cache.h"
#include "order/order.h"
#include "pass.h"

typedef struct Ready {
    int64_t key;                // change of live bytes by the node
    NodeId  node;
} Ready;

typedef struct Scheduler {
    struct Known *known;        // results of searches; NULL: none is kept
    Graph      *g;
    Dependences depend;
    Lives       start;          // before the first node
    NodeId      middle, end;    // the first backward node; the last node
    // While a list is made: live bytes; for each class the sum of the node ids
    // of its readers that have not run, which is the last reader when one is
    // left; a heap of ready nodes; for each node the number of nodes it waits
    // for.
    Lives       now;
    int64_t    *sum;
    bool        eager;
    Ready      *heap;
    int32_t     heap_count, heap_capacity;
    int32_t    *needed;
    bool       *done;
    NodeId     *order;
    int32_t     order_count;
} Scheduler;

// ---- the list of ready nodes ------------------------------------------------

// True if an update is the only remaining reader of result v.
static bool goes_to_update(const Scheduler *s, ValueId v)
{
    return v != NONE && !s->now.kept[v] && s->now.readers[v] == 1 &&
           s->g->nodes[s->sum[v]].result_count == 0;
}

// Returns the change of live bytes by node i; the smallest number for a view.
static int64_t change(Scheduler *s, NodeId i)
{
    const Node *n = &s->g->nodes[i];
    int64_t before = s->now.live;
    if (!is_launch(n)) return INT64_MIN;
    lives_run(&s->now, i);
    int64_t bytes = s->now.live - before;
    lives_take_back(&s->now, i);
    for (int32_t r = 0; r < n->result_count && s->eager; r++)
        if (goes_to_update(s, n->results[r]))
            bytes -= s->now.bytes[n->results[r]];
    return bytes;
}

static bool comes_before(Ready a, Ready b)
{
    return a.key != b.key ? a.key < b.key : a.node < b.node;
}

static void push(Scheduler *s, NodeId i)
{
    if (i < s->middle || i >= s->end || s->done[i]) return;
    s->heap = arena_grow(s->g->arena, s->heap, &s->heap_capacity,
                         (int64_t)s->heap_count + 1, sizeof(Ready));
    Ready ready = {change(s, i), i};
    int32_t k = s->heap_count++;
    for (; k > 0 && comes_before(ready, s->heap[(k - 1) / 2]); k = (k - 1) / 2)
        s->heap[k] = s->heap[(k - 1) / 2];
    s->heap[k] = ready;
}

static NodeId pop(Scheduler *s)
{
    NodeId first = s->heap[0].node;
    Ready moved = s->heap[--s->heap_count];
    int32_t k = 0;
    for (;;) {
        int32_t child = 2 * k + 1;
        if (child >= s->heap_count) break;
        if (child + 1 < s->heap_count &&
            comes_before(s->heap[child + 1], s->heap[child]))
            child++;
        if (!comes_before(s->heap[child], moved)) break;
        s->heap[k] = s->heap[child];
        k = child;
    }
    s->heap[k] = moved;
    return first;
}

// Appends node i.  A node that is now the last reader of a value frees more
// than when it was pushed.  It is pushed once more; the older entry, which
// comes later, is ignored because the node is done.
static void emit(Scheduler *s, NodeId i)
{
    Lives *now = &s->now;
    s->order[s->order_count++] = i;
    s->done[i] = true;
    lives_run(now, i);
    for (int32_t k = now->reads[i]; k < now->reads[i + 1]; k++) {
        ValueId class = now->read[k];
        s->sum[class] -= i;
        if (now->readers[class] != 1 || now->kept[class]) continue;
        NodeId other = (NodeId)s->sum[class];
        if (s->needed[other] == 0) push(s, other);
    }
    const Edge *edges = s->depend.edges;
    for (int32_t k = s->depend.first[i]; k != NONE; k = edges[k].next)
        if (--s->needed[edges[k].to] == 0) push(s, edges[k].to);
}

static void begin_list(Scheduler *s, bool eager)
{
    size_t count = (size_t)s->g->node_count;
    s->eager = eager;
    s->now = lives_copy(&s->start);
    s->sum = NEW_ARRAY(s->g->arena, s->g->value_count, int64_t);
    s->order = NEW_ARRAY(s->g->arena, count, NodeId);
    s->needed = NEW_ARRAY(s->g->arena, count, int32_t);
    s->done = NEW_ARRAY(s->g->arena, count, bool);
    s->order_count = s->heap_count = 0;
    memcpy(s->needed, s->depend.needed, count * sizeof(int32_t));
    for (NodeId i = 0; i < s->g->node_count; i++)
        for (int32_t k = s->now.reads[i]; k < s->now.reads[i + 1]; k++)
            s->sum[s->now.read[k]] += i;
}

static NodeId *make_list(Scheduler *s, bool eager)
{
    int32_t count = s->g->node_count;
    begin_list(s, eager);
    for (NodeId i = s->middle; i < s->end; i++)
        if (s->needed[i] == 0) push(s, i);
    for (NodeId i = 0; i < s->middle; i++) emit(s, i);
    while (s->heap_count > 0) {
        NodeId i = pop(s);
        if (!s->done[i]) emit(s, i);
    }
    for (NodeId i = s->end; i < count; i++) emit(s, i);
    if (s->order_count != count) bug("schedule: some nodes never get ready");
    return s->order;
}

// ---- the pass ---------------------------------------------------------------

// The best order so far, and its peak.
typedef struct Best {
    NodeId *order;
    int64_t peak;
} Best;

static void offer(const Scheduler *s, NodeId *order, Best *best)
{
    int64_t peak = lives_peak(&s->start, order);
    if (best->order != NULL && peak >= best->peak) return;
    best->order = order;
    best->peak = peak;
}

static NodeId *copy_order(const Scheduler *s, const NodeId *order)
{
    size_t count = (size_t)s->g->node_count;
    NodeId *copy = NEW_ARRAY(s->g->arena, count, NodeId);
    for (size_t i = 0; i < count; i++) copy[i] = order ? order[i] : (NodeId)i;
    return copy;
}

// Appends node i, and then nodes without a launch that only waited for it.
static void place(Scheduler *s, NodeId i)
{
    const Edge *edges = s->depend.edges;
    s->order[s->order_count++] = i;
    s->done[i] = true;
    for (int32_t k = s->depend.first[i]; k != NONE; k = edges[k].next) {
        NodeId to = edges[k].to;
        bool same_side = (i < s->middle) == (to < s->middle);
        if (--s->needed[to] == 0 && same_side &&
            !is_launch(&s->g->nodes[to]))
            place(s, to);
    }
}

// Returns the same order of launches with views as early as possible.  The
// search places views anywhere, but live ranges are counted in nodes.
static NodeId *hoist_views(Scheduler *s, const NodeId *order)
{
    begin_list(s, false);
    for (int32_t k = 0; k < s->g->node_count; k++) {
        for (NodeId i = s->middle; k == s->middle && i < s->end; i++)
            if (s->needed[i] == 0 && !is_launch(&s->g->nodes[i]) && !s->done[i])
                place(s, i);
        if (!s->done[order[k]]) place(s, order[k]);
    }
    return s->order;
}

// Searches for the best order.  Returns true if it proves that no order is
// better than the best of those found so far.
static bool search(Scheduler *s, int64_t bound, Best *best)
{
    int64_t most = s->g->decisions.remat_schedule ? 1 << 20 : 1 << 22,
        work = most;
    NodeId *order = copy_order(s, best->order);
    Region forward = {0, s->middle}, rest = {s->middle, s->end};
    bool exact = best_order(&s->start, &s->depend, rest, bound, &work, order);
    NodeId *tried = copy_order(s, order);
    exact &= best_order(&s->start, &s->depend, forward, bound, &work, tried);
    known_spend(s->known, most - work, WORK_ORDER_STEP);
    offer(s, hoist_views(s, order), best);
    offer(s, hoist_views(s, tried), best);
    return exact;
}

// Sets the best order and its peak; returns a lower bound of all peaks.  The
// result depends only on dependences and bytes.
static int64_t find_order(Scheduler *s, Best *best)
{
    offer(s, copy_order(s, NULL), best);
    int64_t bound = order_bound(&s->start, &s->depend, s->middle, best->order);
    for (int eager = 0; eager < 2 && best->peak > bound; eager++)
        offer(s, make_list(s, eager), best);
    // An evaluation without scores omits losses and metrics, so they stay last.
    if (best->peak > bound && s->g->mode != EVAL && search(s, bound, best))
        bound = best->peak;
    return bound;
}

// ---- cached orders ----------------------------------------------------------

typedef struct Order {
    int64_t peak, bound;
    NodeId  node[];
} Order;

static KnownKey key_of_order(const Scheduler *s)
{
    const Graph *g = s->g;
    const Lives *l = &s->start;
    KnownKey key = key_of_kind(KNOWN_ORDER);
    key_add(&key, g->mode == EVAL);
    key_add(&key, g->decisions.remat_schedule != NULL);
    key_add(&key, s->middle);
    key_add(&key, s->end);
    key_add_all(&key, l->class_of, g->value_count);
    key_add_sizes(&key, l->bytes, g->value_count);
    key_add_flags(&key, l->kept, g->value_count);
    key_add_all(&key, l->made, g->value_count);
    key_add_all(&key, l->reads, g->node_count + 1);
    key_add_all(&key, l->read, l->reads[g->node_count]);
    key_add_all(&key, l->overs, g->node_count + 1);
    for (int32_t k = 0; k < l->overs[g->node_count]; k++) {
        key_add(&key, l->over[k].result);
        key_add(&key, l->over[k].class);
    }
    for (NodeId i = 0; i < g->node_count; i++) {
        const Node *n = &g->nodes[i];
        key_add(&key, is_launch(n));
        key_add_all(&key, n->results, n->result_count);
        for (int32_t k = s->depend.first[i]; k != NONE;
             k = s->depend.edges[k].next)
            key_add(&key, s->depend.edges[k].to);
        key_add(&key, NONE);
    }
    return key;
}

static void keep_order(const Scheduler *s, KnownKey key, const Best *best,
                       int64_t bound)
{
    int32_t count = s->g->node_count;
    size_t bytes = sizeof(Order) + (size_t)count * sizeof(NodeId);
    Arena *arena = known_room(s->known, (int64_t)bytes);
    if (arena == NULL) return;
    Order *order = arena_alloc(arena, 1, bytes);
    order->peak = best->peak;
    order->bound = bound;
    memcpy(order->node, best->order, (size_t)count * sizeof(NodeId));
    known_keep(s->known, key, order);
}

static int64_t find_or_recall_order(Scheduler *s, Best *best)
{
    KnownKey key = key_of_order(s);
    const Order *order = known_find(s->known, key);
    if (order != NULL) {
        *best = (Best){ copy_order(s, order->node), order->peak };
        return order->bound;
    }
    int64_t bound = find_order(s, best);
    keep_order(s, key, best, bound);
    return bound;
}

// In a graph without a training step, all nodes are forward.
void pass_schedule(Graph *g, const PassOptions *o)
{
    Graph scratch = graph_with_new_arena(g);
    Scheduler s = {.g = &scratch, .known = o->known, .end = g->node_count};
    Best best = {0};
    while (s.middle < s.end && g->nodes[s.middle].phase == FORWARD) s.middle++;
    if (s.middle < s.end) s.end--;
    s.start = lives_new(&scratch);
    s.depend = find_dependences(&scratch, s.start.class_of);
    int64_t bound = find_or_recall_order(&s, &best);
    g->order_peak = best.peak;
    g->order_bound = s.start.sliced ? 0 : bound;
    graph_reorder(g, best.order);
    arena_free(scratch.arena);
}
