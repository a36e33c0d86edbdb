// The interface's calls, from their checks to their return.
#ifndef CNNC_WORK_H
#define CNNC_WORK_H

#include "ports.h"

// A chain of calls; the function returns the first failure.
typedef struct Chain {
    const char *text[6 * MAX_PORTS];
    int         count;
} Chain;

// The work of a call: a program, its inputs, the arguments of its steps, and the outputs copied
// after them.
typedef struct Work {
    const Program *p;
    const ValueId *inputs, *outputs;
    int            input_count, output_count;
    const char    *arguments;
} Work;

// caller_inputs.c: with --inputs caller.  True if the file is such a one.
bool reads_callers_inputs(const Emitter *e);
// Prints the struct of pointers that stands for the inputs.
void declare_inputs(Emitter *e);
// Sets items to the parameters of a call that stand for these inputs, and returns their number.
int input_parameters(Emitter *e, const Graph *g, const ValueId *inputs, int count,
                     const char **items);
// Prints the function that checks the inputs of a call and puts them into the context.
void emit_give(Emitter *e);
// Prints assignments of a slice's inputs, from sample `first` on.
void write_slice_of_inputs(Emitter *e, const Work *work);

// Prints the trainer's own memory for inputs and a copy to it, and in main_init its allocation.
void emit_main_inputs(Emitter *e);
void write_given_memory(Emitter *e);

// Checks that a tensor has whole samples, of the same number as the others.
void chain_samples(Emitter *e, Chain *chain, const Graph *g, ValueId v, const char *call);
// Checks the inputs of a call: with --inputs caller, all at once.
void chain_inputs(Emitter *e, Chain *chain, const Graph *g, const ValueId *inputs, int count,
                  const char *call);
// Copies an input to its place in the arena.
void chain_stage(Emitter *e, Chain *chain, const Program *p, ValueId v, const char *from,
                 const char *bytes);
void chain_steps(Emitter *e, Chain *chain, const Program *p, const char *arguments);
void chain_apply(Emitter *e, Chain *chain);
// Prints calls; the function returns the first failure.
void write_calls(Emitter *e, const char *const *calls, int count, const char *indent);
// Prints a chain and the end of the function.
void write_chain(Emitter *e, const Chain *chain);

// Returns the steps' argument for the number of samples: the slice's or the call's.
const char *samples_argument(const Program *p);
// Prints the function that processes the work in slices, if slices are needed.
void emit_slices(Emitter *e, const Work *work, const char *call);
// Appends the work to the chain: that function, or all of it at once.
void chain_all(Emitter *e, Chain *chain, const Work *work, const char *call);

#endif
