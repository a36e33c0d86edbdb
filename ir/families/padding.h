// Margins of a map: what is put around it or taken away from it.
#ifndef CNNC_PADDING_H
#define CNNC_PADDING_H

#include "../op/op.h"

enum { WIDEST_MARGIN = 1 << 24 };

// An operator's attributes begin with these.
enum MarginAttrs { TOP, BOTTOM, LEFT, RIGHT };
#define MARGIN_ATTRS                                                           \
    { "top", ATTR_INT, 0, WIDEST_MARGIN },                                     \
    { "bottom", ATTR_INT, 0, WIDEST_MARGIN },                                  \
    { "left", ATTR_INT, 0, WIDEST_MARGIN },                                    \
    { "right", ATTR_INT, 0, WIDEST_MARGIN }

// Sets them from an argument, of a call whose operand 0 must be a map; false
// after an error: the words same and valid are no margins.
bool build_margin(Build *b, const ArgValue *padding, Attr *attr);

// The map with sign times the margin added on each side.
Shape with_margin(Shape map, const Attr *attr, int sign);
// Op.simplify: a margin of nothing changes nothing.
ValueId simplify_margin(Graph *g, NodeId id);

// The launch and reference of a node that adds sign times the margin, filled
// with `outside`.
void launch_margin(const Graph *g, const Node *n, Launch *l, int sign,
                   double outside);
void ref_margin(const Ref *r, int sign, double outside);

#endif
