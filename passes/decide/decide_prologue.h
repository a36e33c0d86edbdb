// Decides which values are computed on load and which are stored.
#ifndef CNNC_DECIDE_PROLOGUE_H
#define CNNC_DECIDE_PROLOGUE_H

#include "../trial.h"

// True if fuse_prologue has run on g, which was read from its text.
bool has_prologues(const Graph *g);

// True if nothing is stored to save time: with --prefer memory, or at level 0
// of a budget.
bool stores_least(const Graph *g, const PassOptions *o);

// The decision of fuse_prologue: sets g->decisions.prologue.
PassDecision decide_prologue(Graph *g, const PassOptions *o);

// Chooses for a budget how many values are stored: sets
// g->decisions.stored_level of a forward graph.  compile runs all passes on a
// copy of g.
void choose_stored(Graph *g, const PassOptions *o, Compile *compile);

#endif
