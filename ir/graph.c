// Building and changing a graph.  Ids are indices, arrays grow in the arena,
// and nothing is freed.  A pass marks nodes deleted (op = NULL) and compacts
// once at its end.  A Node or Value pointer is good only until the next
// graph_node or graph_value, which may move the array.
#include <stdarg.h>
#include <string.h>
#include "base/format.h"
#include "op/op.h"
#include "base/unique_names.h"

const char *const kind_names[KIND_COUNT] = {
    "param", "statistic", "state", "input", "activation", "gradient", "mask",
    "workspace", "scalar",
};
const char *const phase_names[PHASE_COUNT] = {
    "forward", "recompute", "backward", "update",
};
const char *const mode_names[MODE_COUNT] = { "train", "eval", "infer" };
const char *const fact_names[FACT_COUNT] = {
    "has_gradients", "is_scheduled", "is_grouped", "has_lifetimes",
    "is_shared", "is_placed",
};

const char *const init_names[INIT_COUNT] = {
    "constant", "uniform", "normal", "orthogonal", "copy",
};

bool is_weight(Kind kind)
{
    return kind == PARAM || kind == STATISTIC;
}

bool is_trained(const Value *value)
{
    return value->kind == PARAM && !value->frozen;
}

WeightCount count_weights(const Graph *g)
{
    WeightCount count = { .parameters = 0 };
    for (ValueId v = 0; v < g->value_count; v++) {
        const Value *value = &g->values[v];
        if (value->kind == PARAM) {
            count.parameters += elements(value->shape);
            count.parameter_tensors++;
        } else if (value->kind == STATISTIC) {
            count.statistics += elements(value->shape);
            count.statistic_tensors++;
        }
    }
    return count;
}

const char *weights_text(Arena *arena, const WeightCount *count)
{
    const char *text = arena_print(arena, "%s in %d tensor%s",
                                   grouped_text(arena, count->parameters),
                                   count->parameter_tensors,
                                   count->parameter_tensors == 1 ? "" : "s");
    if (count->statistic_tensors == 0) return text;
    return arena_print(arena, "%s; %s running statistics in %d tensor%s", text,
                       grouped_text(arena, count->statistics),
                       count->statistic_tensors,
                       count->statistic_tensors == 1 ? "" : "s");
}

bool is_accumulating(const Graph *g)
{
    return g->training.step_batch > 0;
}

bool is_persistent(Kind kind)
{
    return is_weight(kind) || kind == STATE;
}

bool is_given(const Value *v)
{
    return v->kind == INPUT && v->persistent;
}

int64_t state_bytes_of(const Value *v)
{
    return v->persistent && !is_given(v) ? padded(value_bytes(v)) : 0;
}

// ---- shapes -----------------------------------------------------------------

Shape shape_of(int rank, ...)
{
    Shape shape = { .rank = rank };
    va_list dims;

    va_start(dims, rank);
    for (int i = 0; i < rank; i++) shape.dim[i] = va_arg(dims, int64_t);
    va_end(dims);
    return shape;
}

bool same_shape(Shape a, Shape b)
{
    if (a.rank != b.rank) return false;
    for (int i = 0; i < a.rank; i++)
        if (a.dim[i] != b.dim[i]) return false;
    return true;
}

int64_t elements(Shape shape)
{
    int64_t count = 1;
    for (int i = 0; i < shape.rank; i++) count *= shape.dim[i];
    return count;
}

int64_t value_bytes(const Value *value)
{
    return elements(value->shape) * dtype_bytes(value->dtype);
}

const char *shape_text(Graph *g, Shape shape)
{
    char text[MAX_RANK * 24 + 3];
    int length = 0;

    for (int i = 0; i < shape.rank; i++)
        length += snprintf(text + length, sizeof text - (size_t)length,
                           "%s%lld", i ? ", " : "", (long long)shape.dim[i]);
    return arena_print(g->arena, "[%.*s]", length, text);
}

// Divides dimensions out of the limit, since their product may overflow.
bool is_addressable(Shape shape, DType dtype)
{
    int64_t left = ((int64_t)1 << 62) / dtype_bytes(dtype);

    for (int i = 0; i < shape.rank; i++) {
        if (shape.dim[i] < 1 || shape.dim[i] > left) return false;
        left /= shape.dim[i];
    }
    return true;
}

bool fits_together(const Graph *g)
{
    int64_t left = (int64_t)1 << 52;

    for (ValueId v = 0; v < g->value_count; v++) {
        int64_t bytes = value_bytes(&g->values[v]);
        if (bytes > left) return false;
        left -= bytes;
    }
    return true;
}

// ---- building ---------------------------------------------------------------

