// Parameters that training does not change.  A layer's argument `train` says
// so; the calls of a block inherit it.  So does a glob of the setting `freeze`
// or of --freeze that matches a parameter's name.
//
// A layer decides as it makes a parameter, since a batch norm with nothing to
// train reads its running statistics.
#define _POSIX_C_SOURCE 200809L

#include <fnmatch.h>
#include <string.h>
#include "resolve.h"

// ---- the argument `train` ---------------------------------------------------

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

// ---- globs ------------------------------------------------------------------

// Appends a glob to those of the net.
static void add_glob(Resolver *r, const char *text, Pos pos)
{
    r->frozen = arena_grow(r->arena, r->frozen, &r->frozen_capacity,
                           (int64_t)r->frozen_count + 1, sizeof *r->frozen);
    r->frozen[r->frozen_count++] = (Glob){ .text = text, .pos = pos };
}

void read_globs(Resolver *r)
{
    for (int i = 0; i < r->options->freeze_count; i++)
        add_glob(r, r->options->freeze[i], (Pos){ .file = NONE });
}

void add_frozen(Resolver *r, const Stmt *stmt)
{
    for (const Arg *item = stmt->items; item != NULL; item = item->next) {
        Datum datum = evaluate(r, item->value);
        if (datum.kind == TEXT)
            add_glob(r, datum.text, item->value->pos);
        else if (datum.kind != POISON)
            error(r->diag, item->value->pos, "freeze is a list of names in "
                  "quotes, as in \"stem*\", \"layer1.*\"");
    }
}

bool freezes(Build *b, const char *path, bool of_norm)
{
    Resolver *r = b->resolver;
    const char *name = strrchr(path, '.') + 1;
    bool frozen = is_left_out(r->part, name, of_norm);
    for (int32_t i = 0; i < r->frozen_count; i++) {
        if (fnmatch(r->frozen[i].text, path, 0) != 0) continue;
        r->frozen[i].matched = true;
        frozen = true;
    }
    return frozen;
}

// Returns the name of the nearest parameter, or NULL.
static const char *nearest_parameter(const Resolver *r, const char *text)
{
    const Graph *g = r->g;
    const char **names = NEW_ARRAY(r->arena, (size_t)g->value_count + 1,
                                   const char *);
    int count = 0;
    for (ValueId v = 0; v < g->value_count; v++)
        if (g->values[v].kind == PARAM) names[count++] = g->values[v].name;
    return nearest_name(text, names, count);
}

void check_globs(Resolver *r)
{
    for (int32_t i = 0; i < r->frozen_count; i++) {
        const Glob *glob = &r->frozen[i];
        if (glob->matched) continue;
        const char *near = nearest_parameter(r, glob->text);
        error(r->diag, glob->pos, near != NULL
              ? "%s '%s' matches no parameter; did you mean '%s'?"
              : "%s '%s' matches no parameter; --emit names lists them",
              glob->pos.file == NONE ? "--freeze" : "freeze", glob->text,
              near);
    }
}
