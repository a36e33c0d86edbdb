// Between the files of the verifier.
#ifndef CNNC_VERIFY_H
#define CNNC_VERIFY_H

#include <setjmp.h>
#include "../op/op.h"

typedef struct Check {
    const Graph *g;
    const char  *after;         // the pass that has just run
    jmp_buf     *refuse;        // NULL: a fault is a bug; else it is reported
                                // as an error, and ends the check there
} Check;

// error() or bug(), saying after which pass and, of the latter two, which node
// or value.
_Noreturn void fault(const Check *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
_Noreturn void node_fault(const Check *c, NodeId id, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
_Noreturn void value_fault(const Check *c, ValueId id, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// verify_fused_load.c: a fused_load node makes one thing, which is no output,
// in launches that say that they can; whether its operator can is asked of its
// part, or of the pool that reads it.
void check_fused_load(const Check *c, NodeId id);
// verify_types.c: the type of a value, and of what a node reads and makes.
void check_type(const Check *c, ValueId id);
void check_types(const Check *c, NodeId id);
// verify_recompute.c: that a node of phase RECOMPUTE does what another does,
// with the same operands, computed again or not.
void check_again(const Check *c, NodeId id);
// verify_offload.c: that copies to host memory and back, if there are any, are
// sound in the order of the nodes.
void check_host_copies(const Check *c);
// verify_memory.c: whether n reads v itself, not only on load; what IS_SHARED
// and IS_PLACED promise.
bool is_operand(const Node *n, ValueId v);
void check_sharing(const Check *c);
void check_places(const Check *c);
// verify_strided_views.c: that a node which says that it is a copy in place is
// one.
void check_in_place(const Check *c, NodeId id);
// Of classes in which there are slices; sets the rows of those
// roots, else 0.  last: the last node that reads each value.
void check_slices(const Check *c, const ValueId *root, const NodeId *last,
                  int64_t *rows);
// verify_launch_group.c: that what is grouped can be: of scheduled graphs.
void check_grouped(const Check *c);
// verify_training.c: samples of a batch and of a step, which all counts on.
void check_batch(const Check *c);
// What the updates are made from, and the order of facts.
void check_training(const Check *c);
// That a value which says that it is a gradient, or a state, looks like one.
void check_gradient(const Check *c, ValueId id);
void check_state(const Check *c, ValueId id);

#endif
