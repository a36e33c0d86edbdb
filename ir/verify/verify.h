// Functions shared by the verifier's files.
#ifndef CNNC_VERIFY_H
#define CNNC_VERIFY_H

#include <setjmp.h>
#include "../op/op.h"

typedef struct Check {
    const Graph *g;
    const char  *after;         // the pass that has just run
    jmp_buf     *refuse;        // NULL: a fault is a bug; otherwise an error,
                                // which ends the check by longjmp
} Check;

// Report a fault by error() or bug(), with the last pass and the node or value.
_Noreturn void fault(const Check *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
_Noreturn void node_fault(const Check *c, NodeId id, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
_Noreturn void value_fault(const Check *c, ValueId id, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// verify_inlined.c: an inlined node has one result, which is no output.  Its
// readers can compute it on load, by its part's rule or as the operand of a
// fused pool.
void check_fused_load(const Check *c, NodeId id);
// verify_types.c: check the type of a value, and of a node's operands and
// results.
void check_type(const Check *c, ValueId id);
void check_types(const Check *c, NodeId id);
// verify_recompute.c: checks that a node of phase RECOMPUTE repeats another
// node on the same operands or on recomputed ones.
void check_again(const Check *c, NodeId id);
// verify_offload.c: checks copies to host memory and back in node order.
void check_host_copies(const Check *c);
// verify_memory.c: check the invariants of IS_SHARED and IS_PLACED.
void check_sharing(const Check *c);
void check_places(const Check *c);
// verify_strided_views.c: checks that a node marked in_place is a pure copy.
void check_in_place(const Check *c, NodeId id);
// Checks classes with slices, and sets rows of their roots, 0 of others.
// last: the last node that reads each value.
void check_slices(const Check *c, const ValueId *root, const NodeId *last,
                  int64_t *rows);
// verify_launch_group.c: checks groups of launches in scheduled graphs.
void check_grouped(const Check *c);
// verify_training.c: checks the samples of a batch and a step, before all else.
void check_batch(const Check *c);
// Checks the operands of updates, and the order of facts.
void check_training(const Check *c);
// Check that a gradient, or a state, matches its value.
void check_gradient(const Check *c, ValueId id);
void check_state(const Check *c, ValueId id);

#endif
