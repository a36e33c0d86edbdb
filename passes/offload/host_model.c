// Finds values that are idle between the forward and the backward pass,
// computes live bytes without some of them, and chooses which to offload.
//
// Bytes are counted as in the plan: aliases are one buffer, from the first
// launch that touches any of them to the last.  An offloaded value has no bytes
// between its copies, and a later result that overwrites it overwrites the copy
// that came back.
//
// The copies share one link and run one after the other.  Each gets the time
// that it takes in the GPU's model if there is room.  The wait for a copy out
// moves after the launches that run meanwhile.  The start of a copy in moves
// before the launches that run until it is complete.  Without room, the
// launches wait.
#include <stdlib.h>
#include <string.h>
#include "../../ir/gpu/gpu_model.h"
#include "host_copies.h"

// ---- idle values ------------------------------------------------------------

typedef struct Scan {
    Graph    *g;
    HostModel m;
    ValueId  *root;             // of each value: the root of its alias chain
    // By root: the first and last launch that touched it so far, and the value
    // that it holds.
    int32_t  *first, *last;
    ValueId  *holds;
    bool     *pinned, *kept;    // may not be offloaded; lives to the end
    int32_t   backward_start, capacity;  // the first launch that is not forward
} Scan;

static Scan new_scan(Graph *g)
{
    Scan s = { .g = g, .m.arena = g->arena, .backward_start = INT32_MAX };
    s.root = NEW_ARRAY(g->arena, g->value_count, ValueId);
    s.first = NEW_ARRAY(g->arena, g->value_count, int32_t);
    s.last = NEW_ARRAY(g->arena, g->value_count, int32_t);
    s.holds = NEW_ARRAY(g->arena, g->value_count, ValueId);
    s.pinned = NEW_ARRAY(g->arena, g->value_count, bool);
    s.kept = NEW_ARRAY(g->arena, g->value_count, bool);
    s.m.live = NEW_ARRAY(g->arena, (size_t)g->node_count + 1, int64_t);
    s.m.alive = NEW_ARRAY(g->arena, (size_t)g->node_count + 1, int64_t);
    s.m.time = NEW_ARRAY(g->arena, (size_t)g->node_count + 1, int64_t);
    for (ValueId v = 0; v < g->value_count; v++) {
        const Value *value = &g->values[v];
        ValueId end = v;
        while (g->values[end].alias_of != NONE) end = g->values[end].alias_of;
        s.root[v] = end;
        s.first[v] = s.last[v] = s.holds[v] = NONE;
        s.kept[end] |= value->output;
        s.pinned[end] |= value->persistent || value->output ||
                         value->view_rows > 0;
    }
    return s;
}

static void add_stay(Scan *s, ValueId root, int32_t from, int32_t to)
{
    ValueId v = s->holds[root];
    const Gpu *gpu = graph_gpu(s->g);
    if (s->pinned[root] || v == NONE || s->g->values[v].recompute_of != NONE)
        return;
    int64_t bytes = value_bytes(&s->g->values[v]);
    s->m.stay = arena_grow(s->g->arena, s->m.stay, &s->capacity,
                           (int64_t)s->m.stay_count + 1, sizeof(Stay));
    s->m.stay[s->m.stay_count++] = (Stay){
        .value = v, .bytes = padded(bytes), .time = copy_time(bytes, gpu),
        .from = from, .to = to };
}

// Notes that a launch touches v.  A buffer has at most one idle gap: from its
// last use in the forward pass to its first use from backward_start on.
static void touch(Scan *s, ValueId v, int32_t launch)
{
    ValueId root = s->root[v];
    int32_t last = s->last[root];
    if (last != NONE && last < s->backward_start &&
        launch >= s->backward_start && launch > last)
        add_stay(s, root, last, launch);
    if (s->first[root] == NONE) s->first[root] = launch;
    s->last[root] = launch;
}

static void scan_launch(Scan *s, const Node *n, int32_t launch)
{
    ValueId reads[MAX_READS];
    int count = node_reads(s->g, n, reads);
    if (s->backward_start == INT32_MAX && n->phase != FORWARD)
        s->backward_start = launch;
    for (int k = 0; k < count; k++) touch(s, reads[k], launch);
    for (int32_t k = 0; k < n->result_count; k++) {
        if (n->results[k] == NONE) continue;
        touch(s, n->results[k], launch);
        s->holds[s->root[n->results[k]]] = n->results[k];
    }
}

