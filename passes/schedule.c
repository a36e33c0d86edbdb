// Schedule: an order of launches with a smaller peak.
//
//   wgrad2 dgrad2 wgrad1 sgd1 sgd2  ->  wgrad2 dgrad2 sgd2 wgrad1 sgd1
//
// Forward stays as it was written, and so does the last node, which closes the
// training step.  Between them, whatever is ready runs as soon as it pays: of
// the ready nodes the one after which the fewest bytes are alive.  So an update
// runs as soon as its gradient exists and every reader of its weight is done,
// and a weight gradient waits while what it makes is larger than what it frees.
// A second order counts a gradient that an update alone reads as freed at once.
// Of the two and the original, the one with the lowest peak is kept, the
// original where nothing is gained.
//
// Views and what is inlined come as soon as they can, since they cost nothing.  A value and its
// views are one class, alive until the last that reads any of them has run.
#include <string.h>
#include "../ir/slices.h"
#include "depend.h"
#include "pass.h"
#include "place.h"

void pass_schedule(Graph *g);

typedef struct Ready {
    int64_t key;                // bytes alive after it, less those before
    NodeId  node;
} Ready;

typedef struct Scheduler {
    Graph      *g;
    Dependences depend;
    ValueId    *class_of;       // of each value
    // Of each class: bytes, readers that have not run, the sum of their
    // numbers (which names the one that is left), whether it never dies.
    int64_t    *bytes, *sum;
    int32_t    *readers;
    bool       *kept;
    // The classes that node i reads: read[reads[i]] to before read[reads[i+1]].
    int32_t    *reads;
    ValueId    *read;
    // While a list is made: those ready, a heap; what each node waits for.
    bool        eager;
    Ready      *heap;
    int32_t     heap_count, heap_capacity;
    int32_t    *needed;
    bool       *done;
    NodeId      start, end;     // the nodes whose order is free
    NodeId     *order;
    int32_t     order_count;
} Scheduler;

// ---- what is alive ----------------------------------------------------------

static void find_classes(Scheduler *s)
{
    Graph *g = s->g;
    s->class_of = NEW_ARRAY(g->arena, g->value_count, ValueId);
    s->bytes = NEW_ARRAY(g->arena, g->value_count, int64_t);
    s->sum = NEW_ARRAY(g->arena, g->value_count, int64_t);
    s->readers = NEW_ARRAY(g->arena, g->value_count, int32_t);
    s->kept = NEW_ARRAY(g->arena, g->value_count, bool);
    for (ValueId v = 0; v < g->value_count; v++) {
        s->class_of[v] = v;
        s->bytes[v] = is_stored(g, v) ? padded(value_bytes(&g->values[v])) : 0;
    }
    const Within *within = values_within(g, g->nodes, g->node_count);
    for (ValueId v = 0; v < g->value_count; v++)
        while (within[s->class_of[v]].whole != NONE)
            s->class_of[v] = within[s->class_of[v]].whole;
    for (ValueId v = 0; v < g->value_count; v++)
        if (g->values[v].persistent || g->values[v].output)
            s->kept[s->class_of[v]] = true;
}

// The classes that launches read, each once a launch.
static void list_reads(Scheduler *s)
{
    Graph *g = s->g;
    int32_t count = 0, capacity = 0;
    s->reads = NEW_ARRAY(g->arena, (size_t)g->node_count + 1, int32_t);
    for (NodeId i = 0; i < g->node_count; i++) {
        ValueId reads[MAX_READS];
        s->reads[i] = count;
        if (!is_launch(&g->nodes[i])) continue;
        int found = node_reads(g, &g->nodes[i], reads);
        s->read = arena_grow(g->arena, s->read, &capacity,
                             (int64_t)count + found, sizeof(ValueId));
        for (int k = 0; k < found; k++) {
            ValueId class = s->class_of[reads[k]];
            int32_t j = s->reads[i];
            while (j < count && s->read[j] != class) j++;
            if (j == count) s->read[count++] = class;
        }
    }
    s->reads[g->node_count] = count;
}

static void count_readers(Scheduler *s)
{
    memset(s->readers, 0, (size_t)s->g->value_count * sizeof(int32_t));
    memset(s->sum, 0, (size_t)s->g->value_count * sizeof(int64_t));
    for (NodeId i = 0; i < s->g->node_count; i++) {
        for (int32_t k = s->reads[i]; k < s->reads[i + 1]; k++) {
            s->readers[s->read[k]]++;
            s->sum[s->read[k]] += i;
        }
    }
}

// Whether node n is the last to read a class that can die.
static bool ends_here(const Scheduler *s, ValueId class)
{
    return class != NONE && !s->kept[class] && s->readers[class] == 1;
}

// Whether result v outlives the node that makes it.
static bool lasts(const Scheduler *s, ValueId v)
{
    if (v == NONE) return false;
    ValueId class = s->class_of[v];
    return s->kept[class] || s->readers[class] > 0;
}

static bool goes_to_update(const Scheduler *s, ValueId v)
{
    return !s->kept[v] && s->readers[v] == 1 &&
           s->g->nodes[s->sum[v]].result_count == 0;
}

// The bytes alive after node i less those before.
static int64_t change(const Scheduler *s, NodeId i)
{
    const Node *n = &s->g->nodes[i];
    int64_t bytes = 0;
    if (!is_launch(n)) return INT64_MIN;
    for (int32_t r = 0; r < n->result_count; r++) {
        ValueId v = n->results[r];
        if (lasts(s, v) && !(s->eager && goes_to_update(s, v)))
            bytes += s->bytes[v];
    }
    for (int32_t k = s->reads[i]; k < s->reads[i + 1]; k++)
        if (ends_here(s, s->read[k])) bytes -= s->bytes[s->read[k]];
    return bytes;
}

