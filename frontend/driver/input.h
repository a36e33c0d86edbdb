// The input of a compilation: a program, or the text of a graph.
#ifndef CNNC_INPUT_H
#define CNNC_INPUT_H

#include "../compile.h"

typedef struct Input {
    Arena      *arena;
    Diag       *diag;
    const char *path;
    const Ast  *ast;            // NULL: the text of a graph
    int32_t     source;         // of that text
} Input;

// Opens the input.  False, with a message, if path or a file that it includes
// can't be read.  Errors in the text are counted in diag.
bool input_open(Input *in, Arena *arena, Diag *diag, const char *path);

// Returns the same input, whose graphs are stored in arena.
Input input_apart(const Input *in, Arena *arena);

// Returns a new graph for one pipeline; NULL after errors.  The text of a graph
// keeps its mode, whatever the options say.
Graph *input_graph(const Input *in, const FrontendOptions *options);

#endif
