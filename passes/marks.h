// The marks of the program: checkpoints that it places itself.
#ifndef CNNC_MARKS_H
#define CNNC_MARKS_H

#include "pass.h"

// For a training step that schedule has ordered: sets g->program so that marked
// values are kept and what leads to them is computed again; leaves it NULL
// where that is nothing.  False, after an error, where o asks for marks and the
// graph has none.
bool follow_marks(Graph *g, const PassOptions *o);

#endif
