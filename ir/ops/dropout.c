// dropout: drops elements at random while training, and makes up for them.
//
// Whether an element is kept is drawn from a counter: the seed, the training
// step, the dropout's number in source order, the sample and the element in
// it.  So the mask is not stored; the backward pass draws it again, and the
// gradient is the same launch on dy.  Outside training there is no node at
// all, but the number is used up, so that every program numbers alike.
#include "../op_row.h"
#include "../philox.h"
#include "../rules.h"

enum { RATE, NUMBER };

static const ArgSpec args[] = {
    { "rate", ARG_FLOAT, NULL, 0, 1, "the part of the elements that is "
      "dropped, below 1" },
    { .name = NULL },
};
static const AttrSpec attrs[] = {
    { "rate", ATTR_FLOAT }, { "number", ATTR_INT }, { .name = NULL },
};

static ValueId build(Build *b)
{
    Graph *g = b->g;
    int number = g->dropout_count++;
    double rate = b->arg[RATE].f;
    if (!build_wants_real(b, 0)) return NONE;
    if (rate >= 1) {
        error(g->diag, b->arg[RATE].pos, "a rate of %g would drop everything",
              rate);
        return NONE;
    }
    if (g->mode != TRAIN) return b->operand[0];

    ValueId operands[] = { b->operand[0], g->header };
    Attr attr[] = { [RATE] = { .f = rate }, [NUMBER] = { .i = number } };
    return build_node(b, 2, operands, attr,
                      g->values[b->operand[0]].shape);
}

static ValueId fold(Graph *g, NodeId id)
{
    const Node *n = &g->nodes[id];
    return n->attr[RATE].f == 0 ? n->operands[0] : NONE;
}

static void gradient(Gradient *c)
{
    if (!gradient_wanted(c, 0)) return;
    ValueId operands[] = { gradient_of_result(c, 0), c->g->header };
    ValueId dx = gradient_value(c, 0);
    gradient_node(c, &op_dropout, 0, 2, operands, 1, &dx);
    gradient_add(c, 0, dx);
}

// A draw below this drops its element.
static uint32_t threshold(const Node *n)
{
    return (uint32_t)(n->attr[RATE].f * 4294967296.0);
}

static void launch(const Graph *g, const Node *n, Launch *l)
{
    Shape shape = g->values[n->results[0]].shape;
    int64_t batch = shape.dim[0], width = elements(shape) / batch;
    launch_elements(l, "dropout_forward", batch * ceil_div(width, 4));
    launch_value(l, n->results[0]);
    launch_value(l, n->operands[0]);
    launch_header(l);
    launch_int(l, n->attr[NUMBER].i, "number");
    launch_int(l, threshold(n), "threshold");
    launch_real(l, 1 / (1 - n->attr[RATE].f), "keep");
    launch_int(l, batch, "batch");
    launch_int(l, width, "width");
}

static bool is_kept(const Ref *r, int64_t sample, int64_t element)
{
    const uint32_t counter[4] = {
        (uint32_t)(element / 4), (uint32_t)sample,
        (uint32_t)r->n->attr[NUMBER].i,
        (uint32_t)(uint64_t)r->header[HEADER_STEP],
    };
    uint32_t word[4];
    philox(counter, (uint64_t)r->header[HEADER_SEED], word);
    return word[element % 4] >= threshold(r->n);
}

static void reference(const Ref *r)
{
    Shape shape = ref_out(r, 0);
    int64_t width = elements(shape) / shape.dim[0];
    double keep = 1 / (1 - r->n->attr[RATE].f);
    for (int64_t i = 0; i < elements(shape); i++) {
        bool kept = is_kept(r, i / width, i % width);
        r->out[0][i] = kept ? keep * r->in[0][i] : 0;
    }
}

static const Part parts[] = {
    { .name = "", .results = "y", .in_place = "y/x",
      .cost = cost_elementwise, .launch = launch, .reference = reference },
    { .results = NULL },
};

const Op op_dropout = {
    ROW(dropout), .args = args, .attrs = attrs, .build = build, .fold = fold,
    .gradient = gradient, .parts = parts,
};
