// Which launches wait to be put together, so that no plan is the larger for it.
#ifndef CNNC_WAITS_H
#define CNNC_WAITS_H

#include "pass.h"

// For a training step that is through checkpoint: sets g->waits to that of
// several ways, ever more sparing, in which the arena is smallest, at most as
// large as with all launches apart, to the first among equals, and each value's
// offset to what it would be with them apart.  False: there is no such way.
bool choose_waits(Graph *g, const PassOptions *o);

#endif
