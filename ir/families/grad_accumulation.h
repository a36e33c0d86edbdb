// Gradient accumulation: training steps of several batches.  Each batch adds
// its gradients, means over its samples, to sums in the arena.  The update uses
// the mean over all samples.  The sums are no state: between an update and the
// next batch their contents are undefined.
//
//     forward and backward of a batch        d.w = conv.wgrad(dy, x)
//     accumulate_grad(w.sum!, d.w, header)   header.accumulated: samples before
//     accumulate_grad.next(header!)          ... counts these: the batch ends
//
//     accumulate_grad.begin(header!)         the update begins: to be skipped?
//     accumulate_grad.mean(w.sum!, header)
//     sgd(w!, w.sum, header)
//     accumulate_grad.clear(header!)
//     advance_step(header!)
#ifndef CNNC_GRAD_ACCUMULATION_H
#define CNNC_GRAD_ACCUMULATION_H

#include "../op/op.h"

// The kernels of the operator accumulate_grad.
enum {
    ACCUMULATE_ADD, ACCUMULATE_MEAN, ACCUMULATE_NEXT, ACCUMULATE_BEGIN,
    ACCUMULATE_CLEAR
};

// True if v is such a sum: persistent, but no state.
bool is_sum(const Graph *g, ValueId v);
// ends_batch: true if n is the last node of a batch, which precedes the update.
// find_batch_end: returns that node of g, or NONE.
bool ends_batch(const Node *n);
NodeId find_batch_end(const Graph *g);

#endif
