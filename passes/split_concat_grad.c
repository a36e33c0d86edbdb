// split_concat_grad: computes the gradient of a concat's result in parts.
//
//   %30 d.c = conv.dgrad(%29, w, -)                 c = concat(a, b)
//   %31 d.a = concat.grad(d.c, -) axis=3
//   %32 d.b = concat.grad(d.c, b) axis=3 start=64 act=relu
// becomes
//   %33 w.a = concat.grad(w, -) axis=3
//   %31 d.a = conv.dgrad(%29, w.a, -)
//   %34 w.b = concat.grad(w, -) axis=3 start=64
//   %32 d.b = conv.dgrad(%29, w.b, b) act=relu
//
// Kernel.divided names an operand with the channels of the result.  A slice of
// that operand then makes the same slice of the result, element by element from
// the same sums.  Instead of one map that is alive until its last slice is read
// there are several.  Each may overwrite the map it is the gradient of, or be
// made late; a part without readers is not made at all.  The slices of the
// operand are no copies (pass elide_copies).  An operand that is computed on
// load is computed from a slice of that it is computed from.
//
// A mask may be computed on load from the joined map, as in quantization-aware
// training.  Then the mask of a part is computed from the join's operand: that
// of d.a from a, that of d.b from b.
//
// Not done if a part is narrower than a block's tile or if there are many
// parts: each launch reads all other operands.
#include <string.h>
#include "pass.h"

enum { MOST = 4, NARROWEST = 32 };

// The nodes that replace a slice of the gradient, or NONE.
typedef enum Made {
    MADE_SLICE,                     // of the operand, or of that it is loaded
                                    // from
    MADE_OPERAND,                   // on load
    MADE_MASK,                      // on load
    MADE_PART,                      // of the gradient
    MADE_NODES
} Made;

typedef struct Parts {
    Graph  *g;
    Uses    uses;
    NodeId (*made)[MADE_NODES];     // of each node, its replacements
} Parts;

// True if node n reads v only to slice channels out of it; *width: the number
// of channels.
static bool takes_channels(const Graph *g, const Node *n, ValueId v,
                           int64_t *width)
{
    const Kernel *kernel = &n->op->kernels[n->kernel];
    Shape shape = g->values[v].shape;
    if (!kernel->slice || kernel->joins || n->fused_load || n->operands[0] != v)
        return false;
    for (int32_t k = 1; k < n->operand_count; k++)
        if (n->operands[k] == v) return false;
    Slice slice = kernel->slice(g, n, 0);
    *width = slice.width;
    return slice.stride == shape.dim[shape.rank - 1] &&
           slice.width < slice.stride;
}

// Returns the node that computes v on load, from a first operand of its shape;
// or NULL.
static const Node *load_of(const Graph *g, ValueId v)
{
    if (v == NONE || g->values[v].def == NONE) return NULL;
    const Node *load = &g->nodes[g->values[v].def];
    return load->fused_load && load->operand_count > 0 &&
           same_shape(g->values[load->operands[0]].shape, g->values[v].shape)
               ? load : NULL;
}

// True if a slice of v's channels can be made: v is stored, or computed on load
// from a value that is.
static bool has_slices(const Graph *g, ValueId v)
{
    const Node *load = load_of(g, v);
    if (load) v = load->operands[0];
    return g->values[v].def == NONE || !g->nodes[g->values[v].def].fused_load;
}

// The mask of node `whole` may be computed on load from a join.  Returns the
// join's operand with the channels that node `reader` slices out; or NONE.
static ValueId joined_under_mask(const Graph *g, const Node *whole,
                                 const Node *reader)
{
    const Node *load =
        load_of(g, whole->operands[operand_called(whole, "mask")]);
    if (!load) return NONE;
    ValueId map = load->operands[0];
    if (g->values[map].def == NONE) return NONE;
    const Node *join = &g->nodes[g->values[map].def];
    const Kernel *kernel = &join->op->kernels[join->kernel];
    if (!kernel->joins || !kernel->slice) return NONE;
    Slice wanted = reader->op->kernels[reader->kernel].slice(g, reader, 0);
    for (int32_t k = 0; k < join->operand_count; k++) {
        Slice slice = kernel->slice(g, join, k);
        if (slice.start == wanted.start && slice.width == wanted.width &&
            slice.stride == wanted.stride)
            return join->operands[k];
    }
    return NONE;
}

// True if the result of node i should be made in parts.
static bool is_divided(const Parts *p, NodeId i)
{
    const Graph *g = p->g;
    const Node *n = &g->nodes[i];
    const Kernel *kernel = &n->op->kernels[n->kernel];
    if (!kernel->divided || n->fused_load || n->phase != BACKWARD) return false;
    ValueId v = n->results[0];
    int32_t first = p->uses.start[v], end = p->uses.start[v + 1];
    if (g->values[v].output || first == end || end - first > MOST ||
        kernel->divided(g, n) == NONE || operand_called(n, "mask") == NONE ||
        !has_slices(g, n->operands[kernel->divided(g, n)]))
        return false;
    for (int32_t k = first; k < end; k++) {
        int64_t width;
        const Node *reader = &g->nodes[p->uses.list[k]];
        if (!takes_channels(g, reader, v, &width) || width < NARROWEST ||
            reader->operand_count > 2)
            return false;
        if (n->act && (reader->act || joined_under_mask(g, n, reader) == NONE))
            return false;
    }
    return true;
}

