// Padding of maps, for pad and crop, each of which is the other's gradient.
// Adding a margin is a copy that reads above and to the left of its
// destination; removing one is the reverse.
#include "box_copy.h"
#include "padding.h"

bool build_margin(Build *b, const ArgValue *padding, Attr *attr)
{
    if (!build_wants(b, 0, 4, "a map [height, width, channels]")) return false;
    if (padding->count != 4) {
        error(b->g->diag, padding->pos, "%s needs numbers, 1, 1x2 or 0x1x2x3, "
              "and '%s' is none", b->op->name, padding->word);
        return false;
    }
    for (int i = TOP; i <= RIGHT; i++) attr[i].i = padding->dim[i];
    return true;
}

Shape with_margin(Shape map, const Attr *attr, int sign)
{
    map.dim[1] += sign * (attr[TOP].i + attr[BOTTOM].i);
    map.dim[2] += sign * (attr[LEFT].i + attr[RIGHT].i);
    return map;
}

ValueId simplify_margin(Graph *g, NodeId id)
{
    const Node *n = &g->nodes[id];
    bool same = same_shape(g->values[n->operands[0]].shape,
                           g->values[n->results[0]].shape);
    return same ? n->operands[0] : NONE;
}

static Box box_of(const Graph *g, const Node *n, int sign)
{
    return box_of_map(g->values[n->operands[0]].shape,
                      g->values[n->results[0]].shape, -sign * n->attr[TOP].i,
                      -sign * n->attr[LEFT].i);
}

void launch_margin(const Graph *g, const Node *n, Launch *l, int sign,
                   double outside)
{
    launch_box(l, n, box_of(g, n, sign), outside);
}

void ref_margin(const Ref *r, int sign, double outside)
{
    ref_box(r, box_of(r->g, r->n, sign), outside);
}
