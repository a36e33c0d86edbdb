// What the files of several operators say in common.
#ifndef CNNC_OP_CHECKS_H
#define CNNC_OP_CHECKS_H

#include "op.h"

// The shape of a call's operand k as the language writes it: without the batch,
// and of a label class[..].
const char *operand_text(Build *b, int k);
// True if operand k has real elements, of any shape; an error if not.
bool build_wants_real(Build *b, int k);
// True if the operands are scores [classes] and a label of as many classes; an
// error if not.
bool build_wants_scores(Build *b);
// The shape of a number a sample, of what a loss or a metric makes: [batch].
Shape shape_of_rows(const Graph *g, const Node *n);

// The words of an argument `init`, as Keras has them, and what one of them, or
// a number, comes to for a weight that sums fan_in products into each of what
// fan_out results read.  He et al. 2015 (arXiv 1502.01852), Glorot and Bengio
// 2010, LeCun et al. 1998, Saxe et al. 2014 (arXiv 1312.6120).
#define INIT_ARG                                                               \
    { "init", ARG_INIT, "he_uniform|he_normal|glorot_uniform|glorot_normal|"   \
      "lecun_uniform|lecun_normal|orthogonal", -1e30, 1e30,                    \
      "how weights begin: a word, or a number for all of them" }
Init init_of(const ArgValue *arg, double fan_in, double fan_out);

// The weight (ones) and the bias (zeros) of a normalisation, a number a
// channel, in operands[0] and [1], as far as its arguments scale and bias,
// arg[0] and [1], want them.
void build_affine(Build *b, const ArgValue *arg, Shape channels,
                  ValueId *operands);

// For shape rules, which may meet any graph that was read: whether operand k of
// n has this rank; whether it is missing or a vector of so many elements.
bool has_rank(const Graph *g, const Node *n, int k, int rank);
bool is_vector_of(const Graph *g, const Node *n, int k, int64_t count);

// The samples of a batch as the update knows them: of several, their mean.
double batch_samples(const Ref *r);

// Adds to sums [figures, 2] in the header what a batch or a training step has
// of them, each unless it is not finite.
void ref_add_figures(double *sums, const double *more, int figures);

// The update of a training step begins: it is skipped where the header's
// batches have no samples or one is bad; if not, what their losses and metrics
// add up to is added to the header's sums.
void ref_begin_update(const Ref *r);

// Op.needs_whole_batch of what takes statistics of the batch, and of what
// divides by a count over all of it.
const char *needs_moments(const Graph *g, const Node *n);
const char *needs_total(const Graph *g, const Node *n);

// The largest of a row, and the sum of exp(x - largest) over it: what softmax
// and its logarithm are made of, so that nothing overflows.
double largest_of(const double *row, int64_t count);
double exp_sum_of(const double *row, int64_t count, double largest);

// Attributes that are the operator's arguments, in the same order and of the
// same types: as the call gave them.
void take_attrs(const Build *b, Attr *attr);

// The weight decay of a parameter: decay, or 0 where it is not to decay.
double decay_of(const Graph *g, ValueId weight, double decay);

// The first results of a node, and after them its first operands, as arguments.
void launch_slots(Launch *l, const Node *n, int results, int operands);

// Result k all zeros.
void ref_clear(const Ref *r, int k);

// How many of count elements, side by side, a thread of n moves at once: 16
// bytes of its maps of the fewest bits, and a divisor of count.
int64_t vec_width(const Graph *g, const Node *n, int64_t count);
// The same if nothing were computed on load: what an order of sums may go by.
int64_t stored_vec(const Graph *g, const Node *n, int64_t count);

// A launch over count elements with a thread for each; more than a grid can
// have threads are left to the kernel's loop.
void launch_elements(Launch *l, const char *kernel, int64_t count);

#endif
