// signs: of each element of an activation's result, whether its gradient is dy
// there or 0: a bit, and all that is kept of a map that nothing else needs.
//
//   %9 signs = signs(%8 y) act=relu             8 elements a byte
//   ...
//   %20 passes = signs.read(%9) fused_load     1 where the bit is set, else 0
//   %21 dx = conv.dgrad(%19, %2, %20) act=relu
//
// The activation is one that GATES: of 1 its gradient is dy, of 0 it is 0.  The
// last byte may have bits of no element, which are 0.
#include "../op/op_row.h"
#include "../op/op_checks.h"

enum { EACH = 8 };              // elements a byte

static Shape shape(const Graph *g, const Node *n)
{
    int64_t count = elements(g->values[n->operands[0]].shape);
    return shape_of(1, ceil_div(count, EACH));
}

static void launch(const Graph *g, const Node *n, Launch *l)
{
    int64_t count = elements(g->values[n->operands[0]].shape);
    launch_elements(l, "signs_forward", ceil_div(count, EACH));
    launch_act(l, n);
    launch_slots(l, n, 1, 1);
    launch_int(l, count, "count");
}

static void read_launch(const Graph *g, const Node *n, Launch *l)
{
    int64_t count = elements(g->values[n->results[0]].shape);
    launch_elements(l, "signs_read", count);
    launch_slots(l, n, 1, 1);
    launch_int(l, count, "count");
}

static bool read_load(const Graph *g, const Node *n, Launch *l)
{
    (void)g;
    launch_struct(l, "Signs");
    launch_value(l, n->operands[0]);
    return true;
}

// Bit i % 8 of byte i / 8.
static void reference(const Ref *r)
{
    int64_t count = elements(ref_in(r, 0)), unit = 1;
    ref_clear(r, 0);
    for (int64_t i = 0; i < count; i++) {
        double passes = r->n->act->act_gradient(1, r->in[0][i]);
        if (passes != 0) r->out[0][i / EACH] += (double)unit;
        unit = i % EACH == EACH - 1 ? 1 : 2 * unit;
    }
}

static void read_reference(const Ref *r)
{
    int64_t count = elements(ref_out(r, 0));
    for (int64_t i = 0; i < count; i++)
        r->out[0][i] = (double)((int64_t)r->in[0][i / EACH] >> i % EACH & 1);
}

static const Kernel kernels[] = {
    { .name = "", .results = "bits", .cost = cost_elementwise,
      .launch = launch, .reference = reference },
    { .name = "read", .operands = "bits", .results = "passes^",
      .cost = cost_elementwise, .launch = read_launch, .load = read_load,
      .reference = read_reference },
    { .results = NULL },
};

const Op op_signs = { ROW(signs), .shape = shape, .kernels = kernels };
