// Pools: arguments, attributes and constants of those with a window, and the
// distribution over blocks of those of a whole map.
#ifndef CNNC_POOL_H
#define CNNC_POOL_H

#include "../op/op.h"
#include "window.h"

// ---- windows ----------------------------------------------------------------

// The first arguments of a pool.
enum PoolArgs {
    POOL_KERNEL, POOL_STRIDE, POOL_PADDING, POOL_CEIL, POOL_DILATION,
    POOL_ARG_COUNT
};
enum { POOL_LARGEST = 1 << 12, POOL_WIDEST = 1 << 24 };
#define POOL_ARGS(beyond)                                                      \
    { "kernel", ARG_DIMS, NULL, 1, POOL_LARGEST, "size of the window" },       \
    { "stride", ARG_DIMS, "kernel", 1, POOL_LARGEST,                           \
      "from window to window" },                                               \
    { "padding", ARG_PADDING, "valid", 0, POOL_WIDEST,                         \
      "elements around the map; " beyond },                                    \
    { "ceil", ARG_BOOL, "false", 0, 1,                                         \
      "true: a last window may end outside of the map and its padding" },      \
    { "dilation", ARG_DIMS, "1", 1, POOL_LARGEST,                              \
      "from element to element of a window" }

// The first attributes of a pool.
enum PoolAttrs {
    KERNEL_H, KERNEL_W, STRIDE_H, STRIDE_W,
    PAD_TOP, PAD_BOTTOM, PAD_LEFT, PAD_RIGHT, CEIL_MODE,
    DILATION_H, DILATION_W,
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
    { "ceil", ATTR_INT, 0, 1 },                                                \
    { "dilation_h", ATTR_INT, 1, POOL_LARGEST },                               \
    { "dilation_w", ATTR_INT, 1, POOL_LARGEST }

// The build rule: sets the attributes above from the call's arguments and makes
// the node.  It refuses windows without an element of the map.
ValueId build_pool(Build *b, Attr *attr);
Window pool_window(const Attr *attr);
// The rule Op.shape of pools.
Shape pool_shape(const Graph *g, const Node *n);
// Returns the index in a map of shape x of tap j (row-major) of the window of
// element i of y; -1 in the padding.
int64_t pool_element(const Attr *attr, Shape x, Shape y, int64_t i, int64_t j);
// Counts an operation for each element of each window, in both directions.
void cost_pool(const Graph *g, const Node *n, Cost *cost);
void cost_pool_grad(const Graph *g, const Node *n, Cost *cost);
// Adds the constants N, H, W, C of x, P, Q of y, and the window.
void launch_windows(Launch *l, const Attr *attr, Shape x, Shape y);
// Returns the node whose result, operand 0 of n, is computed in the launch of
// the forward pool n; NULL if it is stored, and for other nodes.
const Node *pooled_maker(const Graph *g, const Node *n);
// Sets the launch of a forward pool fused with the node of its operand
// (Op.pooling).  Returns the launch with the constants of the pool, or NULL,
// without changes, if the operand is stored.
Launch *launch_pooled(const Graph *g, const Node *n, const char *functor,
                      Launch *l);

// ---- the index of the maximum -----------------------------------------------

// The index of a max pool holds a tap of its window for each element of y, in
// 2, 4, 8 or 32 bits.  The channels of a pixel are packed into bytes or ints,
// the first in the lowest bits.  A pixel begins at a new word.
int     index_bits(const Attr *attr);
DType   index_dtype(const Attr *attr);
Shape   index_shape(const Attr *attr, Shape y);
// Access element i of y in the reference's arrays, which hold a word in each
// element; index_set requires that it is 0.
int64_t index_get(const Attr *attr, Shape y, const double *index, int64_t i);
void    index_set(const Attr *attr, Shape y, double *index, int64_t i,
                  int64_t tap);

// ---- whole maps -------------------------------------------------------------

// Return [n, 1, 1, c] for a map [n, h, w, c]; are Op.shape and Op.fold: the
// pool of one pixel is the identity.
Shape pooled(Shape map);
Shape pooled_shape(const Graph *g, const Node *n);
ValueId simplify_pooled(Graph *g, NodeId id);
// Counts an operation for each element of operand 0.
void cost_read(const Graph *g, const Node *n, Cost *cost);
// Launches a kernel with a block for each image and WIDTH channels, of which
// LANES threads share the pixels.
void launch_pixels(Launch *l, const char *kernel, Shape x);
// Launches the gradient: PACK elements of dx for each thread.
void launch_spread(Launch *l, const Node *n, const char *kernel, Shape dx);

#endif