void graph_make_room(Graph *g, int64_t nodes, int64_t values)
{
    g->nodes = arena_grow(g->arena, g->nodes, &g->node_capacity, nodes,
                          sizeof(Node));
    g->values = arena_grow(g->arena, g->values, &g->value_capacity, values,
                           sizeof(Value));
}

Graph *graph_new(Arena *arena, Diag *diag, const char *name, Mode mode,
                 int64_t batch, DType real)
{
    Graph *g = NEW(arena, Graph);
    g->arena = arena;
    g->diag = diag;
    g->name = arena_copy(arena, name, strlen(name));
    g->mode = mode;
    g->batch = batch;
    g->real = g->map = g->weight = real;
    g->value_names = names_new(arena, 0);
    g->node_names = names_new(arena, 0);
    g->header = graph_value(g, "header", STATE, U8,
                            shape_of(1, header_bytes(1)),
                            (Pos){ .file = 0 });
    return g;
}

// A loss or metric has a sum and a weight, both doubles, since the last reset
// and since the last update (runtime/support/net/header.cuh, accrued.cuh).
enum { HEADER_FIXED_BYTES = 128, FIGURE_BYTES = 32 };

int64_t header_bytes(int figures)
{
    return padded(HEADER_FIXED_BYTES + (int64_t)figures * FIGURE_BYTES);
}

int header_figures(const Graph *g)
{
    int64_t room = elements(g->values[g->header].shape) - HEADER_FIXED_BYTES;
    return room > 0 ? (int)(room / FIGURE_BYTES) : 0;
}

// Copies and compacted graphs have no name spaces until a name is taken: most
// copies take none.
static Names *value_names(Graph *g)
{
    if (g->value_names != NULL) return g->value_names;
    g->value_names = names_new(g->arena, g->value_capacity);
    for (ValueId v = 0; v < g->value_count; v++)
        names_keep(g->value_names, g->values[v].name, v);
    return g->value_names;
}

static Names *node_names(Graph *g)
{
    if (g->node_names != NULL) return g->node_names;
    g->node_names = names_new(g->arena, g->node_capacity);
    for (NodeId i = 0; i < g->node_count; i++)
        names_keep(g->node_names, g->nodes[i].name, i);
    return g->node_names;
}

Value plain_value(Kind kind)
{
    return (Value){
        .kind = kind, .persistent = is_persistent(kind),
        .def = NONE, .gradient_of = NONE, .state_of = NONE,
        .recompute_of = NONE, .scale = NONE, .rate_factor = 1,
        .first = NONE, .last = NONE, .alias_of = NONE, .offset = NONE,
    };
}

ValueId graph_value(Graph *g, const char *name, Kind kind, DType dtype,
                    Shape shape, Pos pos)
{
    ValueId id = g->value_count;
    if (shape.rank < 0 || shape.rank > MAX_RANK)
        bug("%s: a shape of rank %d", name, shape.rank);
    for (int i = 0; i < shape.rank; i++)
        if (shape.dim[i] < 1)
            bug("%s: a shape of %s", name, shape_text(g, shape));
    if (!is_addressable(shape, dtype)) {
        error(g->diag, pos, "%s of %s is too large to be addressed", name,
              shape_text(g, shape));
        for (int i = 0; i < shape.rank; i++) shape.dim[i] = 1;
    }
    g->values = arena_grow(g->arena, g->values, &g->value_capacity,
                           (int64_t)id + 1, sizeof(Value));
    const char *taken = g->nameless ? name
                                    : names_take(value_names(g), name, id);
    g->value_count++;
    Value *value = &g->values[id];
    *value = plain_value(kind);
    value->name = taken;
    value->shape = shape;
    value->dtype = dtype;
    value->pos = pos;
    return id;
}

ValueId graph_value_like(Graph *g, ValueId v, const char *name, Kind kind,
                         Shape shape, Pos pos)
{
    ValueId id = graph_value(g, name, kind, g->values[v].dtype, shape, pos);
    g->values[id].classes = g->values[v].classes;
    g->values[id].keep_f32 = g->values[v].keep_f32;
    return id;
}

// Copies ids into the graph, since callers' arrays are often on the stack.
static ValueId *copy_ids(Graph *g, int count, const ValueId *ids)
{
    ValueId *copy = NEW_ARRAY(g->arena, (size_t)count, ValueId);
    if (count > 0) memcpy(copy, ids, (size_t)count * sizeof *ids);
    return copy;
}

