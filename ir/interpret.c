// The reference interpreter: runs a graph node by node, each by its operator's
// scalar loops in double.  Emitted programs are compared with it before and
// after any pass, so it depends on as little as possible.  Every value has its
// own array, aliases and offsets are ignored, and a view copies.
#include <string.h>
#include "dtype.h"

// The header's array holds slots instead of bytes, and has space for either.
Tensors tensors_new(const Graph *g)
{
    size_t values = (size_t)g->value_count;
    Tensors t = { .data = NEW_ARRAY(g->arena, values, double *) };

    for (ValueId v = 0; v < g->value_count; v++) {
        int64_t count = elements(g->values[v].shape);
        if (v == g->header && count < HEADER_SLOTS) count = HEADER_SLOTS;
        t.data[v] = NEW_ARRAY(g->arena, (size_t)count, double);
    }
    return t;
}

Shape ref_in(const Ref *r, int k)
{
    return r->g->values[r->n->operands[k]].shape;
}

Shape ref_out(const Ref *r, int k)
{
    return r->g->values[r->n->results[k]].shape;
}

double ref_act(const Ref *r, double x)
{
    return r->n->act != NULL ? r->n->act->act(x) : x;
}

static void gather(const Tensors *t, int count, const ValueId *ids,
                   double **data)
{
    for (int k = 0; k < count; k++)
        data[k] = ids[k] == NONE ? NULL : t->data[ids[k]];
}

static void copy_view(const Ref *r)
{
    size_t count = (size_t)elements(ref_in(r, 0));
    // A view has an operand and a result.
    // NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker)
    memcpy(r->out[0], r->in[0], count * sizeof(double));
}

// Rounds a value to its storage type.  Rows of a weight have scales; a map has
// one.
static void store(const Graph *g, ValueId v, double *const *all)
{
    const Value *value = &g->values[v];
    bool is_scaled = value->scale != NONE && !g->calibrates;
    int64_t count =
        is_scaled || is_half(value->dtype) ? elements(value->shape) : 0;
    int64_t scales =
        is_scaled ? elements(g->values[value->scale].shape) : 1;
    for (int64_t i = 0; i < count; i++)
        all[v][i] = is_scaled ? nearest_integer(
                                    value->dtype, all[v][i],
                                    all[value->scale][i / (count / scales)])
                              : rounded(value->dtype, all[v][i]);
}

static void store_results(const Ref *r)
{
    for (int32_t k = 0; k < r->n->result_count; k++)
        if (r->n->results[k] != NONE)
            store(r->g, r->n->results[k], r->all);
}

// Runs a node by its reference, which a view may lack.
static void run_node(Ref *r)
{
    const Kernel *kernel = &r->n->op->kernels[r->n->kernel];

    if (kernel->reference != NULL)
        kernel->reference(r);
    else if (r->n->op->flags & VIEW)
        copy_view(r);
    else
        bug("%s: %s has no reference", r->n->name, r->n->op->name);
}

// Returns the maximum number of operands or results, the length of the shared
// arrays.
static int most_slots(const Graph *g)
{
    int most = 1;
    for (NodeId i = 0; i < g->node_count; i++) {
        const Node *n = &g->nodes[i];
        if (n->operand_count > most) most = n->operand_count;
        if (n->result_count > most) most = n->result_count;
    }
    return most;
}

void interpret(const Graph *g, Tensors *t, int64_t samples)
{
    size_t slots = (size_t)most_slots(g);
    Ref r = {
        .g = g, .samples = samples, .header = t->data[g->header],
        .all = t->data,
        .in = NEW_ARRAY(g->arena, slots, double *),
        .out = NEW_ARRAY(g->arena, slots, double *),
    };
    for (ValueId v = 0; v < g->value_count; v++)
        if (g->values[v].kind == PARAM) store(g, v, t->data);
    for (NodeId i = 0; i < g->node_count; i++) {
        r.n = &g->nodes[i];
        if (r.n->op == NULL) continue;
        gather(t, r.n->operand_count, r.n->operands, r.in);
        gather(t, r.n->result_count, r.n->results, r.out);
        run_node(&r);
        store_results(&r);
        if (t->after != NULL) t->after(t->with, r.n);
    }
}
