// Marks of the program: the user's checkpoints.
#ifndef CNNC_USER_CHECKPOINTS_H
#define CNNC_USER_CHECKPOINTS_H

#include "../pass.h"

// Sets g->decisions.remat_schedule for a training step that schedule has
// ordered.  The schedule keeps marked values, or those at the cuts that o asks
// for, and recomputes the launches that lead to them.  NULL if none is
// recomputed.  False, after an error, if o asks for marks or cuts and the graph
// has none.
bool follow_marks(Graph *g, const PassOptions *o);

#endif
