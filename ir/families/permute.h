// Operators that put the elements of their operand in another order: every
// element of the operand is one of the result.
//
// Such an order is a list of axes of the result, outermost first, each with a
// stride in the operand:
//
//   pixel_shuffle(2) of [n, h, w, 4c]: axes n*h, 2, w, 2, c of the result,
//   with strides w*4c, 2, 4c, 1, 4
#ifndef CNNC_PERMUTE_H
#define CNNC_PERMUTE_H

#include "../op/op.h"

enum { MOST_AXES = 6 };

typedef struct Order {
    int     count;
    int64_t extent[MOST_AXES], stride[MOST_AXES];
} Order;

// The last axis of an order: appended to those before it.
void append_axis(Order *order, int64_t extent, int64_t stride);

// An operator defines its order of an operand x of this shape.
typedef Order OrderOf(Shape x, const Attr *attr);

// Kernel 0 moves x to y, and kernel 1 dy to dx, in the inverse order.  Each of
// these functions calls order_of with the shape of x.
void gradient_permute(Gradient *c);
void launch_permute(const Graph *g, const Node *n, Launch *l,
                    OrderOf *order_of);
void ref_permute(const Ref *r, OrderOf *order_of);

// The kernels of an operator with functions launch and reference.
#define PERMUTE_KERNELS                                                        \
    { .name = "", .results = "y^%", .cost = cost_elementwise,                  \
      .launch = launch, .reference = reference },                              \
    { .name = "grad", .operands = "dy^", .results = "dx^",                     \
      .cost = cost_elementwise, .launch = launch, .reference = reference },    \
    { .results = NULL }

// ---- blocks of pixels that become channels, and back ------------------------

// Arguments and attributes of these operators: the side of a block.
enum { FACTOR };
extern const ArgSpec block_args[];
extern const AttrSpec block_attrs[];

// [h, w, c*f*f] to [h*f, w*f, c], and back.  The channels of a pixel are c
// blocks, or f*f runs of c.
ValueId build_enlarged(Build *b);
ValueId build_reduced(Build *b);
Shape shape_enlarged(const Graph *g, const Node *n);
Shape shape_reduced(const Graph *g, const Node *n);
Order enlarging_order(Shape x, int64_t factor, bool runs);
Order reducing_order(Shape x, int64_t factor, bool runs);

#endif