// Sums live bytes.  An input lives from the start, an output to the end.
static void count_live(Scan *s)
{
    int32_t end = s->m.launch_count - 1;
    for (ValueId v = 0; v < s->g->value_count; v++) {
        const Value *value = &s->g->values[v];
        if (s->root[v] != v || value->persistent || s->first[v] == NONE)
            continue;
        int32_t first = value->def == NONE ? 0 : s->first[v];
        int32_t last = s->kept[v] ? end : s->last[v];
        for (int32_t i = first; i <= last; i++)
            s->m.live[i] += padded(value_bytes(value));
    }
}

static int compare_stays(const void *a, const void *b)
{
    const Stay *x = a, *y = b;
    return (x->value > y->value) - (x->value < y->value);
}

static bool leaves_sooner(const Stay *a, const Stay *b)
{
    return a->from < b->from;
}

static bool returns_later(const Stay *a, const Stay *b)
{
    return a->to > b->to;
}

static bool takes_longer(const Stay *a, const Stay *b)
{
    return a->time > b->time;
}

// Inserts stay i into a sorted list of count indices, after its equals.
static void insert(const HostModel *m, int32_t *list, int32_t count, int32_t i,
                   bool (*comes_before)(const Stay *a, const Stay *b))
{
    int32_t k = count;
    for (; k > 0 && comes_before(&m->stay[i], &m->stay[list[k - 1]]); k--)
        list[k] = list[k - 1];
    list[k] = i;
}

static void sort_stays(HostModel *m)
{
    size_t count = (size_t)m->stay_count + 1;
    m->order = NEW_ARRAY(m->arena, count, int32_t);
    m->by_start = NEW_ARRAY(m->arena, count, int32_t);
    m->by_end = NEW_ARRAY(m->arena, count, int32_t);
    for (int32_t i = 0; i < m->stay_count; i++) {
        insert(m, m->by_start, i, i, leaves_sooner);
        insert(m, m->by_end, i, i, returns_later);
    }
}

HostModel host_model(Graph *g)
{
    Scan s = new_scan(g);
    for (NodeId i = 0; i < g->node_count; i++) {
        const Node *n = &g->nodes[i];
        int32_t launch = s.m.launch_count;
        if (!is_launch(n)) continue;
        scan_launch(&s, n, launch);
        s.m.time[launch + 1] = capped_sum(s.m.time[launch],
                                          node_time(g, n, graph_gpu(g)));
        s.m.launch_count++;
    }
    count_live(&s);
    if (s.m.stay_count > 0)
        qsort(s.m.stay, (size_t)s.m.stay_count, sizeof(Stay), compare_stays);
    sort_stays(&s.m);
    return s.m;
}

// ---- times of copies --------------------------------------------------------

// Lists the offloaded values in m->order: ascending by the launch before the
// copy out or, if back, descending by the launch after the copy in.
static int32_t list_offloaded(HostModel *m, bool back)
{
    const int32_t *all = back ? m->by_end : m->by_start;
    int32_t count = 0;
    for (int32_t k = 0; k < m->stay_count; k++)
        if (m->stay[all[k]].offloaded) m->order[count++] = all[k];
    return count;
}

static void lay_out(HostModel *m, int64_t level)
{
    int64_t link = 0;
    int32_t count = list_offloaded(m, false);
    for (int32_t k = 0; k < count; k++) {
        Stay *s = &m->stay[m->order[k]];
        int32_t at = s->from + 1;
        link = (link > m->time[at] ? link : m->time[at]) + s->time;
        while (at < s->to && m->time[at] < link &&
               m->alive[at] + s->bytes <= level)
            m->alive[at++] += s->bytes;
        s->gone = at;
    }
}

static void lay_in(HostModel *m, int64_t level)
{
    int64_t link = INT64_MAX;
    int32_t count = list_offloaded(m, true);
    for (int32_t k = 0; k < count; k++) {
        Stay *s = &m->stay[m->order[k]];
        int32_t at = s->to;
        link = (link < m->time[at] ? link : m->time[at]) - s->time;
        while (at > s->gone && m->time[at] > link &&
               m->alive[at - 1] + s->bytes <= level)
            m->alive[--at] += s->bytes;
        s->due = at;
    }
}

