// Groups of launches that are fused into one (horizontal fusion).  It is the
// first node's launch with the arrays and blocks of all nodes, one after the
// other; or with the structs of all nodes and the blocks of one.
#include "launch_group.h"
#include <string.h>

NodeId group_end(const Graph *g, NodeId i)
{
    NodeId end = i + 1;
    while (end < g->node_count && g->nodes[end].grouped) end++;
    return end;
}

// ---- launches ---------------------------------------------------------------

static const LaunchArg *items_of(const Launch *l)
{
    for (int i = 0; i < l->arg_count; i++)
        if (l->arg[i].kind == LAUNCH_TENSOR_LIST) return &l->arg[i];
    return NULL;
}

bool takes_more(const Launch *l)
{
    return l->kernel != NULL && (items_of(l) != NULL || l->own_arg > 0);
}

bool begins_several(const Graph *g, NodeId i)
{
    const Node *n = &g->nodes[i];
    Launch l = { .g = (Graph *)g, .node = n };
    if (group_end(g, i) == i + 1) return false;
    n->op->kernels[n->kernel].launch(g, n, &l);
    return l.own_arg > 0;
}

bool makes(const Graph *g, NodeId first, NodeId end, ValueId v)
{
    return g->values[v].def >= first && g->values[v].def < end;
}

static bool same_source(const Launch *a, const Launch *b);

static bool same_argument(const LaunchArg *a, const LaunchArg *b)
{
    if (a->kind != b->kind || !same_source(a->source, b->source)) return false;
    if (a->kind == LAUNCH_TENSOR_LIST)
        return strcmp(a->items->item[0]->kernel,
                      b->items->item[0]->kernel) == 0;
    return a->value == b->value && a->i == b->i && a->f == b->f &&
           a->list == NULL && b->list == NULL;
}

static bool same_type(const TypeArg *a, const TypeArg *b)
{
    return a->source == NULL && b->source == NULL
               ? strcmp(a->text, b->text) == 0
               : same_source(a->source, b->source);
}

// True if the structs computed on load are equal; NULL is none.
static bool same_source(const Launch *a, const Launch *b)
{
    if (a == NULL || b == NULL) return a == b;
    bool same = strcmp(a->kernel, b->kernel) == 0 &&
                a->type_count == b->type_count &&
                a->arg_count == b->arg_count && a->constant_count == 0 &&
                b->constant_count == 0;
    for (int i = 0; same && i < a->type_count; i++)
        same = same_type(&a->type[i], &b->type[i]);
    for (int i = 0; same && i < a->arg_count; i++)
        same = same_argument(&a->arg[i], &b->arg[i]);
    return same;
}

// True if types and arguments are equal.  The last type, the number of arrays,
// and the operation of the last block are not compared.
static bool same_types(const Launch *a, const Launch *b)
{
    int count = a->own_arg > 0 ? a->own_type : a->type_count - 1;
    for (int i = 0; i < count; i++) {
        if (a->takes_last && i == a->last_type) continue;
        if (!same_type(&a->type[i], &b->type[i])) return false;
    }
    return true;
}

static bool same_arguments(const Launch *a, const Launch *b)
{
    int count = a->own_arg > 0 ? a->own_arg : a->arg_count;
    for (int i = 0; i < count; i++)
        if (!(a->takes_last && i == a->last_arg) &&
            !same_argument(&a->arg[i], &b->arg[i]))
            return false;
    return true;
}

bool are_alike(const Launch *a, const Launch *b)
{
    if (!takes_more(a) || !takes_more(b) || strcmp(a->kernel, b->kernel) != 0 ||
        a->block != b->block || a->constant_count > 0 ||
        b->constant_count > 0 || a->own_type != b->own_type ||
        a->own_arg != b->own_arg || a->last_type != b->last_type ||
        a->last_arg != b->last_arg)
        return false;
    if (a->own_arg == 0 &&
        (a->type_count != b->type_count || a->arg_count != b->arg_count))
        return false;
    return same_types(a, b) && same_arguments(a, b);
}

