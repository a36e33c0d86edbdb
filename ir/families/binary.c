// Operators of two operands with broadcasting: an operand is repeated along the
// axes where it has one element.
//
// The gradient of a repeated operand is a sum over those axes, fused with the
// operator's gradient.  If the sum is long and leaves few blocks, it is cut
// into splits.  They depend only on the shape, so the order of sums is fixed:
//
//   %9 d.gate.splits = mul.grad_b(%8 dy, %2 map, -) splits=4
//   %10 d.gate = sum_splits(%9)
//
// The kernels merge adjacent axes that belong to the same operands: [n,h,w,c]
// and [n,1,1,c] broadcast along n, h*w and c.
#include <string.h>
#include "binary.h"
#include "../op/op_checks.h"
#include "../gpu/gemm_tile.h"

enum { SPLITS };
enum { DY, A, B, MASK_SLOT };   // operands of a gradient

const AttrSpec broadcast_attrs[] = {
    { "splits", ATTR_INT, 0, MOST_SPLITS }, { .name = NULL },
};

// ---- shapes -----------------------------------------------------------------

// Returns the shape of operand k (0: a, 1: b) with axes of 1 in front, so that
// it has this rank.  A value keeps its axis of samples; a parameter has none.
static Shape aligned(const Op *op, int k, Shape own, int rank)
{
    bool is_param = k == 1 && strchr(op->operands, '[') != NULL;
    int kept = is_param ? 0 : 1, missing = rank - own.rank;
    Shape shape = { .rank = rank };
    if (missing <= 0 || own.rank < kept) return own;
    for (int d = 0; d < rank; d++)
        shape.dim[d] = d < kept ? own.dim[d]
                       : d < kept + missing ? 1 : own.dim[d - missing];
    return shape;
}

// Both operands, aligned.
typedef struct Pair {
    Shape a, b;
} Pair;

static Pair pair_of(const Op *op, Shape a, Shape b)
{
    int rank = a.rank > b.rank ? a.rank : b.rank;
    return (Pair){ aligned(op, 0, a, rank), aligned(op, 1, b, rank) };
}

static Pair pair_of_node(const Graph *g, const Node *n)
{
    return pair_of(n->op, g->values[n->operands[0]].shape,
                   g->values[n->operands[1]].shape);
}

// Returns the shape of the result; rank 0 if the shapes do not match.
static Shape meet(Pair of)
{
    Shape a = of.a, b = of.b, y = { .rank = 0 };
    if (a.rank != b.rank) return y;
    for (int d = 0; d < a.rank; d++) {
        if (a.dim[d] != b.dim[d] && a.dim[d] != 1 && b.dim[d] != 1) return y;
        y.dim[d] = a.dim[d] == 1 ? b.dim[d] : a.dim[d];
    }
    y.rank = a.rank;
    return y;
}

Shape shape_of_broadcast(const Graph *g, const Node *n)
{
    return meet(pair_of_node(g, n));
}

ValueId build_broadcast(Build *b)
{
    Graph *g = b->g;
    if (!build_wants_real(b, 0) || !build_wants_real(b, 1)) return NONE;
    Shape y = meet(pair_of(b->op, g->values[b->operand[0]].shape,
                           g->values[b->operand[1]].shape));
    if (y.rank > 0) return build_node(b, 2, b->operand, NULL, y);
    error(g->diag, b->pos, "%s needs shapes that, from the last dimension on, "
          "are equal, or 1 where they differ, but these are %s and %s",
          b->op->name, operand_text(b, 0), operand_text(b, 1));
    return NONE;
}

// An axis of the result, or several merged ones.  The strides a and b are 0 if
// the operand is repeated.
typedef struct Dim {
    int64_t extent, a, b;
} Dim;

typedef struct Dims {
    int count;
    Dim at[MAX_RANK];           // from the innermost on
} Dims;

static Dims dims_of(Shape y, Shape a, Shape b)
{
    Dims dims = { .count = 0 };
    int64_t apart_a = 1, apart_b = 1;
    for (int d = y.rank - 1; d >= 0; d--) {
        if (y.dim[d] == 1) continue;
        Dim *inner = dims.count > 0 ? &dims.at[dims.count - 1] : NULL;
        bool in_a = a.dim[d] > 1, in_b = b.dim[d] > 1;
        if (inner && in_a == (inner->a > 0) && in_b == (inner->b > 0))
            inner->extent *= y.dim[d];
        else
            dims.at[dims.count++] = (Dim){ y.dim[d], in_a ? apart_a : 0,
                                           in_b ? apart_b : 0 };
        apart_a *= a.dim[d];
        apart_b *= b.dim[d];
    }
    if (dims.count == 0) dims.at[dims.count++] = (Dim){ 1, 1, 1 };
    return dims;
}

// ---- sums -------------------------------------------------------------------

// The distribution of the sum for an operand: `lanes` threads share the terms
// of one element.  A block of 256 threads has 256 / lanes elements.
typedef struct Sums {
    int64_t kept, terms;        // elements, and terms of each
    int64_t lanes, splits;
} Sums;

