// Node.act in the backward direction.  Pass fuse_epilogue fuses an activation
// into a launch, so the incoming gradient is that of y = act(z):
//
//   %6 = conv(%0, %1, %2) act=relu
// has a gradient that begins with
//   %20 = relu.grad(%19, %6)
//
// and the operator's own rule continues with %20.  Part 1 of every ACT operator
// is its gradient, computed from dy and y.
#include "activation_grad.h"
#include "../dtype.h"

ValueId act_gradient(Gradient *c)
{
    Graph *g = c->g;
    ValueId dy = gradient_of_result(c, 0);
    Node n = g->nodes[c->node];
    if (n.act == NULL) return dy;

    Value of = g->values[dy];
    ValueId dz = graph_value(g, of.name, GRADIENT, of.dtype, of.shape, n.pos);
    ValueId operands[] = { dy, n.results[0] };
    g->values[dz].gradient_of = n.results[0];
    gradient_node(c, n.act, 1, 2, operands, 1, &dz);
    return dz;
}

void ref_mask(const Ref *r, int k)
{
    int64_t count = elements(ref_out(r, 0));
    if (r->in[k] == NULL) return;
    for (int64_t i = 0; i < count; i++)
        r->out[0][i] = r->n->act->act_gradient(r->out[0][i], r->in[k][i]);
}

void ref_add_other(const Ref *r, int k)
{
    DType dtype = r->g->values[r->n->results[0]].dtype;
    int64_t count = elements(ref_out(r, 0));
    for (int64_t i = 0; i < count; i++) {
        double *dx = &r->out[0][i];
        *dx = rounded(dtype, rounded(dtype, *dx) + r->in[k][i]);
    }
}
