// Parameters of several layers: weights = "s".
//
//     a = left -> conv(8, 3, weights = "s")        s.weight, s.bias
//     b = right -> conv(8, 3, weights = "s")       the same
//     c = left -> tower(weights = "t")             t.conv_1.weight, ...
//     d = right -> tower(weights = "t")            the same, layer by layer
//
// A layer claims the name of its parameters: its own full name or that of its
// argument `weights`.  A block claims it for the layers in it, each of which
// then shares the parameters of the layer of its name.  So a name is either of
// one layer, or of an argument `weights` that its layers have in common.
//
// Names are of a scope: those in a block are of that call of it, or of all
// calls that share.
#include <string.h>
#include "resolve.h"

struct Claim {
    const Expr  *call;          // the first
    const Block *block;         // NULL: op, of the layers
    const Op    *op;
    const Arg   *named;         // the argument of the first; NULL: it is a
                                // layer's own name
    bool         shares;
    int          uses;          // complete ones
    int32_t      layers;        // with parameters, in each
    Weights      weights;
};

const Arg *weights_argument(const Expr *call, const Block *block)
{
    const Arg *p = block != NULL ? block->params : NULL;
    while (p != NULL && strcmp(p->name, "weights") != 0) p = p->next;
    return p == NULL ? call_argument(call, "weights") : NULL;
}

// Returns the full name of the parameters of a layer, or NULL after an error.
static const char *claimed_name(Resolver *r, const Arg *arg, const char *layer)
{
    const Scope *scope = r->scope;
    if (arg == NULL)
        return !scope->shares ? layer
            : arena_print(r->arena, "%s%s", scope->weights,
                          layer + strlen(scope->prefix));
    Datum datum = evaluate_as(r, arg->value, TEXT, "weights are");
    if (datum.kind == POISON || !check_name(r, arg->value->pos, datum.text))
        return NULL;
    return arena_print(r->arena, "%s%s", scope->weights, datum.text);
}

static const char *kind_of(Resolver *r, const Op *op, const Block *block)
{
    return block == NULL ? op->name
                         : arena_print(r->arena, "block '%s'", block->name);
}

// Checks that a further use of a name is of the same kind.
static bool check_use(Resolver *r, const Claim *claim, const Expr *call,
                      const Arg *arg, const Op *op, const Block *block)
{
    const char *name = claim->weights.name;
    int errors = r->diag->error_count;

    if (arg != NULL && claim->named == NULL)
        error(r->diag, arg->value->pos, "there is a layer '%s' already, whose "
              "weights are its own; weights = \"%s\" there shares them", name,
              name);
    else if (arg == NULL && claim->named != NULL)
        error(r->diag, call->pos, "'%s' are shared weights, and this layer "
              "without them has their name", name);
    else if (arg == NULL && !claim->shares)
        error(r->diag, call->pos, "there is a layer '%s' already", name);
    else if (claim->op != op || claim->block != block)
        error(r->diag, call->pos, "'%s' are the weights of %s, and this is %s",
              name, kind_of(r, claim->op, claim->block),
              kind_of(r, op, block));
    if (r->diag->error_count == errors) return true;
    note(r->diag, claim->call->pos, "it is here");
    return false;
}

static void list_named(Resolver *r, Claim *claim)
{
    Claims *claims = &r->claims;
    claims->named = arena_grow(r->arena, claims->named, &claims->capacity,
                               (int64_t)claims->count + 1,
                               // An array of pointers.
                               // NOLINTNEXTLINE(bugprone-sizeof-expression)
                               sizeof *claims->named);
    claims->named[claims->count++] = claim;
}

Claim *claim_weights(Resolver *r, const Expr *call, const char *layer,
                     const Op *op, const Block *block)
{
    const Arg *arg = weights_argument(call, block);
    const char *name = claimed_name(r, arg, layer);
    Claim *claim = name == NULL ? NULL : table_find(&r->claims.by_name, name);

    if (name == NULL) return NULL;
    if (claim != NULL)
        return check_use(r, claim, call, arg, op, block) ? claim : NULL;
    claim = NEW(r->arena, Claim);
    *claim = (Claim){ .call = call, .op = op, .block = block, .named = arg,
                      .shares = arg != NULL || r->scope->shares,
                      .weights.name = name };
    table_set(&r->claims.by_name, r->arena, name, claim);
    // A loop may run once.
    if (arg != NULL && r->scope->repeats == 0) list_named(r, claim);
    return claim;
}

Weights *weights_of(Claim *claim)
{
    return claim->shares ? &claim->weights : NULL;
}

void share_with_block(Scope *scope, Arena *arena, const Claim *claim)
{
    scope->weights = arena_print(arena, "%s.", claim->weights.name);
    scope->shares = claim->shares;
}

bool check_claim(Resolver *r, Claim *claim, const Expr *call, int32_t first)
{
    int32_t layers = r->claims.layers - first;
    bool same = claim->uses++ == 0 || claim->layers == layers;

    if (same && (layers > 0 || claim->named == NULL)) {
        claim->layers = layers;
        return true;
    }
    if (same) {
        error(r->diag, call->pos, "block '%s' has no parameters to share",
              claim->block->name);
        return false;
    }
    error(r->diag, call->pos, "'%s' are the weights of %d layers, and this "
          "call has %d with parameters", claim->weights.name,
          (int)claim->layers, (int)layers);
    note(r->diag, claim->call->pos, "it is here");
    return false;
}

void check_shared(Resolver *r)
{
    // After an error, layers that share may be missing.
    if (r->diag->error_count > 0) return;
    for (int32_t i = 0; i < r->claims.count; i++) {
        const Claim *claim = r->claims.named[i];
        if (claim->uses == 1)
            warning(r->diag, claim->named->value->pos, "no other %s has the "
                    "weights '%s'", claim->block == NULL ? "layer" : "call",
                    claim->weights.name);
    }
}