enum { BLOCK = 256 };

static int64_t power_above(int64_t count, int64_t most)
{
    int64_t power = 1;
    while (power < count && power < most) power *= 2;
    return power;
}

// Adjacent threads of a warp should access adjacent elements: along the result,
// or, if the innermost axis is reduced, along the terms.
static Sums sums_of(Shape y, Shape own)
{
    enum { EACH = 16, BLOCKS = 512, FEW = 8, WARP = 32 };
    int inner = y.rank - 1;
    while (inner > 0 && y.dim[inner] == 1) inner--;
    Sums s = { .kept = elements(own), .terms = elements(y) / elements(own) };
    int64_t most = power_above(s.terms, BLOCK);
    if (own.dim[inner] > 1)
        s.lanes = most < FEW ? most : FEW;
    else
        s.lanes = power_above(ceil_div(s.terms, FEW), BLOCK);
    if (s.lanes < WARP && own.dim[inner] == 1)
        s.lanes = most < WARP ? most : WARP;
    while (BLOCK / s.lanes > power_above(s.kept, BLOCK)) s.lanes *= 2;
    int64_t useful = s.terms / (EACH * s.lanes);
    int64_t room = BLOCKS / ceil_div(s.kept, BLOCK / s.lanes);
    s.splits = useful < room ? useful : room;
    if (s.splits < 1 || y.rank == MAX_RANK) s.splits = 1;
    return s;
}

// ---- gradient ---------------------------------------------------------------

void broadcast_gradient(Gradient *c, int k, ValueId dz, unsigned from)
{
    if (!gradient_wanted(c, k)) return;
    Graph *g = c->g;
    Node n = g->nodes[c->node];
    Shape y = g->values[dz].shape;
    Shape own = aligned(n.op, k, g->values[n.operands[k]].shape, y.rank);
    if ((from & PASSES) && same_shape(y, g->values[n.operands[k]].shape)) {
        gradient_add(c, k, dz);
        return;
    }
    ValueId operands[] = {
        [DY] = dz, [A] = from & READS_A ? n.operands[0] : NONE,
        [B] = from & READS_B ? n.operands[1] : NONE, [MASK_SLOT] = NONE,
    };
    ValueId d = gradient_value(c, k);
    int64_t splits = same_shape(y, own) ? 1 : sums_of(y, own).splits;
    ValueId sums = splits > 1 ? split_sums(g, n.operands[k], splits) : d;
    NodeId id = gradient_node(c, n.op, 1 + k, 4, operands, 1, &sums);
    g->nodes[id].attr[SPLITS].i = splits;
    if (splits > 1)
        gradient_node(c, ops[OP_sum_splits], 0, 2, (ValueId[]){ sums, NONE },
                      2, (ValueId[]){ d, NONE });
    gradient_add(c, k, d);
}

// The shapes of a gradient node: of dy, its operand and the other operand.  The
// shape of an operand that it does not read is dy's, which has no effect.
typedef struct Sides {
    Shape y, own, other;
} Sides;

static Sides sides_of(const Graph *g, const Node *n)
{
    ValueId other = n->operands[n->kernel == A ? B : A];
    Sides s = { .y = g->values[n->operands[DY]].shape,
                .own = g->values[n->results[0]].shape };
    s.other = other == NONE ? s.y : g->values[other].shape;
    if (n->attr[SPLITS].i > 1) {
        for (int d = 1; d < s.own.rank; d++) s.own.dim[d - 1] = s.own.dim[d];
        s.own.rank--;
    }
    int own = n->kernel - 1;
    s.own = aligned(n->op, own, s.own, s.y.rank);
    s.other = aligned(n->op, 1 - own, s.other, s.y.rank);
    return s;
}

// ---- launches ---------------------------------------------------------------

// Counts one operation per element of y, and one more for sums.
void cost_broadcast(const Graph *g, const Node *n, Cost *cost)
{
    ValueId y = n->kernel == 0 ? n->results[0] : n->operands[DY];
    int64_t count = elements(g->values[y].shape);
    bool sums = count > elements(g->values[n->results[0]].shape);
    cost->flops = sums ? 2 * count : count;
    cost->bytes = cost_bytes(g, n);
}

static void launch_dims(Launch *l, Dims dims)
{
    const char *text = "Meeting<";
    for (int d = dims.count - 1; d >= 0; d--)
        text = arena_print(l->g->arena, "%sDim<%lld, %lld, %lld>%s", text,
                           (long long)dims.at[d].extent,
                           (long long)dims.at[d].a, (long long)dims.at[d].b,
                           d > 0 ? ", " : ">");
    launch_type(l, text);
}

static void launch_pointers(const Node *n, Launch *l)
{
    launch_slots(l, n, 1, n->operand_count);
}

