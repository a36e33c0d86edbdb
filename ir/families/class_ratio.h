// Precision, recall and F1: metrics of predicted and labelled classes.  Each is
// a quotient of counts of a class (class_counts.h), averaged over classes as in
// scikit-learn (precision_recall_fscore_support):
//
//   macro    the mean over classes that are predicted or labelled
//   micro    the sum of all parts over the sum of all wholes
//   binary   the quotient of class 1 of two
//
// A quotient of 0 by 0 is 0.
#ifndef CNNC_CLASS_RATIO_H
#define CNNC_CLASS_RATIO_H

#include "class_counts.h"

enum { RATIO_IGNORE, RATIO_AVERAGE };
extern const ArgSpec  ratio_args[];
extern const AttrSpec ratio_attrs[];

// The counts of a class.
typedef struct ClassPixels { double right, predicted, labelled; } ClassPixels;
typedef struct Quotient { double part, whole; } Quotient;
typedef Quotient ClassQuotient(ClassPixels count);

ValueId build_ratio(Build *b);

// Kernel CLASS_ROWS; Op.functor is the struct of runtime/ with the quotient.
void launch_ratio_rows(const Graph *g, const Node *n, Launch *l);
void ratio_rows_reference(const Ref *r, ClassQuotient *quotient);

// Kernel CLASS_COUNT.
void launch_ratio_count(const Graph *g, const Node *n, Launch *l);
void ratio_count_reference(const Ref *r);

// The kernels of such a metric with this reference of its rows.
#define RATIO_KERNELS(rows_reference)                                          \
    { .name = "", .results = "rows", .cost = class_rows_cost,                  \
      .launch = launch_ratio_rows, .reference = rows_reference },              \
    { .name = "count", .operands = "logits^ label", .results = "partials",     \
      .cost = predicted_cost, .launch = launch_ratio_count,                    \
      .reference = ratio_count_reference },                                    \
    { .results = NULL }

#endif
