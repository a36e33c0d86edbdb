// Margins that are added around a map or removed from it.
#ifndef CNNC_PADDING_H
#define CNNC_PADDING_H

#include "../op/op.h"

enum { WIDEST_MARGIN = 1 << 24 };

// The first attributes of an operator with margins.
enum MarginAttrs { TOP, BOTTOM, LEFT, RIGHT };
#define MARGIN_ATTRS                                                           \
    { "top", ATTR_INT, 0, WIDEST_MARGIN },                                     \
    { "bottom", ATTR_INT, 0, WIDEST_MARGIN },                                  \
    { "left", ATTR_INT, 0, WIDEST_MARGIN },                                    \
    { "right", ATTR_INT, 0, WIDEST_MARGIN }

// Sets them from an argument of a call whose operand 0 must be a map.  False
// after an error: the words same and valid are not allowed.
bool build_margin(Build *b, const ArgValue *padding, Attr *attr);

// Returns the shape of the map with sign times the margin added on each side.
Shape with_margin(Shape map, const Attr *attr, int sign);
// Op.fold: removes an empty margin.
ValueId simplify_margin(Graph *g, NodeId id);

// Launch and reference of a node that adds sign times the margin, filled with
// `outside`.
void launch_margin(const Graph *g, const Node *n, Launch *l, int sign,
                   double outside);
void ref_margin(const Ref *r, int sign, double outside);

#endif
