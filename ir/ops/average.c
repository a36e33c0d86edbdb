// average: an exponential moving average of a parameter, for the train
// section's setting average.  Evaluation and inference use it instead of the
// parameter.  Its initial value is the parameter's.
#include "../op/op_row.h"
#include "../op/op_checks.h"

enum { KEEP };
enum { AVERAGE, WEIGHT };       // operands

static const AttrSpec attrs[] = {
    { "keep", ATTR_FLOAT, 0, 1 }, { .name = NULL },
};

static void cost(const Graph *g, const Node *n, Cost *cost)
{
    const Value *average = &g->values[n->operands[AVERAGE]];
    cost->flops = 3 * elements(average->shape);
    cost->bytes = cost_bytes(g, n);
}

// 1 - keep is rounded instead of keep: a float near 0 is more accurate.
static void launch(const Graph *g, const Node *n, Launch *l)
{
    int64_t count = elements(g->values[n->operands[AVERAGE]].shape);
    launch_elements(l, "average_weights", count);
    Launch *arrays = launch_item(l, "AveragedArrays");
    launch_value(arrays, n->operands[AVERAGE]);
    launch_value(arrays, n->operands[WEIGHT]);
    launch_int(arrays, count, NULL);
    launch_header(l);
    launch_real(l, 1 - n->attr[KEEP].f, "1 - average");
    launch_last(l);
}

static void reference(const Ref *r)
{
    double keep = r->n->attr[KEEP].f;
    double *average = r->in[AVERAGE];
    if (r->header[HEADER_SKIP] != 0) return;
    for (int64_t i = 0; i < elements(ref_in(r, AVERAGE)); i++)
        average[i] = keep * average[i] + (1 - keep) * r->in[WEIGHT][i];
}

static const Kernel kernels[] = {
    { .name = "", .results = "", .cost = cost, .launch = launch,
      .reference = reference },
    { .results = NULL },
};

const Op op_average = { ROW(average), .attrs = attrs, .kernels = kernels };
