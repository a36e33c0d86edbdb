// decode_boxes: decodes a detector's numbers to boxes, for inference.  Loss
// multibox uses the numbers directly.  It has no gradient.
#include <math.h>
#include "../families/anchors.h"
#include "../op/op_row.h"
#include "../op/op_checks.h"

static const ArgSpec args[] = { ANCHOR_ARGS, { .name = NULL } };
static const AttrSpec attrs[] = { ANCHOR_ATTRS, { .name = NULL } };

static ValueId build(Build *b)
{
    Attr attr[MAX_ATTRS] = { { 0 } };
    if (!build_wants(b, 0, 3, "[anchors, 4]") || !anchor_attrs(b, attr))
        return NONE;
    Shape x = b->g->values[b->operand[0]].shape;
    if (x.dim[1] != anchor_count(attr) || x.dim[2] != 4) {
        error(b->g->diag, b->operand_pos[0], "decode_boxes needs [%lld, 4] for "
              "these maps, but this is %s", (long long)anchor_count(attr),
              operand_text(b, 0));
        return NONE;
    }
    return build_node(b, 1, b->operand, attr, x);
}

// Two products and a sum for each coordinate of the center, an exp for each
// side.
static void cost(const Graph *g, const Node *n, Cost *cost)
{
    cost->flops = 4 * elements(g->values[n->results[0]].shape);
    cost->bytes = cost_bytes(g, n);
}

static void launch(const Graph *g, const Node *n, Launch *l)
{
    Shape x = g->values[n->operands[0]].shape;
    launch_elements(l, "decode_boxes_forward", x.dim[0] * x.dim[1]);
    launch_constant(l, "N", x.dim[0]);
    launch_constant(l, "ANCHORS", x.dim[1]);
    launch_slots(l, n, 1, 1);
    launch_anchors(l, n->attr);
}

static void reference(const Ref *r)
{
    Shape x = ref_in(r, 0);
    for (int64_t i = 0; i < x.dim[0] * x.dim[1]; i++) {
        BoundingBox a = anchor_at(r->n->attr, i % x.dim[1]);
        const double *code = r->in[0] + 4 * i;
        double *y = r->out[0] + 4 * i;
        double width = a.width * exp(code[2] / 5);
        double height = a.height * exp(code[3] / 5);
        const double middle[] = { a.x + code[0] / 10 * a.width,
                            a.y + code[1] / 10 * a.height };
        y[0] = middle[0] - width / 2, y[2] = middle[0] + width / 2;
        y[1] = middle[1] - height / 2, y[3] = middle[1] + height / 2;
    }
}

static const Kernel kernels[] = {
    { .name = "", .results = "y^", .in_place = "y/x", .cost = cost,
      .launch = launch, .reference = reference },
    { .results = NULL },
};

const Op op_decode_boxes = {
    ROW(decode_boxes), .args = args, .attrs = attrs, .build = build,
    .fits = "3 4; [1] | 12 4; [2] | 18 4; [2, 1]", .kernels = kernels,
};
