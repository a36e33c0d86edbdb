// Liveness of a graph whose order is open.  The bytes alive at a launch depend
// only on the set of launches that ran before it, not on their order.  The
// model has sizes, readers, and operands that results may overwrite.
#include "live_model.h"
#include <string.h>
#include "../../ir/strided_views.h"

// ---- operands ---------------------------------------------------------------

static void find_classes(Lives *l)
{
    Graph *g = l->g;
    for (ValueId v = 0; v < g->value_count; v++) {
        const Value *value = &g->values[v];
        bool counts = !value->persistent && is_stored(g, v);
        l->class_of[v] = v;
        l->bytes[v] = counts ? padded(value_bytes(value)) : 0;
    }
    const Within *within = values_within(g, g->nodes, g->node_count);
    for (ValueId v = 0; v < g->value_count; v++) {
        l->sliced |= within[v].rows > 0;
        while (within[l->class_of[v]].whole != NONE)
            l->class_of[v] = within[l->class_of[v]].whole;
    }
    for (ValueId v = 0; v < g->value_count; v++)
        if (g->values[v].persistent || g->values[v].output)
            l->kept[l->class_of[v]] = true;
}

static void list_reads(Lives *l)
{
    Graph *g = l->g;
    int32_t count = 0, capacity = 0;
    for (NodeId i = 0; i < g->node_count; i++) {
        ValueId reads[MAX_READS];
        l->reads[i] = count;
        if (!is_launch(&g->nodes[i])) continue;
        int found = node_reads(g, &g->nodes[i], reads);
        l->read = arena_grow(g->arena, l->read, &capacity,
                             (int64_t)count + found, sizeof(ValueId));
        for (int k = 0; k < found; k++) {
            ValueId class = l->class_of[reads[k]];
            int32_t j = l->reads[i];
            while (j < count && l->read[j] != class) j++;
            if (j < count) continue;
            l->read[count++] = class;
            l->reader_count[class]++;
        }
    }
    l->reads[g->node_count] = count;
}

// ---- overwriting ------------------------------------------------------------

bool fits_over(const Graph *g, const Node *n, int r, ValueId v)
{
    const Value *result = &g->values[n->results[r]], *read = &g->values[v];
    return value_bytes(result) == value_bytes(read) &&
           dtype_bytes(result->dtype) == dtype_bytes(read->dtype) &&
           may_lie_over(g, n, r, v);
}

// True if result r of n may take the bytes of reads[k], one of count, when that
// value dies.
static bool fits(const Lives *l, const Node *n, int r, const ValueId *reads,
                 int count, int k)
{
    if (!fits_over(l->g, n, r, reads[k])) return false;
    ValueId class = l->class_of[reads[k]];
    if (l->kept[class]) return false;
    for (int j = 0; j < count; j++)
        if (l->class_of[reads[j]] == class &&
            !may_lie_over(l->g, n, r, reads[j]))
            return false;
    return true;
}

static void list_overs(Lives *l)
{
    Graph *g = l->g;
    int32_t count = 0, capacity = 0;
    for (NodeId i = 0; i < g->node_count; i++) {
        const Node *n = &g->nodes[i];
        l->overs[i] = count;
        if (!is_launch(n)) continue;
        ValueId reads[MAX_READS];
        int found = node_reads(g, n, reads);
        for (int32_t r = 0; r < n->result_count; r++)
            for (int k = 0; k < found; k++) {
                if (n->results[r] == NONE || !fits(l, n, r, reads, found, k))
                    continue;
                l->over = arena_grow(g->arena, l->over, &capacity,
                                     (int64_t)count + 1, sizeof(Over));
                l->over[count++] = (Over){ r, l->class_of[reads[k]] };
            }
    }
    l->overs[g->node_count] = count;
}

// ---- a graph, and its copies ------------------------------------------------

static int32_t *new_counts(const Graph *g, int32_t count)
{
    return NEW_ARRAY(g->arena, (size_t)count + 1, int32_t);
}

Lives lives_new(Graph *g)
{
    Lives l = { .g = g };
    l.class_of = NEW_ARRAY(g->arena, g->value_count, ValueId);
    l.bytes = NEW_ARRAY(g->arena, g->value_count, int64_t);
    l.kept = NEW_ARRAY(g->arena, g->value_count, bool);
    l.reader_count = new_counts(g, g->value_count);
    l.reads = new_counts(g, g->node_count);
    l.overs = new_counts(g, g->node_count);
    find_classes(&l);
    list_reads(&l);
    list_overs(&l);
    l.readers = l.reader_count;
    l.made = new_counts(g, g->value_count);
    for (ValueId v = 0; v < g->value_count; v++)
        if (g->values[v].def == NONE) l.live += l.bytes[v];
    return lives_copy(&l);
}

Lives lives_copy(const Lives *l)
{
    Lives copy = *l;
    int32_t count = l->g->value_count;
    copy.readers = new_counts(l->g, count);
    memcpy(copy.readers, l->readers, (size_t)count * sizeof(int32_t));
    copy.made = new_counts(l->g, count);
    memcpy(copy.made, l->made, (size_t)count * sizeof(int32_t));
    return copy;
}

// ---- running ----------------------------------------------------------------

