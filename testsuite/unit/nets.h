// Training steps of random nets, for tests of the passes on memory.  Their
// operators are stand-ins with the slots of real ones and no arithmetic.
#ifndef CNNC_TEST_NETS_H
#define CNNC_TEST_NETS_H

#include "../../passes/pass.h"

// The net has `layers` forward nodes or a few more, then loss, backward,
// updates and the end of the step.  With `chain` each layer reads the one
// before and nothing else.
Graph *random_net(Arena *arena, Diag *diag, uint64_t seed, int layers,
                  bool chain);
// The passes on memory, by bits: 1 schedule, 2 share, 4 plan.  Omitted passes
// leave the plain form.
void place_net(Graph *g, unsigned which);

// Fixed numbers: the same everywhere.  0 <= result < limit.
uint32_t next_number(uint64_t *state, uint32_t limit);

// Options with all passes enabled, for tests that call passes one by one.
const PassOptions *all_passes(void);

// The stand-ins, each with its gradient.
extern const Op stub_layer, stub_unary, stub_sum, stub_flat, stub_drop,
    stub_loss, stub_update, stub_tally, stub_close;

#endif
