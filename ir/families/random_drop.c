// Dropout and stochastic depth.  The draw for an element is a function of a
// counter.  The counter has the seed, the training step, the layer's number in
// source order, the sample and the element.  So no mask is stored: the backward
// pass draws again, and the gradient is the forward launch on dy.  If a
// training step has several batches, samples are numbered across them, and
// slices of a batch have the number of their first sample.
//
// Dropout's result y = x / (1 - rate) or 0 has the sign of x or is 0.  Rounding
// does not make it 0, since |y| >= |x|.  If x is the result of a BY_SIGN
// activation, one launch on dy that reads y, and draws nothing, computes both
// gradients:
//
//   %30 d.y = dropout(%29, header)      %31 = relu.grad(%30, %9)
//   %31 = dropout.gated(%29, %10) act=relu
#include "random_drop.h"
#include "../op/activation_grad.h"
#include "../base/philox.h"
#include "../op/op_checks.h"

enum { RATE_ARG };

const AttrSpec drop_attrs[] = {
    { "rate", ATTR_FLOAT, 0, 0 }, { "number", ATTR_INT, 0, INT32_MAX },
    { "first", ATTR_INT, 0, 0x1p40 },
    { .name = NULL },
};

ValueId drop_build(Build *b)
{
    Graph *g = b->g;
    int number = g->dropout_count++;
    double rate = b->arg[RATE_ARG].f;
    if (!build_wants_real(b, 0)) return NONE;
    if (rate >= 1) {
        error(g->diag, b->arg[RATE_ARG].pos,
              "a rate of %g would drop everything", rate);
        return NONE;
    }
    if (g->mode != TRAIN) return b->operand[0];

    ValueId operands[] = { b->operand[0], g->header };
    Attr attr[] = { [DROP_RATE] = { .f = rate },
                    [DROP_NUMBER] = { .i = number },
                    [DROP_FIRST] = { .i = 0 } };
    return build_node(b, 2, operands, attr,
                      g->values[b->operand[0]].shape);
}

ValueId drop_simplify(Graph *g, NodeId id)
{
    const Node *n = &g->nodes[id];
    return n->attr[DROP_RATE].f == 0 ? n->operands[0] : NONE;
}

void drop_rebase(Node *n, int64_t first)
{
    n->attr[DROP_FIRST].i += first;
}

void drop_gradient(Gradient *c)
{
    if (!gradient_wanted(c, 0)) return;
    ValueId operands[] = { gradient_of_result(c, 0), c->g->header };
    ValueId dx = gradient_value(c, 0);
    const Op *op = c->g->nodes[c->node].op;
    gradient_node(c, op, 0, 2, operands, 1, &dx);
    gradient_add(c, 0, dx);
}

void drop_gated_launch(const Graph *g, const Node *n, Launch *l)
{
    int64_t count = elements(g->values[n->results[0]].shape);
    launch_elements(l, "drop_gated", count);
    launch_act(l, n);
    launch_slots(l, n, 1, 2);
    launch_real(l, drop_keep(n), "keep");
    launch_int(l, count, "count");
}

void drop_gated_reference(const Ref *r)
{
    int64_t count = elements(ref_out(r, 0));
    double keep = drop_keep(r->n);
    for (int64_t i = 0; i < count; i++)
        r->out[0][i] = keep * r->in[0][i];
    ref_mask(r, 1);
}

double drop_keep(const Node *n)
{
    return 1 / (1 - n->attr[DROP_RATE].f);
}

// Returns the threshold: a draw below it drops the element.
static uint32_t drop_threshold(const Node *n)
{
    return (uint32_t)(n->attr[DROP_RATE].f * 4294967296.0);
}

void drop_arguments(const Graph *g, const Node *n, Launch *l)
{
    Shape shape = g->values[n->results[0]].shape;
    launch_slots(l, n, 1, 1);
    launch_header(l);
    launch_int(l, n->attr[DROP_NUMBER].i, "number");
    launch_int(l, drop_threshold(n), "threshold");
    launch_real(l, drop_keep(n), "keep");
    launch_int(l, shape.dim[0], "batch");
    launch_int(l, elements(shape) / shape.dim[0], "width");
    launch_int(l, n->attr[DROP_FIRST].i, "first");
}

bool drop_keeps(const Ref *r, int64_t sample, int64_t element)
{
    const uint32_t counter[4] = {
        (uint32_t)(element / 4),
        (uint32_t)(sample + r->n->attr[DROP_FIRST].i +
                   (int64_t)r->header[HEADER_ACCUMULATED]),
        (uint32_t)r->n->attr[DROP_NUMBER].i,
        (uint32_t)(uint64_t)r->header[HEADER_STEP],
    };
    uint32_t word[4];
    philox(counter, (uint64_t)r->header[HEADER_SEED], word);
    return word[element % 4] >= drop_threshold(r->n);
}
