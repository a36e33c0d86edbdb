// Training steps of random nets, for tests of the passes on memory.  Their
// operators are stand-ins with the slots of real ones and no arithmetic.
#ifndef CNNC_TEST_NETS_H
#define CNNC_TEST_NETS_H

#include "../../ir/op/op.h"
#include "../../ir/plan/plan.h"

// layers forward nodes or a few more, then loss, backward, updates and the end
// of the step.  chain: each layer reads the one before and nothing else.
Graph *random_net(Arena *arena, Diag *diag, uint64_t seed, int layers,
                  bool chain);
// The passes on memory, by bits: 1 schedule, 2 share, 4 plan.  What is left out
// has its stand-in.
void place_net(Graph *g, unsigned passes);

// Fixed numbers: the same everywhere.  0 <= result < limit.
uint32_t next_number(uint64_t *state, uint32_t limit);

// These are of passes/, which tests call one by one.
void pass_schedule(Graph *g);
void pass_liveness(Graph *g);
void pass_share_buffers(Graph *g);
void share_views(Graph *g);
void pass_assign_offsets(Graph *g);
void plan_disjoint(Graph *g);

// The stand-ins, each with its gradient.
extern const Op stub_layer, stub_unary, stub_sum, stub_flat, stub_drop,
    stub_loss, stub_update, stub_tally, stub_close;

#endif
