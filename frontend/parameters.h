// Arguments of a call about the parameters of its layer or block: which of them
// training changes, and which layers share them.
#ifndef CNNC_PARAMETERS_H
#define CNNC_PARAMETERS_H

#include "../ir/op/op.h"
#include "ast.h"

typedef struct Resolver Resolver;
typedef struct Scope Scope;
typedef struct Claim Claim;

// The names under which layers and blocks have parameters.
typedef struct Claims {
    Table   by_name;            // Claim: s for s.weight
    Claim **named;              // those of an argument `weights`, in order
    int32_t count, capacity;
    int32_t layers;             // with parameters, so far
} Claims;

// ---- freeze.c: parameters that are not trained ------------------------------

// Returns the call's argument train = ..., or NULL.
const Arg *train_argument(const Expr *call);
// Returns the word of a call's argument `train`, or that of the block around
// it.  NULL after an error.
const char *part_of_call(Resolver *r, const Expr *call);
// For Build.freezes.
bool freezes(Build *b, const char *path, bool of_norm);

// ---- share_weights.c: parameters of several layers --------------------------

// Returns the call's argument weights = "...", or NULL.  It is an argument of
// the block itself if the block (NULL: an operator) has a parameter of that
// name.
const Arg *weights_argument(const Expr *call, const Block *block);
// Returns the claim of a layer of op, or of a block, with the full name `layer`
// to the name of its parameters.  NULL after an error.
Claim *claim_weights(Resolver *r, const Expr *call, const char *layer,
                     const Op *op, const Block *block);
// Returns the parameters of a layer's claim, or NULL if it shares none.
Weights *weights_of(Claim *claim);
// Sets how a block's layers name their parameters.
void share_with_block(Scope *scope, Arena *arena, const Claim *claim);
// Ends a use of a claim by a call whose first layer with parameters would be
// number `first`.  False after an error: each use of a block has the same
// number of such layers.
bool check_claim(Resolver *r, Claim *claim, const Expr *call, int32_t first);
// Warns of names that one layer or block alone has.
void check_shared(Resolver *r);

#endif