// True if values of the class outlive the node that makes them.
static bool lasts(const Lives *l, ValueId class)
{
    return l->kept[class] || l->reader_count[class] > 0;
}

// True if a class dies with the next launch, which reads it.  back: 1 if that
// launch has already run in l.
static bool ends(const Lives *l, ValueId class, int32_t back)
{
    return l->readers[class] + back == 1 && !l->kept[class];
}

// True if result r of node i can overwrite a dying class.  taken: the *count
// classes that earlier results overwrite.
static bool finds_bytes(const Lives *l, NodeId i, int32_t r, int32_t back,
                        ValueId *taken, int *count)
{
    for (int32_t k = l->overs[i]; k < l->overs[i + 1]; k++) {
        ValueId class = l->over[k].class;
        bool is_taken = l->over[k].result != r || !ends(l, class, back);
        for (int j = 0; j < *count; j++) is_taken |= taken[j] == class;
        if (is_taken) continue;
        taken[(*count)++] = class;
        return true;
    }
    return false;
}

// Returns the number of results of the node, from index r on, in the class.
static int32_t made_in(const Lives *l, const Node *n, int32_t r, ValueId class)
{
    int32_t count = 0;
    for (; r < n->result_count; r++)
        count += n->results[r] != NONE && l->class_of[n->results[r]] == class;
    return count;
}

// Returns the bytes of node i's results that overwrite nothing.  back: 1 if the
// node has already run in l, otherwise 0.
static int64_t new_bytes(const Lives *l, NodeId i, int32_t back)
{
    const Node *n = &l->g->nodes[i];
    int64_t bytes = 0;
    ValueId taken[MAX_SLOTS] = { NONE };
    int count = 0;
    if (!is_launch(n)) return 0;
    for (int32_t r = 0; r < n->result_count; r++) {
        if (n->results[r] == NONE) continue;
        ValueId class = l->class_of[n->results[r]];
        int32_t own = back > 0 ? made_in(l, n, 0, class) : 0;
        if (l->made[class] == own &&
            !finds_bytes(l, i, r, back, taken, &count))
            bytes += l->bytes[class];
    }
    return bytes;
}

int64_t lives_within(const Lives *l, NodeId i)
{
    return l->live + new_bytes(l, i, 0);
}

// Returns the change of live bytes by node i: classes that it begins less those
// that die.  back: as above.
static int64_t added_bytes(const Lives *l, NodeId i, int32_t back)
{
    const Node *n = &l->g->nodes[i];
    int64_t bytes = 0;
    for (int32_t r = 0; r < n->result_count && is_launch(n); r++) {
        if (n->results[r] == NONE) continue;
        ValueId class = l->class_of[n->results[r]];
        int32_t own = back > 0 ? made_in(l, n, 0, class) : 0;
        if (l->made[class] == own && lasts(l, class) &&
            made_in(l, n, r, class) == 1)
            bytes += l->bytes[class];
    }
    for (int32_t k = l->reads[i]; k < l->reads[i + 1]; k++)
        if (ends(l, l->read[k], back)) bytes -= l->bytes[l->read[k]];
    return bytes;
}

int64_t lives_after(const Lives *l, NodeId i)
{
    return l->live + added_bytes(l, i, 0);
}

int64_t lives_before(const Lives *l, NodeId i, int64_t *within)
{
    int64_t live = l->live - added_bytes(l, i, 1);
    *within = live + new_bytes(l, i, 1);
    return live;
}

// Counts results.  A class has all its bytes from the first launch that makes a
// part of it.
static void make_results(Lives *l, const Node *n)
{
    for (int32_t r = 0; r < n->result_count && is_launch(n); r++) {
        if (n->results[r] == NONE) continue;
        ValueId class = l->class_of[n->results[r]];
        if (l->made[class]++ == 0 && lasts(l, class))
            l->live += l->bytes[class];
    }
}

static void unmake_results(Lives *l, const Node *n)
{
    for (int32_t r = 0; r < n->result_count && is_launch(n); r++) {
        if (n->results[r] == NONE) continue;
        ValueId class = l->class_of[n->results[r]];
        if (--l->made[class] == 0 && lasts(l, class))
            l->live -= l->bytes[class];
    }
}

void lives_run(Lives *l, NodeId i)
{
    make_results(l, &l->g->nodes[i]);
    for (int32_t k = l->reads[i]; k < l->reads[i + 1]; k++) {
        ValueId class = l->read[k];
        if (ends(l, class, 0)) l->live -= l->bytes[class];
        l->readers[class]--;
    }
}

void lives_take_back(Lives *l, NodeId i)
{
    for (int32_t k = l->reads[i]; k < l->reads[i + 1]; k++) {
        ValueId class = l->read[k];
        l->readers[class]++;
        if (ends(l, class, 0)) l->live += l->bytes[class];
    }
    unmake_results(l, &l->g->nodes[i]);
}

int64_t lives_peak(const Lives *start, const NodeId *order)
{
    Lives l = lives_copy(start);
    int64_t peak = l.live;
    for (int32_t i = 0; i < l.g->node_count; i++) {
        int64_t within = lives_within(&l, order[i]);
        if (within > peak) peak = within;
        lives_run(&l, order[i]);
    }
    return peak;
}
