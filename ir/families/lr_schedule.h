// Learning-rate schedules.  A schedule is one thread that sets the header's
// rate to the base rate times a factor of the training step.
#ifndef CNNC_LR_SCHEDULE_H
#define CNNC_LR_SCHEDULE_H

#include "../op/op.h"

enum { MOST_STEPS = 1000000000 };

#define STEPS_ARG                                                              \
    { "steps", ARG_INT, NULL, 1, MOST_STEPS, "number of training steps "    \
      "in total" }
#define WARMUP_ARG                                                             \
    { "warmup", ARG_INT, "0", 0, MOST_STEPS, "number of first steps in which " \
      "the rate rises linearly" }
#define FINAL_ARG                                                              \
    { "final", ARG_FLOAT, "0", 0, 1e30, "the factor of the last step, and of " \
      "all after it" }

// The build rule: attributes are the arguments; warmup must be below steps.
ValueId build_rate(Build *b);
void cost_rate(const Graph *g, const Node *n, Cost *cost);
// Launches kernel rate_<operator> with the header, then all attributes in
// order.
void launch_rate(const Graph *g, const Node *n, Launch *l);
// factor takes the steps since the end of the warmup.
void reference_rate(const Ref *r, double (*factor)(const Attr *attr, double t));

// The parts of an operator with this reference.
#define RATE_KERNELS(reference_)                                               \
    { { .name = "", .results = "", .cost = cost_rate, .launch = launch_rate,   \
        .reference = reference_ }, { .results = NULL } }

#endif
