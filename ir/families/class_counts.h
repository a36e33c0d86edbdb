// Metrics of a net's classes that are no means over batches: mean_iou,
// precision, recall, f1, auc.
//
// Their counts are integers in the state, from one reset of the metrics to the
// next.  A metric is the sum of its rows over the sum of their weights since
// the reset (tally).  All rows of a batch are equal here, and chosen so that
// this quotient is the metric of all samples since the reset:
//
//   weight = (all - header.weight) / samples
//   row    = (value * all - header.sum) / samples
//
// Here all = header.samples + samples, or 0 while no class counts, and the
// header is that before the batch.  The metric of a single step is therefore
// its own only in the first step after a reset.
//
// A step is known to be skipped only after its rows are made.  Its counts are
// therefore kept separately in the state.  The next step adds them to the
// others, unless the header says that the step was skipped.  A header without
// samples means a reset, after which the state does not count.
//
// In a training step of several batches, the header is unchanged until the
// update.  It has extra slots for the samples and the sum of earlier batches.
// The counts of all of them are the step's.
//
//   %5 partials = mean_iou.count(logits, label)
//   %6 rows = mean_iou(logits, label, %5, %2 mean_iou.counts!, header)
#ifndef CNNC_CLASS_COUNTS_H
#define CNNC_CLASS_COUNTS_H

#include "loss.h"

// Operands and kernels of such a metric.
enum { CLASS_LOGITS, CLASS_LABEL, CLASS_PARTIALS, CLASS_COUNTS, CLASS_HEADER };
enum { CLASS_ROWS, CLASS_COUNT };

// Returns the number of classes that scores [.., classes] are of.
int64_t score_classes(Shape scores);
// True if a label is one of these classes, and not the ignored one.
bool is_counted_class(double label, int64_t classes, int64_t ignore);

// Makes the node of a metric, after that of the kernel that counts.  A batch
// has counts [runs, numbers, classes], the state [2, numbers, classes].
ValueId build_class_counts(Build *b, int kernel, int64_t runs, int64_t numbers,
                           int64_t classes, const Attr *attr);

// The metric is the quotient of two sums over classes.
typedef struct ClassMean { double sum, weight; } ClassMean;
// Adds class c, whose counts are count[k * classes], to *mean.  context: that
// of class_rows_reference.
typedef void AddClass(const Node *n, int64_t c, const double *count,
                      int64_t classes, ClassMean *mean, const void *context);

// Kernel CLASS_ROWS.  type: the struct of runtime/ with the class's AddClass.
void class_rows_cost(const Graph *g, const Node *n, Cost *cost);
void launch_class_rows(const Graph *g, const Node *n, Launch *l,
                       const char *type);
void class_rows_reference(const Ref *r, AddClass *add, const void *context);

// ---- metrics whose prediction is the largest score --------------------------

// Builds such a metric of labels per sample or pixel; reports operands that are
// no scores and labels.
ValueId build_predicted(Build *b, int64_t numbers, const Attr *attr);

// Counts a pixel in count[k * classes + c].
typedef void CountPixel(double *count, int64_t classes, int64_t predicted,
                        int64_t labelled);

// Their kernel CLASS_COUNT.  type: the struct of runtime/ with CountPixel.
void predicted_cost(const Graph *g, const Node *n, Cost *cost);
void launch_predicted(const Graph *g, const Node *n, Launch *l, int64_t ignore,
                      const char *type);
void predicted_reference(const Ref *r, int64_t ignore, CountPixel *count);

#endif
