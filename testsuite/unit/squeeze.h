// Budgets that nets have to be compiled into, for tests.
#ifndef CNNC_TEST_SQUEEZE_H
#define CNNC_TEST_SQUEEZE_H

#include "../../frontend/pipeline.h"

// The first of `percent` hundredths of the arena without a budget, 5 more, and
// so on, that a training step fits in; 0: it fits in none but the whole.  What
// does not fit is said to nobody.
int64_t squeezed_budget(const Input *in, const FrontendOptions *frontend,
                        const PassOptions *o, int percent);

#endif