// Computes the live bytes if copies take no time.
static void count_not_offloaded(HostModel *m)
{
    int64_t away = 0;
    memset(m->alive, 0, ((size_t)m->launch_count + 1) * sizeof *m->alive);
    for (int32_t i = 0; i < m->stay_count; i++) {
        const Stay *s = &m->stay[i];
        if (!s->offloaded) continue;
        m->alive[s->from + 1] += s->bytes;
        m->alive[s->to] -= s->bytes;
    }
    for (int32_t at = 0; at < m->launch_count; at++) {
        away += m->alive[at];
        m->alive[at] = m->live[at] - away;
    }
}

int64_t host_layout(HostModel *m, int64_t level)
{
    int64_t most = 0;
    count_not_offloaded(m);
    lay_out(m, level);
    lay_in(m, level);
    for (int32_t at = 0; at < m->launch_count; at++)
        if (m->alive[at] > most) most = m->alive[at];
    return most;
}

void host_offload(HostModel *m, const Offloading *offloading)
{
    for (int32_t k = 0, i = 0; k < offloading->count; k++) {
        while (i < m->stay_count && m->stay[i].value < offloading->value[k])
            i++;
        if (i == m->stay_count || m->stay[i].value != offloading->value[k])
            bug("offload: value %d does not stay", (int)offloading->value[k]);
        m->stay[i].offloaded = true;
    }
    host_layout(m, offloading->level);
}

// ---- choice of values -------------------------------------------------------

// Sums over the launches before each launch: bytes above the level, and the
// number of launches above it.
typedef struct Above {
    int64_t *bytes;
    int32_t *launches;
} Above;

static void sum_above(const HostModel *m, int64_t level, Above *above)
{
    for (int32_t at = 0; at < m->launch_count; at++) {
        int64_t over = m->alive[at] - level;
        above->bytes[at + 1] = above->bytes[at] + (over > 0 ? over : 0);
        above->launches[at + 1] = above->launches[at] + (over > 0);
    }
}

// Returns an upper bound of the bytes above the level saved per picosecond of
// copies.
static double gain_of(const Above *above, const Stay *s)
{
    int32_t from = s->from + 1, to = s->to;
    double most = (double)(above->bytes[to] - above->bytes[from]);
    double all = (double)(above->launches[to] - above->launches[from]) *
                 (double)s->bytes;
    return (all < most ? all : most) / (double)s->time;
}

static bool offload_best(HostModel *m, int64_t level, Above *above)
{
    Stay *best = NULL;
    double most = 0;
    sum_above(m, level, above);
    for (int32_t i = 0; i < m->stay_count; i++) {
        Stay *s = &m->stay[i];
        double gain = s->offloaded ? 0 : gain_of(above, s);
        if (gain <= most) continue;
        most = gain;
        best = s;
    }
    if (best != NULL) best->offloaded = true;
    return best != NULL;
}

// True if an offloaded value could stay in the arena below the level, if copies
// took no time.
static bool has_room(HostModel *m, const Stay *s, int64_t level)
{
    count_not_offloaded(m);
    for (int32_t at = s->from + 1; at < s->to; at++)
        if (m->alive[at] + s->bytes > level) return false;
    return true;
}

// Keeps in the arena the values that fit, the most expensive first.
static void drop_unneeded(HostModel *m, int64_t level)
{
    int32_t count = 0;
    int32_t *dear = NEW_ARRAY(m->arena, (size_t)m->stay_count + 1, int32_t);
    for (int32_t i = 0; i < m->stay_count; i++)
        if (m->stay[i].offloaded) insert(m, dear, count++, i, takes_longer);
    for (int32_t k = 0; k < count; k++) {
        Stay *s = &m->stay[dear[k]];
        if (!has_room(m, s, level)) continue;
        s->offloaded = false;
        if (host_layout(m, level) > level) s->offloaded = true;
    }
}

// True if the level can be reached.  Offloading all values minimises the live
// bytes of every launch, because copies take room only up to the level.
static bool is_within_reach(HostModel *m, int64_t level)
{
    for (int32_t i = 0; i < m->stay_count; i++) m->stay[i].offloaded = true;
    return host_layout(m, level) <= level;
}

bool host_choose(HostModel *m, int64_t level)
{
    if (!is_within_reach(m, level)) return false;
    size_t launches = (size_t)m->launch_count + 1;
    Above above = { NEW_ARRAY(m->arena, launches, int64_t),
                    NEW_ARRAY(m->arena, launches, int32_t) };
    for (int32_t i = 0; i < m->stay_count; i++) m->stay[i].offloaded = false;
    while (host_layout(m, level) > level)
        if (!offload_best(m, level, &above)) return false;
    drop_unneeded(m, level);
    host_layout(m, level);
    return true;
}
