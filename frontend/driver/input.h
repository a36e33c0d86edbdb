// What is compiled: a program, or the text of a graph.
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

// False, said on standard error, where path, or what it includes, can't be
// read.  What is wrong in what it read is counted in diag.
bool input_open(Input *in, Arena *arena, Diag *diag, const char *path);

// A fresh graph, for one pipeline; NULL after errors.  The text of a graph is
// of one mode, whatever the options ask for.
Graph *input_graph(const Input *in, const FrontendOptions *options);

#endif
