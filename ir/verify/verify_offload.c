// Checks copies to host memory and back, in launch order.  Copies run in
// sequence, so host memory is replayed when they start: it holds the last value
// stored, which a fetch must expect.  Live ranges guarantee that no launch
// overwrites a value during its copy, since the wait for a copy reads the
// value.
#include "byte_owner_map.h"
#include "../gpu/offload.h"
#include "verify.h"

typedef struct Copies {
    Arena       *arena;
    const Graph *g;
    ByteMap     *host;
    ValueId     *flying;        // of each event: its value, or NONE
    int64_t     *event;         // of each value: the event of its copy that is
                                // not waited for yet; 0: none
    bool        *gone, *back;   // of each value: a copy was started
} Copies;

static const char *wrong(const Copies *c, const Node *n, const char *what)
{
    return arena_print(c->arena, "%s: %s", n->name, what);
}

static ByteMap *new_host(const Copies *c, const Node *const *nodes,
                         int32_t count)
{
    int64_t *ends = NEW_ARRAY(c->arena, 2 * (size_t)count + 2, int64_t);
    int32_t listed = 0;
    for (int32_t i = 0; i < count; i++) {
        if (!begins_copy(nodes[i])) continue;
        int64_t place = nodes[i]->attr[COPY_PLACE].i;
        ValueId v = copied_by(nodes[i]);
        ends[listed++] = place;
        ends[listed++] = place + value_bytes(&c->g->values[v]);
    }
    return byte_map_new(c->arena, ends, listed);
}

static const char *begin_copy(Copies *c, const Node *n)
{
    ValueId v = copied_by(n), other;
    int64_t place = n->attr[COPY_PLACE].i, event = n->attr[COPY_EVENT].i;
    int64_t end = place + value_bytes(&c->g->values[v]);
    ValueId of = n->kernel == COPY_IN ? c->g->values[v].recompute_of : v;
    if (c->flying[event] != NONE)
        return wrong(c, n, "its event is still another copy's");
    if (c->event[v] != 0) return wrong(c, n, "its copy is not done");
    c->flying[event] = v;
    c->event[v] = event;
    if (n->kernel == COPY_OUT) {
        if (c->gone[v]) return wrong(c, n, "it has gone before");
        c->gone[v] = true;
        byte_map_write(c->host, place, end, v);
        return NULL;
    }
    c->back[v] = true;
    if (of == NONE || !c->gone[of])
        return wrong(c, n, "it has not gone to host memory");
    if (byte_map_differs(c->host, place, end, of, &other))
        return wrong(c, n, "host memory holds something else there");
    return NULL;
}

static const char *end_copy(Copies *c, const Node *n)
{
    ValueId v = copied_by(n);
    int64_t event = n->attr[COPY_EVENT].i;
    bool begun = n->kernel == COPY_OUT_WAIT ? c->gone[v] : c->back[v];
    if (!begun || c->event[v] != event || c->flying[event] != v)
        return wrong(c, n, "no such copy is under way");
    c->flying[event] = NONE;
    c->event[v] = 0;
    return NULL;
}

// A fetched value must not be read before its wait.
static const char *check_reads(const Copies *c, const Node *n)
{
    ValueId reads[MAX_READS];
    for (int k = node_reads(c->g, n, reads) - 1; k >= 0; k--)
        if (c->back[reads[k]] && c->event[reads[k]] != 0)
            return wrong(c, n, "it reads a value before its copy is done");
    return NULL;
}

static const char *check_copy(const Copies *c, const Node *n)
{
    const Value *value = &c->g->values[copied_by(n)];
    int64_t place = n->attr[COPY_PLACE].i, event = n->attr[COPY_EVENT].i;
    if (place < 0 || place > (int64_t)1 << 52 || event < 1 ||
        event > MOST_EVENTS)
        return wrong(c, n, "it has no place or no event");
    if (value->persistent || value->output || value->view_rows > 0 ||
        !is_stored(c->g, copied_by(n)))
        return wrong(c, n, "its value can't leave the arena");
    return NULL;
}

const char *check_copies(Arena *arena, const Graph *g,
                         const Node *const *nodes, int32_t count)
{
    Copies c = { .arena = arena, .g = g };
    const char *fault = NULL;
    int64_t most = 0;
    for (int32_t i = 0; i < count && fault == NULL; i++) {
        if (!is_copy(nodes[i])) continue;
        fault = check_copy(&c, nodes[i]);
        int64_t event = nodes[i]->attr[COPY_EVENT].i;
        if (event > most) most = event;
    }
    if (fault != NULL || most == 0) return fault;
    c.flying = NEW_ARRAY(arena, (size_t)most + 1, ValueId);
    for (int64_t i = 0; i <= most; i++) c.flying[i] = NONE;
    c.event = NEW_ARRAY(arena, g->value_count, int64_t);
    c.gone = NEW_ARRAY(arena, g->value_count, bool);
    c.back = NEW_ARRAY(arena, g->value_count, bool);
    c.host = new_host(&c, nodes, count);
    for (int32_t i = 0; i < count && fault == NULL; i++) {
        const Node *n = nodes[i];
        if (begins_copy(n)) fault = begin_copy(&c, n);
        else fault = is_copy(n) ? end_copy(&c, n) : check_reads(&c, n);
    }
    for (int64_t i = 0; i <= most && fault == NULL; i++)
        if (c.flying[i] != NONE)
            fault = arena_print(arena, "nothing waits for the copy of %s",
                                g->values[c.flying[i]].name);
    return fault;
}

void check_host_copies(const Check *c)
{
    const Graph *g = c->g;
    const Node **nodes = NEW_ARRAY(g->arena, g->node_count, const Node *);
    int copies = 0;

    for (NodeId i = 0; i < g->node_count; i++) {
        nodes[i] = &g->nodes[i];
        copies += is_copy(nodes[i]);
    }
    if (copies == 0) return;
    const char *wrong = check_copies(g->arena, g, nodes, g->node_count);
    if (wrong != NULL) fault(c, "%s", wrong);
}