NodeId graph_node(Graph *g, const Op *op, int kernel, Phase phase,
                  const char *name, Pos pos, int operand_count,
                  const ValueId *operands, int result_count,
                  const ValueId *results)
{
    NodeId id = g->node_count;

    g->nodes = arena_grow(g->arena, g->nodes, &g->node_capacity,
                          (int64_t)id + 1, sizeof(Node));
    const char *taken = g->nameless ? name
                                    : names_take(node_names(g), name, id);
    g->node_count++;
    g->nodes[id] = (Node){
        .op = op, .kernel = (int8_t)kernel, .phase = phase,
        .name = taken, .pos = pos,
        .operand_count = operand_count, .result_count = result_count,
        .operands = copy_ids(g, operand_count, operands),
        .results = copy_ids(g, result_count, results),
    };
    // A result that another node made before, as in fusions, is made by this
    // node from now on.
    for (int i = 0; i < result_count; i++)
        if (results[i] != NONE) g->values[results[i]].def = id;
    return id;
}

Graph graph_with_new_arena(const Graph *g)
{
    Graph scratch = *g;
    scratch.arena = arena_new();
    return scratch;
}

Graph *graph_copy(const Graph *g, Arena *arena)
{
    Graph *copy = NEW(arena, Graph);
    *copy = *g;
    copy->arena = arena;
    copy->node_names = copy->value_names = NULL;
    copy->node_capacity = g->node_count;
    copy->value_capacity = g->value_count;
    copy->nodes = NEW_ARRAY(arena, g->node_count, Node);
    copy->values = NEW_ARRAY(arena, g->value_count, Value);
    for (ValueId v = 0; v < g->value_count; v++) copy->values[v] = g->values[v];
    for (NodeId i = 0; i < g->node_count; i++) {
        Node *n = &copy->nodes[i];
        *n = g->nodes[i];
        n->operands = copy_ids(copy, n->operand_count, n->operands);
        n->results = copy_ids(copy, n->result_count, n->results);
    }
    return copy;
}

// ---- changing ---------------------------------------------------------------

void graph_replace(Graph *g, ValueId a, ValueId b)
{
    for (NodeId i = 0; i < g->node_count; i++) {
        Node *n = &g->nodes[i];
        if (n->op == NULL) continue;
        for (int k = 0; k < n->operand_count; k++)
            if (n->operands[k] == a) n->operands[k] = b;
    }
    if (a != b && g->values[a].output) {
        g->values[a].output = false;
        g->values[b].output = true;
        g->values[b].output_number = g->values[a].output_number;
        g->values[a].output_number = 0;
    }
}

void graph_mark_too(Graph *g, ValueId a, ValueId b)
{
    if (g->values[b].def == NONE) return;
    g->values[b].marked |= g->values[a].marked;
    g->values[b].keep_f32 |= g->values[a].keep_f32;
}

// Turns flags into new ids: kept[i] is 1 for an element that stays.  Afterwards
// kept[i] is the number of kept elements before i, and kept[count] their total.
static void number_kept(int32_t *kept, int32_t count)
{
    int32_t next = 0;
    for (int32_t i = 0; i <= count; i++) {
        int32_t stays = i < count ? kept[i] : 0;
        kept[i] = next;
        next += stays;
    }
}

// Returns the new id, or NONE if the element was dropped, as the gradient of a
// deleted value.
static ValueId renumber(const int32_t *kept, int32_t id)
{
    if (id == NONE || kept[id] == kept[id + 1]) return NONE;
    return kept[id];
}

static void mark(int32_t *kept, int count, const ValueId *ids)
{
    for (int i = 0; i < count; i++)
        if (ids[i] != NONE) kept[ids[i]] = 1;
}

// Marks the values that nodes read or write, outputs, and the state.
static int32_t *kept_values(const Graph *g)
{
    int32_t *kept = NEW_ARRAY(g->arena, (size_t)g->value_count + 1, int32_t);

    for (ValueId v = 0; v < g->value_count; v++)
        kept[v] = (g->values[v].persistent && !is_given(&g->values[v])) ||
                  g->values[v].output;
    for (NodeId i = 0; i < g->node_count; i++) {
        const Node *n = &g->nodes[i];
        if (n->op == NULL) continue;
        mark(kept, n->operand_count, n->operands);
        mark(kept, n->result_count, n->results);
    }
    // An alias keeps the value that it aliases, and so on.
    for (ValueId v = 0; v < g->value_count; v++) {
        ValueId root = kept[v] ? g->values[v].alias_of : NONE;
        for (; root != NONE && !kept[root]; root = g->values[root].alias_of)
            kept[root] = 1;
    }
    number_kept(kept, g->value_count);
    return kept;
}

static int32_t *kept_nodes(const Graph *g)
{
    int32_t *kept = NEW_ARRAY(g->arena, (size_t)g->node_count + 1, int32_t);
    for (NodeId i = 0; i < g->node_count; i++) kept[i] = g->nodes[i].op != NULL;
    number_kept(kept, g->node_count);
    return kept;
}