// ---- the peak of an order ---------------------------------------------------

// What node n makes beside its operands.  A result that may be written over an
// operand that ends here costs nothing.
static int64_t bytes_made(const Scheduler *s, const Node *n)
{
    int64_t bytes = 0;
    ValueId taken = NONE;
    for (int32_t r = 0; r < n->result_count && is_launch(n); r++) {
        ValueId v = n->results[r];
        if (v == NONE) continue;
        bytes += s->bytes[v];
        for (int32_t k = 0; k < n->operand_count; k++) {
            if (n->operands[k] == NONE) continue;
            ValueId class = s->class_of[n->operands[k]];
            if (!ends_here(s, class) || !may_write_over(n, r, k)) continue;
            if (s->bytes[class] != s->bytes[v] || taken == class) continue;
            taken = class;
            bytes -= s->bytes[v];
            break;
        }
    }
    return bytes;
}

// Runs node n: what it reads last dies.  Returns the change of live bytes.
static int64_t run_node(Scheduler *s, NodeId i)
{
    const Node *n = &s->g->nodes[i];
    int64_t bytes = 0;
    for (int32_t r = 0; r < n->result_count && is_launch(n); r++)
        if (lasts(s, n->results[r])) bytes += s->bytes[n->results[r]];
    for (int32_t k = s->reads[i]; k < s->reads[i + 1]; k++) {
        ValueId class = s->read[k];
        if (ends_here(s, class)) bytes -= s->bytes[class];
        s->readers[class]--;
        s->sum[class] -= i;
    }
    return bytes;
}

// Of what is not persistent: the rest is the same in every order.
static int64_t peak_of(Scheduler *s, const NodeId *order)
{
    int64_t live = 0, peak = 0;
    count_readers(s);
    for (ValueId v = 0; v < s->g->value_count; v++)
        if (s->g->values[v].def == NONE && !s->g->values[v].persistent)
            live += s->bytes[v];
    for (int32_t i = 0; i < s->g->node_count; i++) {
        int64_t within = live + bytes_made(s, &s->g->nodes[order[i]]);
        if (within > peak) peak = within;
        live += run_node(s, order[i]);
    }
    return peak;
}

// ---- the list of ready nodes ------------------------------------------------

static bool comes_before(Ready a, Ready b)
{
    return a.key != b.key ? a.key < b.key : a.node < b.node;
}

static void push(Scheduler *s, NodeId i)
{
    if (i < s->start || i >= s->end || s->done[i]) return;
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

// Puts node i next.  A node that is now the last to read something frees more
// than when it became ready: it is pushed again, and its older entry, which
// comes later, finds it done.
static void emit(Scheduler *s, NodeId i)
{
    s->order[s->order_count++] = i;
    s->done[i] = true;
    run_node(s, i);
    for (int32_t k = s->reads[i]; k < s->reads[i + 1]; k++) {
        ValueId class = s->read[k];
        if (!ends_here(s, class)) continue;
        NodeId other = (NodeId)s->sum[class];
        if (s->needed[other] == 0) push(s, other);
    }
    const Edge *edges = s->depend.edges;
    for (int32_t k = s->depend.first[i]; k != NONE; k = edges[k].next)
        if (--s->needed[edges[k].to] == 0) push(s, edges[k].to);
}

static NodeId *make_list(Scheduler *s, bool eager)
{
    int32_t count = s->g->node_count;
    s->eager = eager;
    s->order = NEW_ARRAY(s->g->arena, count, NodeId);
    s->needed = NEW_ARRAY(s->g->arena, count, int32_t);
    s->done = NEW_ARRAY(s->g->arena, count, bool);
    s->order_count = s->heap_count = 0;
    memcpy(s->needed, s->depend.needed, (size_t)count * sizeof(int32_t));
    count_readers(s);
    for (NodeId i = s->start; i < s->end; i++)
        if (s->needed[i] == 0) push(s, i);
    for (NodeId i = 0; i < s->start; i++) emit(s, i);
    while (s->heap_count > 0) {
        NodeId i = pop(s);
        if (!s->done[i]) emit(s, i);
    }
    for (NodeId i = s->end; i < count; i++) emit(s, i);
    if (s->order_count != count) bug("schedule: some nodes never get ready");
    return s->order;
}

// ---- the pass ---------------------------------------------------------------

static void reorder(Graph *g, const NodeId *order)
{
    Node *nodes = NEW_ARRAY(g->arena, g->node_count, Node);
    for (NodeId i = 0; i < g->node_count; i++) {
        nodes[i] = g->nodes[order[i]];
        for (int32_t r = 0; r < nodes[i].result_count; r++)
            if (nodes[i].results[r] != NONE)
                g->values[nodes[i].results[r]].def = i;
    }
    memcpy(g->nodes, nodes, (size_t)g->node_count * sizeof(Node));
}

void pass_schedule(Graph *g)
{
    Scheduler s = {.g = g, .end = g->node_count - 1};
    while (s.start < s.end && g->nodes[s.start].phase == FORWARD) s.start++;
    if (s.end - s.start < 2) return;
    find_classes(&s);
    list_reads(&s);
    s.depend = find_dependences(g, s.class_of);
    NodeId *best = NEW_ARRAY(g->arena, g->node_count, NodeId);
    for (NodeId i = 0; i < g->node_count; i++) best[i] = i;
    int64_t least = peak_of(&s, best);
    for (int eager = 0; eager < 2; eager++) {
        NodeId *order = make_list(&s, eager);
        int64_t peak = peak_of(&s, order);
        if (peak >= least) continue;
        least = peak;
        best = order;
    }
    reorder(g, best);
}
