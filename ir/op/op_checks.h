// Functions that several operators share.
#ifndef CNNC_OP_CHECKS_H
#define CNNC_OP_CHECKS_H

#include "op.h"

// Returns the shape of a call's operand k as in the language: without the
// batch, for a label as class[..].
const char *operand_text(Build *b, int k);
// True if operand k has real elements, of any shape; reports an error
// otherwise.
bool build_wants_real(Build *b, int k);
// True if the operands are scores [classes] and a label with as many classes;
// reports an error otherwise.
bool build_wants_scores(Build *b);
// Returns [batch], the shape of the results of losses and metrics.
Shape shape_of_rows(const Graph *g, const Node *n);

// The argument `init`, with the words of Keras.  Function init_of returns the
// initialization of a weight with fan_in inputs and fan_out outputs for a word
// or number.  He et al. 2015 (arXiv 1502.01852), Glorot and Bengio 2010, LeCun
// et al. 1998, Saxe et al. 2014 (arXiv 1312.6120).
#define INIT_ARG                                                               \
    { "init", ARG_INIT, "he_uniform|he_normal|glorot_uniform|glorot_normal|"   \
      "lecun_uniform|lecun_normal|orthogonal", -1e30, 1e30,                    \
      "how weights begin: a word, or a number for all of them" }
Init init_of(const ArgValue *arg, double fan_in, double fan_out);

// Makes the weight (ones) and the bias (zeros) of a normalisation, one number
// per channel, in operands[0] and [1], unless its arguments scale (arg[0]) and
// bias (arg[1]) are false.
void build_affine(Build *b, const ArgValue *arg, Shape channels,
                  ValueId *operands);

// For shape rules, whose graph may be invalid: true if operand k of n has this
// rank; true if it is missing or a vector of count elements.
bool has_rank(const Graph *g, const Node *n, int k, int rank);
bool is_vector_of(const Graph *g, const Node *n, int k, int64_t count);

// Returns the samples of an update's batch; of several batches, their mean.
double batch_samples(const Ref *r);

// Adds the sums of a batch or step to `sums` [figures, 2] in the header, each
// unless it is not finite.
void ref_add_figures(double *sums, const double *more, int figures);

// Begins the update of a training step.  The step is skipped if the header's
// batches have no samples or a bad one; otherwise their sums of losses and
// metrics are added to the header's.
void ref_begin_update(const Ref *r);

// Op.needs_whole_batch of losses that divide by a count over the batch.
const char *needs_total(const Graph *g, const Node *n);

// The maximum of a row, and the sum of exp(x - maximum) over it: softmax and
// its logarithm are computed from these without overflow.
double largest_of(const double *row, int64_t count);
double exp_sum_of(const double *row, int64_t count, double largest);

// Sets attributes that are the operator's arguments, with the same order and
// types, to the values of the call.
void take_attrs(const Build *b, Attr *attr);

// Returns the weight decay of a parameter: decay, or 0 if it has none.
double decay_of(const Graph *g, ValueId weight, double decay);

// Adds the first results of a node, and then its first operands, as arguments.
void launch_slots(Launch *l, const Node *n, int results, int operands);

// Sets result k to zeros.
void ref_clear(const Ref *r, int k);

// Returns the number of consecutive elements that a thread of n moves at once.
// It divides count, and is at most 16 bytes of the map with the fewest bits.
int64_t vec_width(const Graph *g, const Node *n, int64_t count);
// The same as if no operand were computed on load, so that the order of sums
// does not depend on fusion.
int64_t stored_vec(const Graph *g, const Node *n, int64_t count);

// Sets a launch with a thread for each of count elements; the kernel loops over
// those that exceed the largest grid.
void launch_elements(Launch *l, const char *kernel, int64_t count);

#endif
