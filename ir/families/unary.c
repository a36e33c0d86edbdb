// Elementwise operators of one operand.
//
//   %6 = elu(%5) alpha=1
//   %9 d.%5 = elu.grad(%8 d.%6, %6) alpha=1
//
// The gradient uses the result if that suffices: the operand can then be freed
// or overwritten.  This file depends on no operator.
#include "unary.h"

ValueId build_unary(Build *b)
{
    const AttrSpec *spec = b->op->attrs;
    Attr attr[MAX_ATTRS] = { { 0 } };

    if (!build_wants_real(b, 0)) return NONE;
    for (int k = 0; spec != NULL && spec[k].name != NULL; k++) {
        if (spec[k].type == ATTR_FLOAT) attr[k].f = b->arg[k].f;
        else attr[k].i = b->arg[k].i;
    }
    return build_node(b, 1, b->operand, attr,
                      b->g->values[b->operand[0]].shape);
}

// ---- gradient ---------------------------------------------------------------

static void gradient_from(Gradient *c, ValueId kept)
{
    if (!gradient_wanted(c, 0)) return;
    ValueId operands[] = { gradient_of_result(c, 0), kept };
    ValueId dx = gradient_value(c, 0);
    gradient_node(c, c->g->nodes[c->node].op, 1, 2, operands, 1, &dx);
    gradient_add(c, 0, dx);
}

void gradient_from_result(Gradient *c)
{
    gradient_from(c, c->g->nodes[c->node].results[0]);
}

void gradient_from_operand(Gradient *c)
{
    gradient_from(c, c->g->nodes[c->node].operands[0]);
}

// ---- launches ---------------------------------------------------------------

void launch_functor(const Graph *g, const Node *n, Launch *l,
                    const char *functor)
{
    static const char *const kernel[] = { "unary_forward", "unary_gradient" };
    const AttrSpec *spec = n->op->attrs;
    int64_t count = elements(g->values[n->results[0]].shape);
    int64_t vec = vec_width(g, n, count);

    launch_elements(l, kernel[n->kernel], count / vec);
    launch_type(l, functor);
    launch_type_int(l, vec);
    launch_slots(l, n, 1, n->operand_count);
    launch_int(l, count, "count");
    for (int k = 0; spec != NULL && spec[k].name != NULL; k++) {
        if (spec[k].type != ATTR_FLOAT) continue;
        launch_type(l, "real");
        launch_real(l, n->attr[k].f, spec[k].name);
    }
}

void launch_unary(const Graph *g, const Node *n, Launch *l)
{
    launch_functor(g, n, l, functor_of(n->op));
}

bool load_functor(const Node *n, Launch *l, const char *functor)
{
    launch_struct(l, "Applied");
    launch_type(l, functor);
    launch_load(l, n, 0);
    return true;
}

bool load_unary(const Graph *g, const Node *n, Launch *l)
{
    (void)g;
    return load_functor(n, l, functor_of(n->op));
}

// ---- references -------------------------------------------------------------

void unary_reference(const Ref *r, double (*f)(const Attr *attr, double x))
{
    int64_t count = elements(ref_out(r, 0));
    for (int64_t i = 0; i < count; i++)
        r->out[0][i] = f(r->n->attr, r->in[0][i]);
}

void unary_gradient_reference(const Ref *r,
                              double (*f)(const Attr *attr, double dy,
                                          double v))
{
    int64_t count = elements(ref_out(r, 0));
    for (int64_t i = 0; i < count; i++)
        r->out[0][i] = f(r->n->attr, r->in[0][i], r->in[1][i]);
}

static void act_reference(const Ref *r)
{
    int64_t count = elements(ref_out(r, 0));
    for (int64_t i = 0; i < count; i++)
        r->out[0][i] = r->n->op->act(r->in[0][i]);
}

static void act_gradient_reference(const Ref *r)
{
    int64_t count = elements(ref_out(r, 0));
    for (int64_t i = 0; i < count; i++)
        r->out[0][i] = r->n->op->act_gradient(r->in[0][i], r->in[1][i]);
}

const Kernel act_kernels[] = {
    UNARY_KERNELS(launch_unary, load_unary, act_reference,
                  act_gradient_reference, "y"),
};

const Kernel operand_kernels[] = {
    UNARY_KERNELS(launch_unary, load_unary, act_reference,
                  act_gradient_reference, "x"),
};
