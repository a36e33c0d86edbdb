// The marks of the program: checkpoints that it places itself.
#ifndef CNNC_USER_CHECKPOINTS_H
#define CNNC_USER_CHECKPOINTS_H

#include "../pass.h"

// For a training step that schedule has ordered: sets g->remat_schedule so that
// what is marked, or lies at the cuts that o asks for, is kept and what leads
// there is computed again; leaves it NULL where that is nothing.  False, after
// an error, where o asks for marks or cuts and the graph has none.
bool follow_marks(Graph *g, const PassOptions *o);

#endif
