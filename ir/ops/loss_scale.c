// loss_scale: keeps gradients from underflow in 16 bits.  The loss is
// multiplied by a power of two, and gradients are divided by it when they are
// applied.  See Micikevicius et al. 2018, arXiv 1710.03740, 3.2.
//
//   %9 d.logits = softmax_cross_entropy.grad(logits, label, header)   scaled
//   ...                                              backward, all gradients
//   %30 bad = loss_scale(d.a, d.b, ...)              is one not finite?
//   loss_scale.begin(header!, bad, ...)              the update begins
//   sgd(a!, d.a, header)                             ... times gradient_scale
//
// The loss's gradients multiply when they store, and optimizers divide when
// they read: the header's gradient_scale is 1 / scale, times the factor of
// clip_norm.  A power of two changes no digit of numbers that neither over- nor
// underflow.
//
// A gradient that is not finite skips the whole training step, as does a loss.
// So the update waits for all gradients, and so do the forward pass's sums for
// the header (tally).  A dynamic scale is then halved; it doubles after
// `interval` consecutive good steps.  A loss that is not finite does not change
// it.
//
// A fixed scale is a constant of the file.  A dynamic one is in the header; 0
// there is a state from a file without one, and starts it afresh.
#include <math.h>
#include "../families/loss_scale.h"
#include "../op/op_row.h"
#include "../op/op_checks.h"

enum { PARTS = 264, BLOCK = 256 };

bool is_loss_scale(double scale)
{
    int exponent;
    return scale >= LEAST_LOSS_SCALE && scale <= MOST_LOSS_SCALE &&
           frexp(scale, &exponent) == 0.5;
}

bool finds_overflow(const Node *n)
{
    return n->op == &op_loss_scale && n->kernel == SCALE_CHECK;
}

bool begins_scaled_update(const Node *n)
{
    return n->op == &op_loss_scale && n->kernel == SCALE_BEGIN;
}

static Shape shape(const Graph *g, const Node *n)
{
    (void)g, (void)n;
    return shape_of(1, (int64_t)PARTS);
}

// ---- the check for overflow -------------------------------------------------

static int64_t all_elements(const Graph *g, const Node *n)
{
    int64_t all = 0;
    for (int k = 0; k < n->operand_count; k++)
        all = capped_sum(all, elements(g->values[n->operands[k]].shape));
    return all;
}

static void cost(const Graph *g, const Node *n, Cost *cost)
{
    cost->flops = all_elements(g, n);
    cost->bytes = cost_bytes(g, n);
}

static void launch(const Graph *g, const Node *n, Launch *l)
{
    enum { EACH = 4 };          // elements of a load
    int64_t blocks = ceil_div(all_elements(g, n), EACH * BLOCK);
    launch_kernel(l, "find_overflow", blocks < PARTS ? blocks : PARTS, BLOCK);
    launch_type_int(l, n->operand_count);
    launch_value(l, n->results[0]);
    Launch *all = launch_members(l, "Gradients");
    launch_type_int(all, n->operand_count);
    for (int k = 0; k < n->operand_count; k++) {
        ValueId d = n->operands[k];
        Launch *one = launch_members(all, "GradientOf");
        launch_value(one, d);
        launch_int(one, elements(g->values[d].shape), NULL);
    }
    launch_int(l, PARTS, "parts");
    launch_nothing_last(l);
}

// The reference stores the whole result in the first part.
static void reference(const Ref *r)
{
    bool bad = false;
    for (int k = 0; k < r->n->operand_count; k++)
        for (int64_t i = 0; i < elements(ref_in(r, k)); i++)
            bad |= !isfinite(r->in[k][i]);
    for (int i = 0; i < PARTS; i++) r->out[0][i] = i == 0 && bad;
}

// ---- the beginning of the update --------------------------------------------

static void begin_cost(const Graph *g, const Node *n, Cost *cost)
{
    cost->flops = (int64_t)PARTS * n->operand_count;
    cost->bytes = cost_bytes(g, n);
}

// Adds the struct of the scale: MovingScale{65536.0f, 2000}, or
// FixedScale{1024.0f}.
static void launch_scale(const Graph *g, Launch *l)
{
    const char *name = g->training.loss_scale_interval != 0 ? "MovingScale"
                                                   : "FixedScale";
    launch_type(l, name);
    Launch *scale = launch_members(l, name);
    launch_real(scale, g->training.loss_scale, "first");
    if (g->training.loss_scale_interval == 0) return;
    launch_int(scale, g->training.loss_scale_interval, "interval");
}

static void begin_last(const Graph *g, const Node *n, Launch *l)
{
    bool accumulates = is_accumulating(g);
    launch_struct(l, accumulates ? "BeginScaledAccumulated" : "BeginScaled");
    launch_header(l);
    if (!accumulates) launch_samples(l);
    launch_scale(g, l);
    launch_type_int(l, n->operand_count - 1);
    Launch *bad = launch_members(l, "Overflows");
    launch_type_int(bad, n->operand_count - 1);
    for (int k = 1; k < n->operand_count; k++)
        launch_value(bad, n->operands[k]);
    launch_int(l, PARTS, "parts");
}

static void move_scale(const Graph *g, double *header, bool overflow)
{
    double *scale = &header[HEADER_LOSS_SCALE], *good = &header[HEADER_GOOD];
    if (*scale <= 0) *scale = g->training.loss_scale;
    if (overflow) {
        *scale = fmax(*scale / 2, LEAST_LOSS_SCALE);
        *good = 0;
    } else if (++*good >= (double)g->training.loss_scale_interval) {
        *scale = fmin(*scale * 2, MOST_LOSS_SCALE);
        *good = 0;
    }
}

static void begin_reference(const Ref *r)
{
    const Graph *g = r->g;
    double *header = r->header, *samples = &header[HEADER_ACCUMULATED];
    double *skip = &header[HEADER_ACCUMULATED_SKIP];
    double now = header[HEADER_LOSS_SCALE];
    bool moves = g->training.loss_scale_interval != 0, bad = false;
    for (int k = 1; k < r->n->operand_count; k++)
        for (int i = 0; i < PARTS; i++) bad |= r->in[k][i] != 0;
    header[HEADER_GRADIENT_SCALE] =
        1 / (moves && now > 0 ? now : g->training.loss_scale);
    if (!is_accumulating(g)) *samples = (double)r->samples;
    if (*samples != 0 && *skip == 0) {
        if (moves) move_scale(g, header, bad);
        *skip = bad;
    }
    ref_begin_update(r);
    for (int k = HEADER_ACCUMULATED; !is_accumulating(g) && k < HEADER_SLOTS;
         k++)
        header[k] = 0;
}

static const Kernel kernels[] = {
    [SCALE_CHECK] = { .name = "", .results = "bad", .cost = cost,
      .launch = launch, .reference = reference },
    [SCALE_BEGIN] = { .name = "begin", .operands = "header! bad*",
      .results = "", .cost = begin_cost, .launch = launch_alone,
      .last = begin_last, .reference = begin_reference },
    { .results = NULL },
};

const Op op_loss_scale = { ROW(loss_scale), .shape = shape,
                           .kernels = kernels };
