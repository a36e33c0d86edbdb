// The needs and the time of copies to host memory and back.
#include "offload.h"
#include "gpu_model.h"
#include "../op/op.h"

bool is_copy(const Node *n)
{
    return n->op->flags & COPIES;
}

bool begins_copy(const Node *n)
{
    return is_copy(n) && (n->kernel == COPY_OUT || n->kernel == COPY_IN);
}

ValueId copied_by(const Node *n)
{
    return n->kernel == COPY_IN ? n->results[0] : n->operands[0];
}

static void count_copy(const Graph *g, const Node *n, HostUse *use)
{
    int64_t bytes = value_bytes(&g->values[copied_by(n)]);
    int64_t end = n->attr[COPY_PLACE].i + bytes;
    use->values += n->kernel == COPY_OUT;
    use->moved += n->kernel == COPY_OUT ? bytes : 0;
    if (end > use->bytes) use->bytes = end;
    if (n->attr[COPY_EVENT].i >= use->events)
        use->events = (int32_t)n->attr[COPY_EVENT].i + 1;
}

static bool has_copies(const Graph *g)
{
    for (NodeId i = 0; i < g->node_count; i++)
        if (is_copy(&g->nodes[i])) return true;
    return false;
}

HostUse host_use(const Graph *g)
{
    HostUse use = { .values = 0 };
    const Gpu *gpu = graph_gpu(g);
    if (!has_copies(g)) return use;
    int64_t now = 0, link = 0;  // completion times of launches and copies
    int64_t *done = NEW_ARRAY(g->arena, g->value_count, int64_t);
    for (NodeId i = 0; i < g->node_count; i++) {
        const Node *n = &g->nodes[i];
        now = capped_sum(now, node_time(g, n, gpu));
        if (!is_copy(n)) continue;
        ValueId v = copied_by(n);
        if (begins_copy(n)) {
            int64_t time = copy_time(value_bytes(&g->values[v]), gpu);
            count_copy(g, n, &use);
            done[v] = link = capped_sum(link > now ? link : now, time);
            use.copying = capped_sum(use.copying, time);
        } else if (done[v] > now) {
            use.waiting = capped_sum(use.waiting, done[v] - now);
            now = done[v];
        }
    }
    return use;
}
