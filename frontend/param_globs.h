// Settings for parameters whose names match globs: `freeze`, --freeze, `rate`.
#ifndef CNNC_PARAM_GLOBS_H
#define CNNC_PARAM_GLOBS_H

#include "../ir/op/op.h"
#include "ast.h"

typedef struct Resolver Resolver;

// A glob on names of parameters.
typedef struct Glob {
    const char *text;
    Pos         pos;            // file NONE: of the command line
    double      factor;         // of the learning rate
    bool        matched;
} Glob;

typedef struct Globs {
    const char *setting;        // that has them
    Glob       *at;
    int32_t     count, capacity;
} Globs;

// Takes the globs of --freeze.
void read_globs(Resolver *r);
// Take those of the train section's settings `freeze` and `rate`.
void add_frozen(Resolver *r, const Stmt *stmt);
void add_rates(Resolver *r, const Stmt *stmt);
// Returns the last of some globs that matches a parameter's full name, or NULL.
const Glob *matching_glob(Globs *globs, const char *path);
// For Build.rate_factor.
double rate_factor(Build *b, const char *path);
// Reports globs that match nothing.
void check_globs(Resolver *r);

#endif
