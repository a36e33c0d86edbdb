// A layer looks its parameters' names up in the globs as it makes them.  Each
// glob must match one.
#define _POSIX_C_SOURCE 200809L

#include <fnmatch.h>
#include <string.h>
#include "resolve.h"

static void add_glob(Resolver *r, Globs *globs, Glob glob)
{
    globs->at = arena_grow(r->arena, globs->at, &globs->capacity,
                           (int64_t)globs->count + 1, sizeof *globs->at);
    globs->at[globs->count++] = glob;
}

void read_globs(Resolver *r)
{
    r->freeze.setting = "freeze";
    r->rate.setting = "rate";
    for (int i = 0; i < r->options->freeze_count; i++)
        add_glob(r, &r->freeze, (Glob){ .text = r->options->freeze[i],
                                        .pos = { .file = NONE } });
}

// Returns the glob of an item in quotes; NULL after an error, which says what
// the setting is.
static const char *glob_of(Resolver *r, const Arg *item, const char *wanted)
{
    Datum datum = evaluate(r, item->value);
    if (datum.kind == TEXT) return datum.text;
    if (datum.kind != POISON) error(r->diag, item->value->pos, "%s", wanted);
    return NULL;
}

void add_frozen(Resolver *r, const Stmt *stmt)
{
    for (const Arg *item = stmt->items; item != NULL; item = item->next) {
        const char *text = glob_of(r, item, "freeze is a list of names in "
                                   "quotes, as in \"stem*\", \"layer1.*\"");
        if (text != NULL)
            add_glob(r, &r->freeze, (Glob){ text, item->value->pos, 1, false });
    }
}

void add_rates(Resolver *r, const Stmt *stmt)
{
    static const char wanted[] = "rate is a list of names in quotes, each with "
                                 "a factor, as in \"logits.*\": 10";
    for (const Arg *item = stmt->items; item != NULL; item = item->next) {
        const char *text = glob_of(r, item, wanted);
        if (text == NULL) continue;
        if (item->factor == NULL) {
            error(r->diag, item->pos, "%s", wanted);
            continue;
        }
        double factor = number_between(r, item->factor, "a factor of rate",
                                       MOST_NUMBER);
        add_glob(r, &r->rate, (Glob){ text, item->value->pos, factor, false });
    }
}

void add_pruned(Resolver *r, const Arg *of, Pos call)
{
    const char *text = of == NULL ? "*"
        : glob_of(r, of, "of is a list of names in quotes, as in \"conv*\"");
    Pos pos = of == NULL ? call : of->value->pos;
    if (text != NULL)
        add_glob(r, &r->prune, (Glob){ text, pos, 1, false });
}

const Glob *matching_glob(Globs *globs, const char *path)
{
    const Glob *last = NULL;
    for (int32_t i = 0; i < globs->count; i++) {
        if (fnmatch(globs->at[i].text, path, 0) != 0) continue;
        globs->at[i].matched = true;
        last = &globs->at[i];
    }
    return last;
}

double rate_factor(Build *b, const char *path)
{
    Resolver *r = b->resolver;
    const Glob *glob = matching_glob(&r->rate, path);
    return glob != NULL ? glob->factor : 1;
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

static void check_matched(Resolver *r, const Globs *globs)
{
    for (int32_t i = 0; i < globs->count; i++) {
        const Glob *glob = &globs->at[i];
        if (glob->matched) continue;
        const char *near = nearest_parameter(r, glob->text);
        error(r->diag, glob->pos, near != NULL
              ? "%s%s '%s' matches no parameter; did you mean '%s'?"
              : "%s%s '%s' matches no parameter; --emit names lists them",
              glob->pos.file == NONE ? "--" : "", globs->setting, glob->text,
              near);
    }
}

void check_globs(Resolver *r)
{
    // After an error, layers that a glob names may be missing.
    if (r->diag->error_count > 0) return;
    check_matched(r, &r->freeze);
    check_matched(r, &r->rate);
}
