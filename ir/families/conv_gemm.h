// Convolutions as GEMMs, shared by conv, conv_transpose and dense.  A node of
// conv is one of three products: y, the gradient of x, or the gradient of the
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
    CONV_EPSILON,               // of moments that it makes or applies, or 0
};
extern const AttrSpec convolution_attr_specs[];
void convolution_attrs(const Window *w, int64_t groups, Attr *attr);
// Returns the window of these attributes.  Partial sums of a weight gradient
// have one more dimension than the weight.
Window convolution_window(const Attr *attr, Shape weight);

// The parts of conv.  CONV_MOMENTUM is a CONV_WGRAD that accumulates to
// momentum, CONV_ADD a CONV_DGRAD that adds another gradient.  CONV_MOMENTS is
// a CONV_FORWARD and CONV_PRODUCTS a CONV_DGRAD that make sums of the result;
// CONV_NORMALIZED is a CONV_FORWARD that applies a batch norm to it.
enum {
    CONV_FORWARD, CONV_DGRAD, CONV_WGRAD, CONV_MOMENTUM, CONV_ADD,
    CONV_MOMENTS, CONV_PRODUCTS, CONV_NORMALIZED
};

// The dimensions of all three: x [N,H,W,C], y [N,P,Q,K], and K filters of
// R*S*group_c weights each.
typedef struct Convolution {
    Shape   x, y;
    Window  window;
    int64_t N, H, W, C, K, R, S, P, Q;
    int64_t groups, group_c, group_k, filter, pixels;
    ProductType type;
} Convolution;

// Returns the dimensions of a node of any part of conv.
Convolution convolution_of(const Graph *g, const Node *n);

// True if each filter reads one of several channels; its kernels are no GEMMs.
bool convolution_is_depthwise(const Convolution *d);
// Sets the constants of a convolution, which are equal for all its launches.
void convolution_constants(const Node *n, Launch *l, Convolution d);

// Returns the size of the forward product, PRODUCT_FORWARD or PRODUCT_POOLED.
ProductSize convolution_size(const Convolution *d, ProductRole role);

// conv_pool.c: fusion with the pool after the convolution.
extern const Pooling convolution_pooling;

// True if a part of conv or dense adds a bias, or computes a bias gradient.
bool is_biased(const Node *n);

// Operands of CONV_DGRAD and, with the last, CONV_ADD.
enum { DGRAD_DY, DGRAD_WEIGHT, DGRAD_MASK, DGRAD_OTHER };

// Operands of CONV_MOMENTS after a bias, and of CONV_PRODUCTS after a mask.
enum {
    MOMENTS_WEIGHT = 3, MOMENTS_HEADER,
    PRODUCTS_X = 3, PRODUCTS_MEAN, PRODUCTS_VARIANCE, PRODUCTS_HEADER
};

// The first of NORM_OPERANDS of CONV_NORMALIZED.
enum { CONV_NORM = 3 };

// Rules of the parts of conv.
void convolution_cost(const Graph *g, const Node *n, Cost *cost);
void convolution_forward(const Graph *g, const Node *n, Launch *l);
// Adds the operands of conv_forward, with the type of the map.  Returns the
// weight's type, which comes later.
TypeArg convolution_forward_operands(Launch *l, const Node *n);
// Adds the values of conv_forward, and their types.
void convolution_forward_slots(Launch *l, const Node *n);
// Likewise of conv_forward with products of integers, and the arguments before.
void convolution_integer_slots(Launch *l, const Node *n);
// Adds the operands of these products, and the type of their result, y.
void convolution_integer_operands(Launch *l, const Node *n, TypeArg y);
// Adds y, the result of products of integers or of a pool that computes it, as
// the struct that stores them.  Its type is returned, to be added in its place.
TypeArg launch_integers(Launch *l, const Node *n, ValueId y);
// Adds y, the result of CONV_NORMALIZED or of a pool that computes it, as the
// struct that normalizes what it stores.  Its type is returned, to be added in
// its place.
TypeArg launch_normalized(Launch *l, const Node *n, ValueId y);
// Kernel.rounds of all but weight gradients.
bool convolution_rounds(const Graph *g, const Node *n, int k);
void convolution_dgrad(const Graph *g, const Node *n, Launch *l);
// The same as a transposed convolution: n is its node as a data gradient.  It
// adds the bias, [channels of the result] or NONE, and applies n->act.
void convolution_transposed(const Graph *g, const Node *n, Launch *l,
                            ValueId bias);
void convolution_wgrad(const Graph *g, const Node *n, Launch *l);
Shape convolution_partials(const Graph *g, const Node *n);
void convolution_takes(Node *n, const Node *norm);
// A dense layer as the convolution of a map of one pixel.
typedef struct DenseProduct {
    const Op   *conv;           // the operator of that convolution
    ProductType type;
    int64_t     batch, inputs, units;
} DenseProduct;
// Returns the picoseconds of the tiles of its part `kernel`, of conv's parts,
// with these operands.
int64_t convolution_dense_time(const Graph *g, const DenseProduct *p,
                               int kernel, ValueId rows, ValueId columns);
// Launches a dense layer; arguments, their types and the bias are left out.
void convolution_dense_forward(Launch *l, const DenseProduct *p);
// Launches its weight gradient, likewise.
void convolution_dense_wgrad(Launch *l, const DenseProduct *p);
// Launches its data gradient, likewise.
void convolution_dense_dgrad(Launch *l, const DenseProduct *p);

// Makes the nodes of the weight gradient of the forward node from dy and x and,
// if asked, of its bias gradient (gradient_bias).  They are of operator conv;
// if the sum is split, nodes of operator sum_splits add the partial sums.
void convolution_weight_gradient(Gradient *c, const Op *conv,
                                 const Op *sum_splits, ValueId dy, ValueId x,
                                 bool with_bias);

// Makes a node of operator `bias` on the result of a layer whose channels are
// those of sum.  The biased value takes the layer's name.
ValueId convolution_bias(Build *b, const Op *bias, ValueId sum);
// True if groups divide channels; reports an error at pos otherwise.
bool convolution_divides(Build *b, Pos pos, int64_t groups, int64_t channels,
                         const char *whose);

#endif
