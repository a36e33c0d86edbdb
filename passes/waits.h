// Which launches wait to be put together, so that no plan is the larger for it.
#ifndef CNNC_WAITS_H
#define CNNC_WAITS_H

#include "pass.h"

// For a training step that is through checkpoint: sets g->waits so that the
// fewest launches are left in an arena that is no larger than with all apart,
// and each value's offset to what it would be then.  False: none may wait.
bool choose_waits(Graph *g, const PassOptions *o);

#endif
