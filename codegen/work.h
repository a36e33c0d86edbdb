// What the interface's calls do between their checks and their return.
#ifndef CNNC_WORK_H
#define CNNC_WORK_H

#include "ports.h"

// Calls in order; the function returns the first failure.
typedef struct Chain {
    const char *text[6 * MAX_PORTS];
    int         count;
} Chain;

// What a program is run on: inputs, what its steps are called with, and what is
// fetched after them.
typedef struct Work {
    const Program *p;
    const ValueId *inputs, *outputs;
    int            input_count, output_count;
    const char    *arguments;
} Work;

// A tensor is whole samples, as many as the others.
void chain_samples(Emitter *e, Chain *chain, const Graph *g, ValueId v, const char *call);
// An input goes to its staging.
void chain_stage(Emitter *e, Chain *chain, const Program *p, ValueId v, const char *from,
                 const char *bytes);
void chain_steps(Emitter *e, Chain *chain, const Program *p, const char *arguments);
void chain_apply(Emitter *e, Chain *chain);
// Prints calls; the function returns the first failure.
void write_calls(Emitter *e, const char *const *calls, int count, const char *indent);
// Prints a chain to the end of the function.
void write_chain(Emitter *e, const Chain *chain);

// Of a program, what its steps are told of samples: as many as the call has, or as
// a slice has.
const char *samples_argument(const Program *p);
// Prints the function that does the work slice by slice, if it has any.
void emit_slices(Emitter *e, const Work *work, const char *call);
// The work, by that function or at once.
void chain_all(Emitter *e, Chain *chain, const Work *work, const char *call);

#endif
