// Convolutions: what conv and conv_transpose have in common.  A node of conv
// is one of three: y from x, the gradient of x from that of y, that of the
// weights.
#ifndef CNNC_CONV_GEMM_H
#define CNNC_CONV_GEMM_H

#include "../op/op.h"
#include "../gpu/gemm_tile.h"
#include "window.h"

// Attributes of every convolution's nodes.
enum {
    CONV_STRIDE_H, CONV_STRIDE_W, CONV_DILATION_H, CONV_DILATION_W,
    CONV_PAD_TOP, CONV_PAD_BOTTOM, CONV_PAD_LEFT, CONV_PAD_RIGHT,
    CONV_GROUPS,
    CONV_SPLITS,                // of the sum over pixels, in a wgrad
};
extern const AttrSpec convolution_attr_specs[];
void convolution_attrs(const Window *w, int64_t groups, Attr *attr);
// The window of these attributes; partial sums of a weight's gradient have a
// rank more than the weight.
Window convolution_window(const Attr *attr, Shape weight);

// The kernels of conv, by number; the last is a CONV_WGRAD that accumulates.
enum { CONV_FORWARD, CONV_DGRAD, CONV_WGRAD, CONV_MOMENTUM };

// What all three know: x [N,H,W,C], y [N,P,Q,K], K filters of filter =
// R*S*group_c weights.
typedef struct Convolution {
    Shape   x, y;
    Window  window;
    int64_t N, H, W, C, K, R, S, P, Q;
    int64_t groups, group_c, group_k, filter, pixels;
    ProductType type;
} Convolution;

// Of a node of any kernel of conv.
Convolution convolution_of(const Graph *g, const Node *n);

// Whether each filter sees one channel of many: its kernels are no products.
bool convolution_is_depthwise(const Convolution *d);
// The constants of a convolution, the same for all its launches.
void convolution_constants(const Node *n, Launch *l, Convolution d);

// The forward product, PRODUCT_FORWARD or PRODUCT_POOLED.
ProductSize convolution_size(const Convolution *d, ProductRole role);

// conv_pool.c: with the pool behind it in one launch.
extern const Pooling convolution_pooling;

// Whether a kernel of conv or dense adds a bias, or makes the gradient of one.
bool is_biased(const Node *n);

// Parts of conv.
void convolution_cost(const Graph *g, const Node *n, Cost *cost);
void convolution_forward(const Graph *g, const Node *n, Launch *l);
void convolution_dgrad(const Graph *g, const Node *n, Launch *l);
void convolution_wgrad(const Graph *g, const Node *n, Launch *l);
// A dense layer is the convolution of a map of one pixel.
typedef struct DenseProduct {
    const Op   *conv;           // the operator of that convolution
    ProductType type;
    int64_t     batch, inputs, units;
} DenseProduct;
// The launch of a dense layer, without its arguments, their types and the bias.
void convolution_dense_forward(Launch *l, const DenseProduct *p);
// Its weight gradient, likewise.
void convolution_dense_wgrad(Launch *l, const DenseProduct *p);
// And its data gradient.
void convolution_dense_dgrad(Launch *l, const DenseProduct *p);

// Makes the nodes of the weight gradient of the forward node from dy and x and,
// if asked, of its bias gradient (gradient_bias).  The nodes are of operator
// conv; where the sum is split, nodes of operator sum_splits add the parts.
void convolution_weight_gradient(Gradient *c, const Op *conv,
                                 const Op *sum_splits, ValueId dy, ValueId x,
                                 bool with_bias);

// A node of operator `bias` over a layer whose channels are those of sum.  The
// layer's name goes to the biased value: the program means that by it.
ValueId convolution_bias(Build *b, const Op *bias, ValueId sum);
// That groups divide channels; an error at pos if not.
bool convolution_divides(Build *b, Pos pos, int64_t groups, int64_t channels,
                         const char *whose);

#endif
