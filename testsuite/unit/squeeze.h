// Budgets that nets have to be compiled into, for tests.
#ifndef CNNC_TEST_SQUEEZE_H
#define CNNC_TEST_SQUEEZE_H

#include "../../frontend/driver/run_pipeline.h"

// Of a training step, the smallest arena there is and `percent` hundredths of
// what lies between that and the one without a budget; 0: nothing is smaller
// than that.  A budget that does not fit gives no message.
int64_t squeezed_budget(const Input *in, const FrontendOptions *frontend,
                        const PassOptions *o, int percent);

#endif