// Makes value v, which is computed on load, from `map` in the place of the
// node's first operand.  Returns the node.
static NodeId load_from(Graph *g, ValueId v, ValueId map, Pos pos)
{
    Node load = g->nodes[g->values[v].def];
    ValueId operands[MAX_SLOTS];
    for (int32_t k = 0; k < load.operand_count; k++)
        operands[k] = k == 0 ? map : load.operands[k];
    ValueId part = graph_value_like(
        g, v, arena_print(g->arena, "%s.part", g->values[v].name), ACTIVATION,
        g->values[map].shape, pos);
    NodeId made = graph_node(g, load.op, load.kernel, BACKWARD,
                             g->values[part].name, load.pos, load.operand_count,
                             operands, 1, &part);
    memcpy(g->nodes[made].attr, load.attr, sizeof load.attr);
    g->nodes[made].act = load.act;
    g->nodes[made].fused_load = true;
    return made;
}

// Makes the part of node i's result that node `reader` slices out.
static void make_part(Parts *p, NodeId i, NodeId reader)
{
    Graph *g = p->g;
    Node whole = g->nodes[i], taken = g->nodes[reader];
    int k = whole.op->kernels[whole.kernel].divided(g, &whole);
    const Node *load = load_of(g, whole.operands[k]);
    ValueId from = load ? load->operands[0] : whole.operands[k];
    Value operand = g->values[from];
    Shape shape = operand.shape, part = g->values[taken.results[0]].shape;
    shape.dim[shape.rank - 1] = part.dim[part.rank - 1];
    ValueId slice = graph_value_like(
        g, from, arena_print(g->arena, "%s.part", operand.name), ACTIVATION,
        shape, taken.pos);
    ValueId sliced[2] = {from, NONE};
    NodeId cut = graph_node(g, taken.op, taken.kernel, taken.phase,
                            g->values[slice].name, taken.pos,
                            taken.operand_count, sliced, 1, &slice);
    memcpy(g->nodes[cut].attr, taken.attr, sizeof taken.attr);
    p->made[reader][MADE_SLICE] = cut;

    ValueId operands[MAX_SLOTS];
    int mask = operand_called(&whole, "mask");
    for (int32_t j = 0; j < whole.operand_count; j++)
        operands[j] = whole.operands[j];
    operands[k] = slice;
    if (load) {
        NodeId made = load_from(g, whole.operands[k], slice, taken.pos);
        operands[k] = g->nodes[made].results[0];
        p->made[reader][MADE_OPERAND] = made;
    }
    if (whole.act) {
        NodeId made = load_from(g, operands[mask],
                                joined_under_mask(g, &whole, &taken),
                                taken.pos);
        operands[mask] = g->nodes[made].results[0];
        p->made[reader][MADE_MASK] = made;
    } else if (taken.operand_count > 1) {
        operands[mask] = taken.operands[1];
    }
    NodeId made = graph_node(g, whole.op, whole.kernel, whole.phase, whole.name,
                             whole.pos, whole.operand_count, operands, 1,
                             taken.results);
    memcpy(g->nodes[made].attr, whole.attr, sizeof whole.attr);
    g->nodes[made].act = whole.act ? whole.act : taken.act;
    p->made[reader][MADE_PART] = made;
    g->nodes[reader].op = NULL;
}

// Moves the new nodes, which are last, to the places of the nodes they replace.
static void put_in_place(const Parts *p, NodeId old_count)
{
    Graph *g = p->g;
    Node *nodes = NEW_ARRAY(g->arena, g->node_capacity, Node);
    NodeId count = 0;
    for (NodeId i = 0; i < old_count; i++) {
        nodes[count++] = g->nodes[i];
        for (int j = 0; j < MADE_NODES; j++)
            if (p->made[i][j] != NONE)
                nodes[count++] = g->nodes[p->made[i][j]];
    }
    for (NodeId i = 0; i < count; i++)
        for (int32_t r = 0; nodes[i].op && r < nodes[i].result_count; r++)
            if (nodes[i].results[r] != NONE)
                g->values[nodes[i].results[r]].def = i;
    arena_release(g->arena, g->nodes);
    g->nodes = nodes;
}

void pass_split_concat_grad(Graph *g, const PassOptions *o)
{
    (void)o;
    NodeId count = g->node_count;
    Parts p = {.g = g, .uses = graph_uses(g)};
    p.made = arena_alloc(g->arena, (size_t)count, sizeof *p.made);
    for (NodeId i = 0; i < count; i++)
        for (int j = 0; j < MADE_NODES; j++) p.made[i][j] = NONE;
    for (NodeId i = 0; i < count; i++) {
        if (!g->nodes[i].op || !is_divided(&p, i)) continue;
        ValueId v = g->nodes[i].results[0];
        for (int32_t k = p.uses.start[v]; k < p.uses.start[v + 1]; k++)
            make_part(&p, i, p.uses.list[k]);
        g->nodes[i].op = NULL;
    }
    put_in_place(&p, count);
    graph_compact(g);
}
