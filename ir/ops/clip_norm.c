// clip_norm: one scale for all gradients, as in torch.nn.utils.clip_grad_norm_.
// It is in the header, and optimizers multiply by it, which saves a pass over
// the gradients.  Gradients of a scaled loss are still scaled; the header's
// scale compensates.
//
// Sums of squares are PARTS numbers for each gradient, in double, and are added
// in a fixed order.  The operands of a launch are limited, so the sums of many
// gradients are joined first.
#include <math.h>
#include "../op/op_row.h"
#include "../op/op_checks.h"

enum { PARTS = 128, BLOCK = 512 };
enum { LIMIT };

static const AttrSpec attrs[] = {
    { "limit", ATTR_FLOAT, 0, 1e38 }, { .name = NULL },
};

static Shape shape(const Graph *g, const Node *n)
{
    (void)g, (void)n;
    return shape_of(1, (int64_t)PARTS);
}

// ---- one gradient -----------------------------------------------------------

static void cost(const Graph *g, const Node *n, Cost *cost)
{
    cost->flops = 2 * elements(g->values[n->operands[0]].shape);
    cost->bytes = cost_bytes(g, n);
}

static void launch(const Graph *g, const Node *n, Launch *l)
{
    int64_t count = elements(g->values[n->operands[0]].shape);
    int64_t blocks = ceil_div(count, BLOCK);
    launch_kernel(l, "sum_squares", blocks < PARTS ? blocks : PARTS, BLOCK);
    launch_value(l, n->results[0]);
    launch_value(l, n->operands[0]);
    launch_int(l, count, "count");
    launch_int(l, PARTS, "parts");
}

// The reference stores the whole sum in the first part.
static void reference(const Ref *r)
{
    double sum = 0;
    for (int64_t i = 0; i < elements(ref_in(r, 0)); i++)
        sum += r->in[0][i] * r->in[0][i];
    for (int k = 0; k < PARTS; k++) r->out[0][k] = k == 0 ? sum : 0;
}

// ---- several gradients ------------------------------------------------------

static void join_cost(const Graph *g, const Node *n, Cost *cost)
{
    cost->flops = (int64_t)PARTS * n->operand_count;
    cost->bytes = cost_bytes(g, n);
}

static void launch_sums(const Node *n, Launch *l, const char *kernel)
{
    launch_kernel(l, kernel, 1, PARTS);
    for (int k = 0; k < n->operand_count; k++)
        if (n->operands[k] != l->g->header) launch_type(l, "double");
}

static void join_launch(const Graph *g, const Node *n, Launch *l)
{
    (void)g;
    launch_sums(n, l, "join_sums");
    launch_value(l, n->results[0]);
    for (int k = 0; k < n->operand_count; k++) launch_value(l, n->operands[k]);
}

static void join_reference(const Ref *r)
{
    for (int i = 0; i < PARTS; i++) {
        r->out[0][i] = 0;
        for (int k = 0; k < r->n->operand_count; k++)
            r->out[0][i] += r->in[k][i];
    }
}

// ---- the scale --------------------------------------------------------------

static void scale_launch(const Graph *g, const Node *n, Launch *l)
{
    launch_type(l, is_scaled(g) ? "true" : "false");
    launch_sums(n, l, "scale_gradients");
    launch_header(l);
    launch_real(l, n->attr[LIMIT].f, "limit");
    for (int k = 1; k < n->operand_count; k++) launch_value(l, n->operands[k]);
}

static void scale_reference(const Ref *r)
{
    double sum = 0;
    for (int k = 1; k < r->n->operand_count; k++)
        for (int i = 0; i < PARTS; i++) sum += r->in[k][i];
    double *gradients = &r->header[HEADER_GRADIENT_SCALE];
    double unscaled = is_scaled(r->g) ? *gradients : 1;
    double scale = r->n->attr[LIMIT].f / (sqrt(sum) * unscaled + 1e-6);
    *gradients = (scale > 1 ? 1 : scale) * unscaled;
}

static const Kernel kernels[] = {
    { .name = "", .results = "sums", .cost = cost, .launch = launch,
      .reference = reference },
    { .name = "join", .operands = "sums*", .results = "sum", .cost = join_cost,
      .launch = join_launch, .reference = join_reference },
    { .name = "scale", .operands = "header! sums*", .results = "",
      .cost = join_cost, .launch = scale_launch,
      .reference = scale_reference },
    { .results = NULL },
};

const Op op_clip_norm = {
    ROW(clip_norm), .attrs = attrs, .shape = shape, .kernels = kernels,
};
