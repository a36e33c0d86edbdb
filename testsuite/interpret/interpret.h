// Shared by the interpreter's files: a net, its tensors, and one batch.
#ifndef TESTSUITE_INTERPRET_H
#define TESTSUITE_INTERPRET_H

#include "../../ir/ir.h"
#include "../tools/write_tensors.h"

typedef struct Run {
    Arena     *arena;
    Graph     *g;               // of a training step
    Tensors    t;
    TensorFile weights, batch;  // as read
    int64_t    seed, samples;
    ValueId    figures;         // the loss and the metrics of a step
} Run;

// Fresh tensors: the weights and the batch as read, the header of step 0, the
// optimizer's state 0.  False after a complaint.
bool run_reset(Run *r);

// differences.c: whether the gradients are those of the loss; prints the worst.
bool check_gradients(Run *r);

#endif
