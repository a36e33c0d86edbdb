// Settings for parameters whose names match globs: `freeze`, --freeze, `rate`,
// `prune`.
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
// Takes a glob of a call of `prune`, or, with `of` NULL, all names.
void add_pruned(Resolver *r, const Arg *of, Pos call);
// Returns the last of some globs that matches a parameter's full name, or NULL.
const Glob *matching_glob(Globs *globs, const char *path);
// For Build.rate_factor.
double rate_factor(Build *b, const char *path);
// Reports globs that match nothing.
void check_globs(Resolver *r);

// ---- quantize.c -------------------------------------------------------------

// Takes the train section's setting `quantize`.
void set_quantize(Resolver *r, const Stmt *stmt);

// ---- prune.c ----------------------------------------------------------------

// Takes the train section's setting `prune`.
void set_prune(Resolver *r, const Stmt *stmt);
// True if the setting prunes value v, a parameter.
bool is_pruned(Resolver *r, ValueId v);
// Reports a setting that prunes nothing, and a parameter that is too large.
void check_pruned(Resolver *r);

#endif
