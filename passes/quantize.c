// Maps stored as integers of 8 bits, of pass lower_precision.
//
//   %5 a f32[8, 32, 32, 16] = conv(x, conv.weight, conv.bias) act=relu
// becomes
//   %9 a.scale f32[1] statistic
//   %5 a u8[8, 32, 32, 16] scale=%9 = conv(x, conv.weight, conv.bias) act=relu
//
// A real number is its integer times the scale.  Zero is 0, and so is padding.
// The integers are u8 where the map cannot be negative, else i8 of at least
// -127.  Kernels load and store such a map through a struct
// (Scaled in runtime/support/vec/scaled.cuh) that multiplies and rounds.  They
// compute in reals.  So every launch whose slots take any array can have it; a
// map keeps its type if some launch that touches it cannot.
//
// Values that share bytes, and the operands and results of joins, slices and
// largest-pools, have one scale.  The scales are running statistics: part of
// the state, which calibration sets.
#include "../ir/dtype.h"
#include "../ir/op/op.h"
#include "quantize.h"

// Classes of values that have one scale.
typedef struct Classes {
    Graph   *g;
    const bool *lowered;        // of each value: it has 8 bits
    ValueId *parent;            // the value itself: a root
    bool    *negative;          // of each root: some value may be negative
} Classes;

static ValueId root_of(const Classes *c, ValueId v)
{
    while (c->parent[v] != v) v = c->parent[v];
    return v;
}

static void join(Classes *c, ValueId a, ValueId b)
{
    ValueId one = root_of(c, a), other = root_of(c, b);
    c->parent[one > other ? one : other] = one > other ? other : one;
}

// True if the result has numbers of operand 0, or zeros.
static bool is_copy(const Node *n)
{
    if (n->act != NULL && !(n->act->flags & GATES)) return false;
    return n->op->flags & (VIEW | SELECTS) ||
           n->op->kernels[n->kernel].slice != NULL;
}

// Joins the values that a node copies.
static void join_copies(Classes *c, const Node *n)
{
    if (!is_copy(n) || n->result_count == 0 || !c->lowered[n->results[0]])
        return;
    bool joins = n->op->kernels[n->kernel].joins;
    for (int32_t k = 0; k < (joins ? n->operand_count : 1); k++)
        if (n->operands[k] != NONE && c->lowered[n->operands[k]])
            join(c, n->operands[k], n->results[0]);
}

// True if result 0 of n is never negative.  An operand that is computed on load
// may be.
static bool is_nonnegative(const Classes *c, const Node *n,
                           const bool *negative)
{
    const Op *last = n->act != NULL ? n->act : n->op;
    if (last->flags & NONNEGATIVE) return true;
    if (n->act != NULL || !(n->op->flags & KEEPS_SIGN || is_copy(n)))
        return false;
    bool joins = n->op->kernels[n->kernel].joins;
    for (int32_t k = 0; k < (joins ? n->operand_count : 1); k++)
        if (n->operands[k] == NONE || negative[n->operands[k]] ||
            !is_real(c->g->values[n->operands[k]].dtype))
            return false;
    return true;
}

static void find_signs(Classes *c)
{
    const Graph *g = c->g;
    bool *negative = NEW_ARRAY(g->arena, g->value_count, bool);
    for (ValueId v = 0; v < g->value_count; v++)
        negative[v] = true;
    for (NodeId i = 0; i < g->node_count; i++) {
        const Node *n = &g->nodes[i];
        if (n->result_count > 0 && n->results[0] != NONE)
            negative[n->results[0]] = !is_nonnegative(c, n, negative);
    }
    for (ValueId v = 0; v < g->value_count; v++)
        if (c->lowered[v] && negative[v]) c->negative[root_of(c, v)] = true;
}

// Adds the scale of a value, or of its class.  A program that calibrates finds
// it.
static ValueId new_scale(Graph *g, ValueId v, DType type, int64_t count)
{
    const Value of = g->values[v];
    const char *name = g->nameless ? of.name
                                   : arena_print(g->arena, "%s.scale", of.name);
    return graph_value(g, name, g->calibrates ? STATE : STATISTIC, type,
                       shape_of(1, count), of.pos);
}

// Returns the scale of a class of maps.  If it is to be found, it is a MapRange
// (runtime/support/vec/measured.cuh).
static ValueId scale_of_maps(Graph *g, ValueId root)
{
    enum { RANGE_WORDS = 2 + 2048 };
    const double first = 1.0 / 32;
    if (g->calibrates) return new_scale(g, root, I32, RANGE_WORDS);
    ValueId scale = new_scale(g, root, g->real, 1);
    g->values[scale].init = (Init){ INIT_CONSTANT, first };
    return scale;
}

// True if each launch that reads a weight takes scales, and multiplies a map by
// it that another launch makes.  The weights of an input's numbers stay reals.
static bool is_factor(const Graph *g, ValueId v)
{
    bool is_read = false;
    for (NodeId i = 0; i < g->node_count; i++) {
        const Node *n = &g->nodes[i];
        if (!is_operand(n, v)) continue;
        ValueId x = n->operands[0];
        if (!takes_scaled(n, v) || g->values[x].def == NONE ||
            keeps_f32(g, x) || keeps_f32(g, n->results[0]))
            return false;
        is_read = true;
    }
    return is_read;
}

// A row of a weight, the factors of one channel of the result, has a scale.
static void quantize_weight(Graph *g, ValueId v)
{
    const double most = 127;
    Value of = g->values[v];
    ValueId scale = new_scale(g, v, g->real, of.shape.dim[0]);
    if (g->calibrates) return;
    g->values[scale].init = (Init){ INIT_CONSTANT, of.init.scale / most };
    g->values[v].dtype = g->values[v].integer = I8;
    g->values[v].scale = scale;
    g->values[v].init = (Init){ INIT_UNIFORM, most };
}

static void quantize_weights(Graph *g)
{
    for (ValueId v = 0, count = g->value_count; v < count; v++)
        if (g->values[v].kind == PARAM && g->values[v].shape.rank >= 2 &&
            (g->weight == I8 || g->calibrates) && is_factor(g, v))
            quantize_weight(g, v);
}

void quantize(Graph *g, const bool *lowered)
{
    int32_t count = g->value_count;
    Classes c = {
        .g = g, .lowered = lowered,
        .parent = NEW_ARRAY(g->arena, count, ValueId),
        .negative = NEW_ARRAY(g->arena, count, bool),
    };
    ValueId *scale = NEW_ARRAY(g->arena, count, ValueId);
    for (ValueId v = 0; v < count; v++) {
        c.parent[v] = v;
        scale[v] = NONE;
    }
    for (NodeId i = 0; i < g->node_count; i++) join_copies(&c, &g->nodes[i]);
    find_signs(&c);
    for (ValueId v = 0; v < count; v++) {
        ValueId root = root_of(&c, v);
        if (!lowered[v] || g->values[v].kind == PARAM) continue;
        if (scale[root] == NONE) scale[root] = scale_of_maps(g, root);
        g->values[v].integer = c.negative[root] ? I8 : U8;
        g->values[v].scale = scale[root];
        if (!g->calibrates) g->values[v].dtype = g->values[v].integer;
    }
    quantize_weights(g);
}
