// Budgets that nets have to be compiled into, for tests.
#ifndef CNNC_TEST_SQUEEZE_H
#define CNNC_TEST_SQUEEZE_H

#include "../../frontend/driver/run_pipeline.h"

// Returns the smallest arena of a training step plus `percent` hundredths of
// the difference to the one without a budget. Returns 0 if no arena is smaller
// than the one without.  A budget that does not fit gives no message.
int64_t squeezed_budget(const Input *in, const FrontendOptions *frontend,
                        const PassOptions *o, int percent);

#endif
