// Losses and metrics: their arguments, checks of their operands, the
// distribution of work over blocks, and rows that are quotients of two sums.
#ifndef CNNC_LOSS_H
#define CNNC_LOSS_H

#include "../op/op.h"

#define WEIGHT_ARG                                                             \
    { "weight", ARG_FLOAT, "1", 0, 1e30, "factor of the loss" }
#define IGNORE_ARG                                                             \
    { "ignore", ARG_LABEL, "none", -INT32_MAX, INT32_MAX, "the label that "    \
      "does not count, which may be no class" }
#define IGNORE_ATTR { "ignore", ATTR_INT, NO_LABEL, INT32_MAX }

// True if the operands are scores and a label of as many classes: [classes] and
// class[classes], or one of each per pixel; reports an error otherwise.
bool build_wants_labels(Build *b);
// True if the operands are scores and a real number for each of them, which are
// no label; reports an error otherwise.  `numbers`: their name in its text.
bool build_wants_targets(Build *b, const char *numbers);
// True if both operands are real and of one shape; reports an error otherwise.
bool build_wants_pair(Build *b);

// How a reduction over samples is distributed: `splits` blocks share a sample,
// with runs of `run` items each; the last run may be shorter.
typedef struct Deal {
    int64_t batch, items, splits, run;
    int     lanes;              // threads that share an item, 1 to 32
    int     block;              // threads
} Deal;
// Distribute the elements of each sample of a shape; or its pixels, each with
// the last dimension's scores.
Deal deal_elements(Shape shape);
Deal deal_pixels(Shape scores);
// Adds the constants BATCH, ITEMS, SPLITS, RUN and LANES to a launch.
void launch_deal(Launch *l, const Deal *deal);

// Launches a kernel with a warp for each row of scores [batch, classes],
// operand 0.  Their labels are operand 1.  `score` is the struct of runtime/
// that processes a row; its members are the arguments of the launch returned.
// Other structs may be grouped into the launch.
Launch *launch_score_rows(const Graph *g, const Node *n, Launch *l,
                          const char *score);

// Makes a node of `part` before the forward node of a call, on the call's first
// two operands.  Returns its result <layer>.<name>.
ValueId build_before(Build *b, int kernel, const char *name, DType dtype,
                     Shape shape, const Attr *attr);

// Rows with weights are pairs [batch, 2]: for each sample the sum over its
// labels that count, and their total weight, or 0.  The metric is the sum of
// all sums over the sum of all weights.  Function pair_rows_shape returns that
// shape; shape_of_pairs is the rule for it; is_weighted is true for such rows.
Shape pair_rows_shape(int64_t batch);
Shape shape_of_pairs(const Graph *g, const Node *n);
bool  is_weighted(const Graph *g, ValueId rows);
// rows[n] = { a[n], b[n] }, where operand k holds sums [2, splits, batch] of a
// and b.
void launch_pairs(const Graph *g, const Node *n, Launch *l, int k);
void pairs_reference(const Ref *r, int k);

// rows[n] = offset + factor * (a[n] + smooth) / (b[n] + smooth), where operand
// k holds sums [2, splits, batch] of a and b.  The quotient is 0 if b[n] +
// smooth is 0.
void launch_ratio(const Graph *g, const Node *n, Launch *l, int k,
                  double offset, double factor, double smooth);
void ratio_reference(const Ref *r, int k, double offset, double factor,
                     double smooth);

// Returns the last operand, "header?", of a loss's gradient: the header, if the
// loss is scaled (ops/loss_scale.c), or NONE.
ValueId loss_header(const Graph *g);
// Add the weight of a loss times its scale to a gradient's kernel: its type as
// a template argument, and its value as an argument.  The type is a real, or a
// struct that reads the scale from the header.
void launch_loss_type(const Node *n, Launch *l);
void launch_loss_weight(const Node *n, Launch *l, double weight,
                        const char *label);
// Returns the current scale of a node's loss; 1 if it has none.
double ref_loss_scale(const Ref *r);

// Returns the node that computes the loss and metrics of a batch and adds them
// to the header's sums, or NULL.
const Node *find_metric_sums(const Graph *g);

// True if n reads only the loss scale from the header.  The update changes it,
// tally does not, so n may run before or after tally.
bool reads_scale_alone(const Node *n);

// True if n makes the rows of a loss that is trained.  A loss operator may also
// be a metric of the program.
bool makes_loss(const Graph *g, const Node *n);

// Returns the value of the label v that means no label: that on which all
// losses which read v agree, or NO_LABEL.
int64_t ignored_label(const Graph *g, ValueId v);

// Returns the index of the loss or metric with these rows: losses come first.
// Its sum and weight in the header have this index.
int figure_of(const Graph *g, ValueId rows);

#endif
