// Gradient accumulation: training steps of several batches.  Each batch adds
// its gradients, means over its samples, to sums in the arena.  The update uses
// the mean over all samples.  The sums are no state: between an update and the
// next batch their contents are undefined.
//
//     forward and backward of a batch     d.w = conv.wgrad(dy, x)
//     accrue(w.sum!, d.w, header)         header.accrued: samples before these
//     accrue.next(header!)                ... counts them: the batch ends
//
//     accrue.begin(header!)               the update begins: to be skipped?
//     accrue.mean(w.sum!, header)
//     sgd(w!, w.sum, header)
//     accrue.clear(header!)
//     advance(header!)
#ifndef CNNC_GRAD_ACCUMULATION_H
#define CNNC_GRAD_ACCUMULATION_H

#include "../op/op.h"

// The parts of the operator accrue.
enum { ACCRUE_ADD, ACCRUE_MEAN, ACCRUE_NEXT, ACCRUE_BEGIN, ACCRUE_CLEAR };

// True if v is such a sum: persistent, but no state.
bool is_sum(const Graph *g, ValueId v);
// ends_batch: true if n is the last node of a batch, which precedes the update.
// find_batch_end: returns that node of g, or NONE.
bool ends_batch(const Node *n);
NodeId find_batch_end(const Graph *g);

#endif
