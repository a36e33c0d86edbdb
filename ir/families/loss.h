// What losses and metrics say in common: their arguments, the checks of what
// they compare, how the work is dealt out to blocks, and rows that are a
// quotient of two sums.
#ifndef CNNC_LOSS_H
#define CNNC_LOSS_H

#include "../op/op.h"

#define WEIGHT_ARG                                                             \
    { "weight", ARG_FLOAT, "1", 0, 1e30, "what the loss is multiplied by" }
#define IGNORE_ARG                                                             \
    { "ignore", ARG_INT, "-1", -1, INT32_MAX, "a class that does not count, "  \
      "-1: none" }

// True if the operands are scores and a label of as many classes: [classes] and
// class[classes], or one of each a pixel; an error if not.
bool build_wants_labels(Build *b);
// True if the operands are real and of one shape; an error if not.
bool build_wants_pair(Build *b);

// How a reduction over samples is dealt out: `splits` blocks take a sample
// together, runs of `run` of its items each, the last one maybe less.
typedef struct Deal {
    int64_t batch, items, splits, run;
    int     lanes;              // threads that take an item together, 1 to 32
    int     block;              // threads
} Deal;
// Of the elements of each sample of a shape; of its pixels, each with as many
// scores as the last dimension.
Deal deal_elements(Shape shape);
Deal deal_pixels(Shape scores);
// BATCH, ITEMS, SPLITS, RUN and LANES, as constants of a launch.
void launch_deal(Launch *l, const Deal *deal);

// The launch of what takes rows of scores [batch, classes], operand 0, by a
// warp each, with a label a row, operand 1.  Score is the struct of runtime/
// that does it to a row; its members: arguments of what is returned.  Others
// may be in the same launch.
Launch *launch_score_rows(const Graph *g, const Node *n, Launch *l,
                          const char *score);

// A node of `part` before the forward node of a call, from the call's first two
// operands to <layer>.<name>, which is returned.
ValueId build_before(Build *b, int kernel, const char *name, DType dtype,
                     Shape shape, const Attr *attr);

// Rows that do not all weigh the same are pairs [batch, 2]: of each sample the
// sum over its labels that count, and their weight, 0 where none counts.  The
// figure is the sum of all sums over the sum of all weights.  Returns that
// shape; is the rule for it, as shape_of_rows; true for such rows.
Shape pair_rows_shape(int64_t batch);
Shape shape_of_pairs(const Graph *g, const Node *n);
bool  is_weighted(const Graph *g, ValueId rows);
// rows[n] = { a[n], b[n] }, from sums [2, splits, batch], those of a and of b,
// in operand k.
void launch_pairs(const Graph *g, const Node *n, Launch *l, int k);
void pairs_reference(const Ref *r, int k);

// rows[n] = offset + factor * (a[n] + smooth) / (b[n] + smooth), the quotient 0
// where b[n] + smooth is: from sums [2, splits, batch], those of a and of b, in
// operand k.
void launch_ratio(const Graph *g, const Node *n, Launch *l, int k,
                  double offset, double factor, double smooth);
void ratio_reference(const Ref *r, int k, double offset, double factor,
                     double smooth);

// What a loss's gradient has as its last operand, "header?": the header, where
// the loss is scaled (ops/loss_scale.c), or NONE.
ValueId loss_header(const Graph *g);
// The weight of a loss, times its scale, as an argument of a gradient's kernel;
// and its type, as the next of the template arguments: a real, or a struct that
// reads the scale from the header.
void launch_loss_type(const Node *n, Launch *l);
void launch_loss_weight(const Node *n, Launch *l, double weight,
                        const char *label);
// The scale of a node's loss now: 1 where it has none.
double ref_loss_scale(const Ref *r);

// The node that makes the figures of a batch (its loss, then its metrics) and
// adds them to the header's sums; NULL: there is none.
const Node *find_metric_sums(const Graph *g);

// Whether n reads of the header the loss's scale alone, which is the update's
// to change and not accumulate_metrics': it may come before that or behind it.
bool reads_scale_alone(const Node *n);

// True if n makes the rows of a loss, so that training starts from it.  An
// operator that is a loss may also be a metric of the program.
bool makes_loss(const Graph *g, const Node *n);

// Returns the number of the figure that these rows make: losses come first,
// then metrics.  Its sum and weight in the header have this number.
int figure_of(const Graph *g, ValueId rows);

#endif
