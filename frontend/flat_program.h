// A program without its blocks, loops and expressions: a list of calls, with
// the outputs and the values of constants.  It is printed by --emit graph, for
// programs that write another program.
#ifndef CNNC_FLAT_PROGRAM_H
#define CNNC_FLAT_PROGRAM_H

#include "../ir/op/op.h"
#include "ast.h"

typedef struct FlatCall {
    const Op       *op;
    const char     *name;       // of the layer
    const char     *part;       // the word of `train`; NULL: no parameters
    const char     *weights;    // the name of shared parameters, or NULL
    const ValueId  *operands;
    int             operand_count;
    const ArgValue *args;       // in the order of Op.args
    ValueId         result;
    // After flat_finish:
    const char    **operand_names;
    const char     *result_name;
    Shape           shape;      // of the result
} FlatCall;

typedef struct FlatConstant {
    const char *name;
    const char *text;           // its value in the language
} FlatConstant;

typedef struct FlatProgram {
    Arena        *arena;        // of all that it holds
    FlatCall     *calls;
    FlatConstant *constants;
    const char   **outputs;     // names of those of inference, in any mode
    int32_t       call_count, call_capacity;
    int32_t       constant_count, constant_capacity;
    int32_t       output_count;
} FlatProgram;

// Adds a call that was built.  `part` is the word of `train`.
void flat_add_call(FlatProgram *flat, const Build *b, const char *part,
                   ValueId result);

// Sets the names and shapes of values and outputs, before the graph renumbers
// its values.
void flat_finish(FlatProgram *flat, const Graph *g, const ValueId *outputs,
                 int32_t count);

// Adds a constant, and copies both texts.
void flat_add_constant(FlatProgram *flat, const char *name, const char *text);

#endif
