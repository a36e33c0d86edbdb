// Parameters that training does not change.  A layer's argument `train` says
// so; the calls of a block inherit it.  So does a glob of the setting `freeze`
// or of --freeze that matches a parameter's name (param_globs.c).
//
// A layer decides as it makes a parameter, since a batch norm with nothing to
// train reads its running statistics.
#include <string.h>
#include "resolve.h"

const Arg *train_argument(const Expr *call)
{
    return call_argument(call, "train");
}

const char *part_of_call(Resolver *r, const Expr *call)
{
    const Arg *arg = train_argument(call);
    if (arg == NULL) return r->part;
    if (arg->value->kind == EXPR_NAME &&
        is_word_of(arg->value->text, "all|bias|norm|none"))
        return arg->value->text;
    error(r->diag, arg->value->pos, "train is all, bias, norm or none");
    return NULL;
}

// True if a layer's word freezes a parameter.
static bool is_left_out(const char *part, const char *name, bool of_norm)
{
    if (strcmp(part, "all") == 0) return false;
    if (strcmp(part, "norm") == 0) return !of_norm;
    return strcmp(part, "none") == 0 || strcmp(name, "bias") != 0;
}

bool freezes(Build *b, const char *path, bool of_norm)
{
    Resolver *r = b->resolver;
    const char *name = strrchr(path, '.') + 1;
    return matching_glob(&r->freeze, path) != NULL ||
           is_left_out(r->part, name, of_norm);
}
