// signs: a bit for each element of an activation's result: 1 if its gradient is
// dy, 0 if it is 0.  The bits are kept in place of the map, if nothing else
// reads it.
//
//   %9 signs = signs(%8 y) act=relu             8 elements a byte
//   ...
//   %20 passes = signs.read(%9) fused_load     1 where the bit is set, else 0
//   %21 dx = conv.dgrad(%19, %2, %20) act=relu
//
// The activation has flag GATES: the gradient at 1 is dy, at 0 it is 0.  Unused
// bits of the last byte are 0.
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

// Element i is bit i % 8 of byte i / 8.
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
      .cost = cost_elementwise, .launch = read_launch, .load_work = 3,
      .load = read_load,
      .reference = read_reference },
    { .results = NULL },
};

const Op op_signs = { ROW(signs), .shape = shape, .kernels = kernels };
