// One graph through all passes, to a plan that has been checked.
#ifndef CNNC_PIPELINE_H
#define CNNC_PIPELINE_H

#include "options.h"

// The plan; NULL where --stop-after ended it before.  A plan that the checker
// refuses is a bug().
Plan *run_pipeline(Graph *g, const PassOptions *o);

// compare.c: a table of arena sizes, each optional pass added in turn.  False
// after errors.
struct Input;
bool compare(const struct Input *in, const Options *o, FILE *out);

// depend.c: what the output depends on, as a rule of make.
void print_dependencies(const Diag *diag, const char *target, FILE *out);

#endif
