// row_scales: a scale for each row of a parameter, by which fake_quantize
// rounds the row in this step.  The largest magnitude of the row becomes the
// integer 127.  The scale is 0, so that nothing is rounded, for a row of zeros
// and before the training step `delay`.
#include <math.h>
#include "../op/op_row.h"
#include "../families/quantize.h"
#include "../op/op_checks.h"

enum { BLOCK = 128, LARGEST_INTEGER = 127 };
enum { DELAY };
enum { WEIGHT };

static const AttrSpec attrs[] = {
    { "delay", ATTR_INT, 0, MOST_QUANTIZE_STEP }, { .name = NULL },
};

static Shape shape(const Graph *g, const Node *n)
{
    return shape_of(1, g->values[n->operands[WEIGHT]].shape.dim[0]);
}

// A row has a block.
static void launch(const Graph *g, const Node *n, Launch *l)
{
    Shape weight = g->values[n->operands[WEIGHT]].shape;
    launch_kernel(l, "row_scales", weight.dim[0], BLOCK);
    launch_value(l, n->results[0]);
    launch_value(l, n->operands[WEIGHT]);
    launch_int(l, elements(weight) / weight.dim[0], "width");
    launch_header(l);
    launch_int(l, n->attr[DELAY].i, "delay");
}

static void reference(const Ref *r)
{
    int64_t rows = elements(ref_out(r, 0));
    int64_t width = elements(ref_in(r, WEIGHT)) / rows;
    bool rounds = r->header[HEADER_STEP] >= (double)r->n->attr[DELAY].i;
    for (int64_t k = 0; k < rows; k++) {
        double largest = 0;
        for (int64_t i = 0; i < width; i++)
            largest = fmax(largest, fabs(r->in[WEIGHT][k * width + i]));
        r->out[0][k] = rounds ? largest / LARGEST_INTEGER : 0;
    }
}

static const Kernel kernels[] = {
    { .name = "", .results = "scales", .cost = cost_elementwise,
      .launch = launch, .reference = reference },
    { .results = NULL },
};

const Op op_row_scales = {
    ROW(row_scales), .attrs = attrs, .shape = shape, .kernels = kernels,
};