// Returns the bytes of the members: at most 8 each, and more for a struct.
static int64_t member_bytes(const Launch *item)
{
    enum { WORD = 8, MOST_WORDS = 5 };
    int64_t bytes = 0;
    for (int i = 0; i < item->arg_count; i++) {
        const LaunchArg *arg = &item->arg[i];
        int words = arg->kind == LAUNCH_SOURCE ? MOST_WORDS : 1;
        if (arg->kind == LAUNCH_SOURCE && arg->source->arg_count > words)
            bug("%s has %d members", arg->source->kernel,
                arg->source->arg_count);
        bytes += words * WORD;
    }
    return bytes;
}

// Returns the bytes of all arrays' members and first blocks.
int64_t item_bytes(const Launch *l)
{
    const LaunchArg *arrays = items_of(l);
    const TensorList *items = arrays != NULL ? arrays->items : NULL;
    int64_t bytes = 0;
    for (int k = 0; items != NULL && k < items->count; k++)
        bytes += member_bytes(items->item[k]) + (int64_t)sizeof(int32_t);
    return bytes;
}

// Appends the arrays of b, which is alike, to those of l.
static void add_items(Launch *l, LaunchArg *to, const Launch *b,
                      const TensorList *more)
{
    const TensorList *own = to->items;
    Arena *arena = l->g->arena;
    int count = own->count + more->count;
    const Launch **item = NEW_ARRAY(arena, count, const Launch *);
    int64_t *blocks = NEW_ARRAY(arena, count, int64_t);
    for (int k = 0; k < count; k++) {
        const TensorList *from = k < own->count ? own : more;
        int at = k < own->count ? k : k - own->count;
        item[k] = from->item[at];
        blocks[k] = from->blocks[at];
    }
    TensorList *items = NEW(arena, TensorList);
    *items = (TensorList){ count, item, blocks };
    to->items = items;
    l->grid += b->grid;
    l->type[l->type_count - 1].text = arena_print(arena, "%d", count);
}

// Appends the types and arguments that b, which is alike, has of its own.
static void add_own(Launch *l, const Launch *b)
{
    for (int i = b->own_type; i < b->type_count; i++)
        launch_type_as(l, b->type[i]);
    for (int i = b->own_arg; i < b->arg_count; i++)
        launch_argument(l, b->arg[i]);
}

void group_launch(const Graph *g, NodeId i, Launch *l)
{
    const Node *n = &g->nodes[i];
    l->g = (Graph *)g;
    l->node = n;
    n->op->kernels[n->kernel].launch(g, n, l);
    for (NodeId k = i + 1, end = group_end(g, i); k < end; k++) {
        const Node *m = &g->nodes[k];
        Launch other = { .g = (Graph *)g, .node = m };
        if (is_last(m)) {
            launch_add_last(l, m);
            continue;
        }
        m->op->kernels[m->kernel].launch(g, m, &other);
        LaunchArg *to = (LaunchArg *)items_of(l);
        const LaunchArg *of = items_of(&other);
        if (l->own_arg > 0) add_own(l, &other);
        else if (to != NULL && of != NULL) add_items(l, to, &other, of->items);
        else bug("%s takes no arrays", l->kernel);
    }
}

// Returns the bytes of values that both nodes read.
static int64_t common_bytes(const Graph *g, const Node *a, const Node *b)
{
    ValueId own[MAX_READS], others[MAX_READS];
    int count = node_reads(g, a, own), other_count = node_reads(g, b, others);
    int64_t bytes = 0;
    for (int k = 0; k < count; k++)
        for (int j = 0; j < other_count; j++)
            if (own[k] == others[j]) bytes += value_bytes(&g->values[own[k]]);
    return bytes;
}

// Returns the bytes that node k reads of results of nodes from `first` on in
// the same launch, which were just written.
static int64_t made_bytes(const Graph *g, NodeId first, NodeId k)
{
    ValueId reads[MAX_READS];
    int64_t bytes = 0;
    for (int r = node_reads(g, &g->nodes[k], reads) - 1; r >= 0; r--)
        if (makes(g, first, k, reads[r]))
            bytes += value_bytes(&g->values[reads[r]]);
    return bytes;
}

void group_cost(const Graph *g, NodeId i, Cost *cost)
{
    node_cost(g, &g->nodes[i], cost);
    for (NodeId k = i + 1, end = group_end(g, i); k < end; k++) {
        Cost own;
        node_cost(g, &g->nodes[k], &own);
        own.bytes -= common_bytes(g, &g->nodes[i], &g->nodes[k]);
        own.bytes -= made_bytes(g, i, k);
        cost_add(cost, &own);
    }
}