// Names of dropped nodes are free afterwards.  A graph that was read from text
// then makes the same names as this one.
static void compact_nodes(Graph *g, const int32_t *node, const int32_t *value)
{
    int32_t count = node[g->node_count];

    g->node_names = NULL;
    for (NodeId i = 0; i < g->node_count; i++) {
        Node n = g->nodes[i];
        if (n.op == NULL) continue;
        for (int k = 0; k < n.operand_count; k++)
            n.operands[k] = renumber(value, n.operands[k]);
        for (int k = 0; k < n.result_count; k++)
            n.results[k] = renumber(value, n.results[k]);
        g->nodes[node[i]] = n;
    }
    g->node_count = count;
}

static void compact_values(Graph *g, const int32_t *node, const int32_t *value)
{
    int32_t count = value[g->value_count];

    g->value_names = NULL;
    for (ValueId v = 0; v < g->value_count; v++) {
        Value moved = g->values[v];
        if (value[v] == value[v + 1]) continue;
        moved.def = renumber(node, moved.def);
        moved.gradient_of = renumber(value, moved.gradient_of);
        moved.state_of = renumber(value, moved.state_of);
        moved.recompute_of = renumber(value, moved.recompute_of);
        moved.scale = renumber(value, moved.scale);
        moved.alias_of = renumber(value, moved.alias_of);
        // A lifetime shrinks to its remaining nodes.
        if (moved.first != NONE) moved.first = node[moved.first];
        if (moved.last != NONE) moved.last = node[moved.last + 1] - 1;
        g->values[value[v]] = moved;
    }
    g->value_count = count;
}

void graph_compact(Graph *g)
{
    const int32_t *node = kept_nodes(g), *value = kept_values(g);

    compact_values(g, node, value);
    compact_nodes(g, node, value);
    g->header = renumber(value, g->header);
}

void graph_reorder(Graph *g, const NodeId *order)
{
    Arena *arena = arena_new();
    Node *old = NEW_ARRAY(arena, g->node_count, Node);

    memcpy(old, g->nodes, (size_t)g->node_count * sizeof *old);
    for (NodeId i = 0; i < g->node_count; i++) {
        Node *n = &g->nodes[i];
        *n = old[order[i]];
        for (int32_t r = 0; r < n->result_count; r++)
            if (n->results[r] != NONE) g->values[n->results[r]].def = i;
    }
    arena_free(arena);
}

void graph_move_last(Graph *g, NodeId first, NodeId to)
{
    NodeId *order = NEW_ARRAY(g->arena, g->node_count, NodeId), at = 0;
    if (first == g->node_count) return;
    for (NodeId i = 0; i < to; i++) order[at++] = i;
    for (NodeId i = first; i < g->node_count; i++) order[at++] = i;
    for (NodeId i = to; i < first; i++) order[at++] = i;
    graph_reorder(g, order);
}

// ---- uses -------------------------------------------------------------------

// A node that reads a value through several slots is one reader; its first slot
// counts.
static bool is_first_slot(const Node *n, int k)
{
    for (int j = 0; j < k; j++)
        if (n->operands[j] == n->operands[k]) return false;
    return n->operands[k] != NONE;
}

Uses graph_uses(const Graph *g)
{
    Uses uses = {
        .start = NEW_ARRAY(g->arena, (size_t)g->value_count + 1, int32_t),
    };
    for (NodeId i = 0; i < g->node_count; i++) {
        const Node *n = &g->nodes[i];
        for (int k = 0; n->op != NULL && k < n->operand_count; k++)
            if (is_first_slot(n, k)) uses.start[n->operands[k] + 1]++;
    }
    for (ValueId v = 0; v < g->value_count; v++)
        uses.start[v + 1] += uses.start[v];

    // A second walk fills the lists, whose lengths the first walk counted.
    int32_t *next = NEW_ARRAY(g->arena, (size_t)g->value_count + 1, int32_t);
    memcpy(next, uses.start, ((size_t)g->value_count + 1) * sizeof *next);
    uses.list = NEW_ARRAY(g->arena, (size_t)uses.start[g->value_count], NodeId);
    for (NodeId i = 0; i < g->node_count; i++) {
        const Node *n = &g->nodes[i];
        for (int k = 0; n->op != NULL && k < n->operand_count; k++)
            if (is_first_slot(n, k)) uses.list[next[n->operands[k]]++] = i;
    }
    return uses;
}

NodeId only_reader(const Graph *g, const Uses *uses, ValueId v)
{
    if (v == NONE || g->values[v].output) return NONE;
    if (uses->start[v + 1] - uses->start[v] != 1) return NONE;
    return uses->list[uses->start[v]];
}
