// The train section: a handful of settings, each once, and the optimizer with
// the state that it keeps for every parameter.
#include <inttypes.h>
#include <string.h>
#include "resolve.h"

enum { MAX_BATCH = 1 << 24, MAX_EPOCHS = 1000000000 };

// 1 after an error.
static int64_t positive(Resolver *r, const Stmt *stmt, int64_t most)
{
    Datum datum = evaluate(r, stmt->value);

    if (datum.kind == POISON) return 1;
    if (datum.kind == INT && datum.i >= 1 && datum.i <= most) return datum.i;
    error(r->diag, stmt->value->pos, "%s is an integer from 1 to %" PRId64,
          stmt->name, most);
    return 1;
}

static void set_batch(Resolver *r, const Stmt *stmt)
{
    r->batch = positive(r, stmt, MAX_BATCH);
}

static void set_epochs(Resolver *r, const Stmt *stmt)
{
    r->epochs = positive(r, stmt, MAX_EPOCHS);
}

// sgd(lr = 0.1), or adam where all has defaults; built after the net.
static void set_optimizer(Resolver *r, const Stmt *stmt)
{
    const Expr *value = stmt->value;

    r->optimizer = value;
    if (value->kind == EXPR_CALL || value->kind == EXPR_NAME) return;
    error(r->diag, value->pos, "an optimizer is wanted here, as in "
          "adam(lr = 1e-3)");
}

// What the section may set.
static const struct Setting {
    const char *name;
    void      (*set)(Resolver *r, const Stmt *stmt);
    const char *meaning;        // for the reference
} settings[] = {
    { "batch", set_batch, "samples of a training step, 1 if not said" },
    { "epochs", set_epochs, "how often the trainer program goes through the "
      "data, 1 if not said" },
    { "optimizer", set_optimizer, "how parameters change; must be given" },
};
enum { SETTING_COUNT = sizeof settings / sizeof settings[0] };

bool setting_row(int i, const char **name, const char **meaning)
{
    if (i >= SETTING_COUNT) return false;
    *name = settings[i].name;
    *meaning = settings[i].meaning;
    return true;
}

static void read_setting(Resolver *r, const Stmt *stmt)
{
    const char *names[SETTING_COUNT];

    for (int i = 0; i < SETTING_COUNT; i++) {
        names[i] = settings[i].name;
        if (strcmp(stmt->name, names[i]) != 0) continue;
        settings[i].set(r, stmt);
        return;
    }
    const char *near = nearest_name(stmt->name, names, SETTING_COUNT);
    error(r->diag, stmt->pos, near != NULL
          ? "train has no setting '%s'; did you mean '%s'?"
          : "train has no setting '%s'; it has batch, epochs and optimizer",
          stmt->name, near != NULL ? near : "");
    if (near != NULL) fixit(r->diag, stmt->pos, near);
}

// Each setting once.
static bool is_repeated(Resolver *r, const Stmt *stmt)
{
    for (const Stmt *s = r->ast->train->body.first; s != stmt; s = s->next)
        if (strcmp(s->name, stmt->name) == 0) {
            error(r->diag, stmt->pos, "%s is set twice", stmt->name);
            note(r->diag, s->pos, "first here");
            return true;
        }
    return false;
}

void read_train(Resolver *r)
{
    const Stmt *train = r->ast->train;

    r->batch = r->epochs = 1;
    if (train != NULL)
        for (const Stmt *s = train->body.first; s != NULL; s = s->next)
            if (!is_repeated(r, s)) read_setting(r, s);
    if (r->options->batch > 0) r->batch = r->options->batch;
    r->g->batch = r->batch;
    r->g->epochs = r->epochs;
    if (r->options->mode == TRAIN && train == NULL)
        error(r->diag, r->ast->net->pos, "there is no train section to say how "
              "'%s' is trained; --mode infer needs none", r->ast->net->name);
    else if (train != NULL && r->optimizer == NULL)
        error(r->diag, train->pos, "train wants an optimizer, as in "
              "optimizer = adam(lr = 1e-3)");
}

// ---- the optimizer ----------------------------------------------------------

// <param>.<state>, zeros, for each parameter in order: the state of training
// and of evaluation lie alike.
static void build_states(Graph *g)
{
    ValueId count = g->value_count;

    for (ValueId v = 0; v < count; v++) {
        if (g->values[v].kind != PARAM) continue;
        for (int k = 0; k < g->optimizer_states; k++) {
            const Value *param = &g->values[v];
            const char *name = arena_print(g->arena, "%s.%s", param->name,
                                           g->optimizer->state[k]);
            graph_value(g, name, STATE, g->real, param->shape, param->pos);
        }
    }
}

// Nothing to name: the optimizer is one for the whole net.
void build_optimizer(Resolver *r)
{
    Graph *g = r->g;
    const Expr *call = r->optimizer;
    ArgValue args[MAX_ARGS] = {{ .given = false }};

    if (call == NULL) return;
    const Op *op = find_flagged(r, call, OPTIMIZER, "optimizer");
    if (op == NULL) return;
    Build b = { .g = g, .op = op, .pos = call->pos, .name = op->name,
                .arg = args };
    r->scope = NULL;
    if (!bind_arguments(r, &b, call, NULL, 0)) return;
    if (g->mode == INFER) return;
    g->optimizer = op;
    g->optimizer_pos = call->pos;
    op->build(&b);
    if (r->diag->error_count == 0) build_states(g);
}
