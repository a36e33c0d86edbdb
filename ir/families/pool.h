// What pools have in common: the arguments, attributes and constants of those
// with a window, and how the pools of a whole map spread over blocks.
#ifndef CNNC_POOL_H
#define CNNC_POOL_H

#include "../op/op.h"
#include "window.h"

// ---- of a window ------------------------------------------------------------

// A pool's arguments begin with these four.
enum PoolArgs { POOL_KERNEL, POOL_STRIDE, POOL_PADDING, POOL_CEIL };
enum { POOL_LARGEST = 1 << 12, POOL_WIDEST = 1 << 24 };
#define POOL_ARGS(beyond)                                                      \
    { "kernel", ARG_DIMS, NULL, 1, POOL_LARGEST, "size of the window" },       \
    { "stride", ARG_DIMS, "kernel", 1, POOL_LARGEST,                           \
      "from window to window" },                                               \
    { "padding", ARG_PADDING, "valid", 0, POOL_WIDEST,                         \
      "how far windows reach past the map; " beyond },                         \
    { "ceil", ARG_BOOL, "false", 0, 1,                                         \
      "whether a last window may end outside of the map and its padding" }

// Its attributes begin with these.
enum PoolAttrs {
    KERNEL_H, KERNEL_W, STRIDE_H, STRIDE_W,
    PAD_TOP, PAD_BOTTOM, PAD_LEFT, PAD_RIGHT, CEIL_MODE,
    POOL_ATTR_COUNT
};
#define POOL_ATTRS                                                             \
    { "kernel_h", ATTR_INT, 1, POOL_LARGEST },                                 \
    { "kernel_w", ATTR_INT, 1, POOL_LARGEST },                                 \
    { "stride_h", ATTR_INT, 1, POOL_LARGEST },                                 \
    { "stride_w", ATTR_INT, 1, POOL_LARGEST },                                 \
    { "pad_top", ATTR_INT, 0, POOL_LARGEST },                                  \
    { "pad_bottom", ATTR_INT, 0, POOL_LARGEST },                               \
    { "pad_left", ATTR_INT, 0, POOL_LARGEST },                                 \
    { "pad_right", ATTR_INT, 0, POOL_LARGEST },                                \
    { "ceil", ATTR_INT, 0, 1 }

// The build rule: sets the attributes above from the call's arguments and makes
// the node.  Every window that passes holds an element of the map.
ValueId build_pool(Build *b, Attr *attr);
Window pool_window(const Attr *attr);
// Op.shape of these.
Shape pool_shape(const Graph *g, const Node *n);
// Where in a map of shape x tap j (row-major) of the window of element i of y
// lies, or -1: in the padding.
int64_t pool_element(const Attr *attr, Shape x, Shape y, int64_t i, int64_t j);
// An operation for each element of each window, in both directions.
void cost_pool(const Graph *g, const Node *n, Cost *cost);
void cost_pool_grad(const Graph *g, const Node *n, Cost *cost);
// N, H, W, C of x, P, Q of y and the window.
void launch_windows(Launch *l, const Attr *attr, Shape x, Shape y);
// The node that makes operand 0 of n in the launch of n, a forward pool; NULL
// where that is stored, and of any other node.
const Node *pooled_maker(const Graph *g, const Node *n);
// The launch of a forward pool whose operand is made in it (Op.pooling); false,
// and nothing is said, where that is stored.
bool launch_pooled(const Graph *g, const Node *n, const char *functor,
                   Launch *l);

// ---- which element was the largest ------------------------------------------

// The index of a max pool holds a tap of its window for each element of y, in
// 2, 4, 8 or 32 bits; those of a pixel's channels side by side in bytes, or
// ints, the first in the lowest bits.  A pixel begins with a word of its own.
int     index_bits(const Attr *attr);
DType   index_dtype(const Attr *attr);
Shape   index_shape(const Attr *attr, Shape y);
// In the reference's arrays, which hold a word an element: that of element i of
// y; sets it where it is still 0.
int64_t index_get(const Attr *attr, Shape y, const double *index, int64_t i);
void    index_set(const Attr *attr, Shape y, double *index, int64_t i,
                  int64_t tap);

// ---- of a whole map ---------------------------------------------------------

// [n, 1, 1, c] of a map [n, h, w, c]; as Op.shape; as Op.simplify, for a map of
// one pixel is its own pool.
Shape pooled(Shape map);
Shape pooled_shape(const Graph *g, const Node *n);
ValueId simplify_pooled(Graph *g, NodeId id);
// An operation an element of operand 0.
void cost_read(const Graph *g, const Node *n, Cost *cost);
// A launch with a block for each image and WIDTH channels, of which LANES
// threads share the pixels.
void launch_pixels(Launch *l, const char *kernel, Shape x);
// The way back: PACK elements of dx a thread.
void launch_spread(Launch *l, const Node *n, const char *kernel, Shape dx);

#endif
