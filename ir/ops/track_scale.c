// track_scale: the scale of maps for the next training step, from the largest
// magnitudes of this one.  Operand `largest` has the magnitudes that the blocks
// found which read the maps, divided by the largest integer.
//
// The average is the first step's scale, then keep * average + (1 - keep) *
// that of a step, as of PyTorch's MovingAverageMinMaxObserver.  The scale that
// is used is 0 before the step `delay`.  A skipped step changes nothing.
#include <math.h>
#include "../op/op_row.h"
#include "../families/quantize.h"
#include "../op/op_checks.h"

enum { BLOCK = 256 };
enum { SCALE, LARGEST };        // operands

static const AttrSpec attrs[] = {
    { "keep", ATTR_FLOAT, 0, 1 },
    { "delay", ATTR_INT, 0, MOST_QUANTIZE_STEP }, { .name = NULL },
};

static void cost(const Graph *g, const Node *n, Cost *cost)
{
    cost->flops = elements(g->values[n->operands[LARGEST]].shape);
    cost->bytes = cost_bytes(g, n);
}

// Each scale has a block.
static void launch(const Graph *g, const Node *n, Launch *l)
{
    launch_kernel(l, "track_scales", 1, BLOCK);
    Launch *arrays = launch_item(l, "TrackedScale");
    launch_value(arrays, n->operands[SCALE]);
    launch_value(arrays, n->operands[LARGEST]);
    launch_int(arrays, elements(g->values[n->operands[LARGEST]].shape), NULL);
    launch_header(l);
    launch_real(l, 1 - n->attr[TRACK_KEEP].f, "1 - average");
    launch_int(l, n->attr[TRACK_DELAY].i, "delay");
    launch_last(l);
}

static void reference(const Ref *r)
{
    double *scale = r->in[SCALE], largest = 0, keep = r->n->attr[TRACK_KEEP].f;
    if (r->header[HEADER_SKIP] != 0) return;
    for (int64_t i = 0; i < elements(ref_in(r, LARGEST)); i++)
        largest = fmax(largest, r->in[LARGEST][i]);
    scale[SCALE_AVERAGE] = scale[SCALE_AVERAGE] == 0
                               ? largest
                               : keep * scale[SCALE_AVERAGE] +
                                     (1 - keep) * largest;
    bool rounds =
        r->header[HEADER_STEP] + 1 >= (double)r->n->attr[TRACK_DELAY].i;
    scale[SCALE_USED] = rounds ? scale[SCALE_AVERAGE] : 0;
}

static const Kernel kernels[] = {
    { .name = "", .results = "", .cost = cost, .launch = launch,
      .reference = reference },
    { .results = NULL },
};

const Op op_track_scale = {
    ROW(track_scale), .attrs = attrs, .kernels = kernels,
};