static void launch_forward(const Graph *g, const Node *n, Launch *l)
{
    Pair of = pair_of_node(g, n);
    Shape y = meet(of);
    bool equal = same_shape(of.a, of.b);
    int64_t vec = equal ? vec_width(g, n, elements(y)) : 1;
    launch_elements(l, equal ? "pair_forward" : "broadcast_forward",
                    elements(y) / vec);
    launch_type(l, functor_of(n->op));
    launch_act(l, n);
    if (equal) launch_type_int(l, vec);
    else launch_dims(l, dims_of(y, of.a, of.b));
    launch_pointers(n, l);
    if (equal) launch_int(l, elements(y), "count");
}

static void launch_sums(const Sides *s, const Node *n, Launch *l)
{
    Sums sums = sums_of(s->y, s->own);
    int64_t splits = n->attr[SPLITS].i;
    launch_kernel(l, "broadcast_sums",
                  splits * ceil_div(sums.kept, BLOCK / sums.lanes), BLOCK);
    launch_constant(l, "LANES", sums.lanes);
    launch_constant(l, "SPLITS", splits);
}

static void launch_gradient(const Graph *g, const Node *n, Launch *l)
{
    Sides s = sides_of(g, n);
    int64_t count = elements(s.y);
    bool whole = same_shape(s.y, s.own), equal = same_shape(s.y, s.other);
    int64_t vec = vec_width(g, n, count);
    if (!whole) launch_sums(&s, n, l);
    else if (equal) launch_elements(l, "pair_gradient", count / vec);
    else launch_elements(l, "broadcast_gradient", count);
    launch_type(l, functor_of(n->op));
    launch_type_int(l, n->kernel - 1);
    launch_act(l, n);
    if (whole && equal) launch_type_int(l, vec);
    else
        launch_dims(l, n->kernel == A ? dims_of(s.y, s.own, s.other)
                                    : dims_of(s.y, s.other, s.own));
    launch_pointers(n, l);
    if (whole && equal) launch_int(l, count, "count");
}

void launch_broadcast(const Graph *g, const Node *n, Launch *l)
{
    if (n->kernel == 0) launch_forward(g, n, l);
    else launch_gradient(g, n, l);
}

bool load_broadcast(const Graph *g, const Node *n, Launch *l)
{
    Pair of = pair_of_node(g, n);
    launch_struct(l, "Paired");
    launch_type(l, functor_of(n->op));
    launch_act(l, n);
    launch_dims(l, dims_of(meet(of), of.a, of.b));
    for (int k = 0; k < 2; k++) launch_load(l, n, k);
    return true;
}

// ---- references -------------------------------------------------------------

// Returns the index in x of the element that belongs to element i of y.
static int64_t place_in(Shape x, Shape y, int64_t i)
{
    int64_t at = 0, apart = 1;
    for (int d = y.rank - 1; d >= 0; d--) {
        if (x.dim[d] > 1) at += i % y.dim[d] * apart;
        apart *= x.dim[d];
        i /= y.dim[d];
    }
    return at;
}

void broadcast_reference(const Ref *r, double (*f)(double a, double b))
{
    Shape y = ref_out(r, 0);
    Pair of = pair_of_node(r->g, r->n);
    for (int64_t i = 0; i < elements(y); i++)
        r->out[0][i] = ref_act(r, f(r->in[0][place_in(of.a, y, i)],
                                    r->in[1][place_in(of.b, y, i)]));
}

// Returns the shape of the reduced axes.
static Shape summed(Shape y, Shape own)
{
    Shape rest = { .rank = y.rank };
    for (int d = 0; d < y.rank; d++)
        rest.dim[d] = own.dim[d] == 1 ? y.dim[d] : 1;
    return rest;
}

// Returns operand A or B at element i of y; 0 if it is not read.
static double read_at(const Ref *r, int k, Shape y, int64_t i)
{
    if (r->in[k] == NULL) return 0;
    Shape own = aligned(r->n->op, k - A, ref_in(r, k), y.rank);
    return r->in[k][place_in(own, y, i)];
}

// Terms are split into runs of equal length; the last are shorter or empty.
void broadcast_gradient_reference(const Ref *r,
                                  double (*f)(int k, double dz, double a,
                                              double b))
{
    Sides s = sides_of(r->g, r->n);
    Shape rest = summed(s.y, s.own);
    int64_t kept = elements(s.own);
    int64_t run = ceil_div(elements(rest), r->n->attr[SPLITS].i);
    for (int64_t i = 0; i < elements(ref_out(r, 0)); i++) r->out[0][i] = 0;
    for (int64_t i = 0; i < elements(s.y); i++) {
        int64_t split = place_in(rest, s.y, i) / run;
        double term = f(r->n->kernel - 1, r->in[DY][i], read_at(r, A, s.y, i),
                        read_at(r, B, s.y, i));
        r->out[0][split * kept + place_in(s.own, s.y, i)] += term;
    }
    if (r->in[MASK_SLOT] == NULL) return;
    for (int64_t i = 0; i < kept; i++)
        r->out[0][i] =
            r->n->act->act_gradient(r->out[0][i], r->in[MASK_SLOT][i]);
}
