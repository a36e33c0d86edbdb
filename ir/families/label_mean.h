// Losses that are a mean over labels, as PyTorch's CrossEntropyLoss and
// NLLLoss:
//
//   loss = weight * sum over i of f(scores[i], y) / sum over i of w[y],
//   y = label[i], over the i with y != ignore
//
// where w are class weights, by which f is multiplied too.  The rows need both
// sums first, so a part of the operator stores them for runs of labels.  If all
// samples have equal weight, part 0 divides those of each sample.  With class
// weights or an ignored label it makes pairs of them.  It keeps the total
// weight for the gradient.  A batch in which nothing counts has loss 0 and no
// gradient.
//
//   %5 sums = nll.sum(scores, label)
//   %6 rows, %7 total = nll(scores, label, %5)
//   %9 d.scores = nll.grad(label, %7)
#ifndef CNNC_LABEL_MEAN_H
#define CNNC_LABEL_MEAN_H

#include "loss.h"

// The first attributes of these operators, and operands of part 0.
enum { LABEL_CLASS_WEIGHTS, LABEL_IGNORE, LABEL_WEIGHT, LABEL_SETTING };
enum { LABEL = 1, LABEL_SUMS };

#define CLASS_WEIGHTS_ARG                                                      \
    { "class_weights", ARG_LIST, "[]", 0, 1e30, "weight of each class" }
#define LABEL_MEAN_ATTRS                                                       \
    { "class_weights", ATTR_LIST, 0, 0 }, IGNORE_ATTR,                         \
    { "weight", ATTR_FLOAT, 0, 0 }

// True if there are as many class weights as classes, or none; reports an error
// otherwise.
bool build_wants_class_weights(Build *b, const ArgValue *weights,
                               int64_t classes);
// Sets the first attributes from the arguments of these numbers.
void take_label_attrs(const Build *b, int class_weights, int ignore,
                      int weight, Attr *attr);
// Makes the sums by part `sum`, and then the rows.
ValueId build_label_mean(Build *b, int sum, const Attr *attr);

// Returns the class weights, or one weight for all classes.
const List *class_weights_of(const Node *n);
double class_weight(const Node *n, int64_t o);
// True if a label counts; the number of a label past `samples` does not.
bool label_counts(const Ref *r, double label, int64_t sample);

// Part 0.
Shape shape_of_label_mean(const Graph *g, const Node *n);
// Returns the total weight of forward node n, which only the gradient reads.
// Adds it if n has none, as in a graph that was read.
ValueId label_mean_total(Graph *g, NodeId n);
const char *label_mean_needs_total(const Graph *g, const Node *n);
void label_mean_cost(const Graph *g, const Node *n, Cost *cost);
void label_mean_launch(const Graph *g, const Node *n, Launch *l);
void label_mean_reference(const Ref *r);
// Returns the gradient of a sum of f: 0 where nothing counts.
double label_mean_scale(const Ref *r, double total);

#endif
