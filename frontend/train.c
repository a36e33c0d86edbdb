// The train section: its settings, each allowed once, and the objects that they
// make: the optimizer, the learning-rate schedule, and the state of every
// parameter.
#include <inttypes.h>
#include <string.h>
#include "../ir/families/loss_scale.h"
#include "../ir/families/prune.h"
#include "resolve.h"

enum { MAX_EPOCHS = 1000000000 };
enum { FIRST_LOSS_SCALE = 65536, SCALE_INTERVAL = 2000 };

// Returns an integer from 1 to most, or 1 after an error.
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

static void set_accumulate(Resolver *r, const Stmt *stmt)
{
    r->accumulate = positive(r, stmt, MAX_BATCH);
}

double number_between(Resolver *r, const Expr *expr, const char *name,
                      double most)
{
    Datum datum = evaluate(r, expr);
    double number = datum.kind == INT ? (double)datum.i : datum.f;

    if (datum.kind == POISON) return 0;
    if ((datum.kind == INT || datum.kind == FLOAT) && number > 0 &&
        number < most)
        return check_small(r, expr->pos, name, number) ? number : 0;
    error(r->diag, expr->pos, "%s is a number above 0 and below %.15g", name,
          most);
    return 0;
}

static void set_clip_value(Resolver *r, const Stmt *stmt)
{
    r->g->training.clip_value = number_between(r, stmt->value, stmt->name,
                                              MOST_NUMBER);
}

static void set_clip_norm(Resolver *r, const Stmt *stmt)
{
    r->g->training.clip_norm = number_between(r, stmt->value, stmt->name,
                                              MOST_NUMBER);
}

static void set_average(Resolver *r, const Stmt *stmt)
{
    r->g->training.average = number_between(r, stmt->value, stmt->name, 1);
}

// Sets a constant loss scale, or a dynamic one.
static void set_loss_scale(Resolver *r, const Stmt *stmt)
{
    const Expr *value = stmt->value;

    if (value->kind == EXPR_NAME && strcmp(value->text, "dynamic") == 0) {
        r->g->training.loss_scale = FIRST_LOSS_SCALE;
        r->scale_moves = true;
        return;
    }
    Datum datum = evaluate(r, value);
    double scale = datum.kind == INT ? (double)datum.i : datum.f;
    if (datum.kind == POISON) return;
    r->scale_stays =
        (datum.kind == INT || datum.kind == FLOAT) && is_loss_scale(scale);
    if (r->scale_stays)
        r->g->training.loss_scale = scale != 1 ? scale : 0;
    else
        error(r->diag, value->pos, "loss_scale is dynamic, or a power of two "
              "from 2^-24 to 2^24");
}

static void set_loss_scale_interval(Resolver *r, const Stmt *stmt)
{
    r->scale_interval = positive(r, stmt, MAX_EPOCHS);
    r->scale_interval_pos = stmt->pos;
}

static void set_decay(Resolver *r, const Stmt *stmt)
{
    const Expr *value = stmt->value;
    bool is_word = value->kind == EXPR_NAME;

    if (is_word && strcmp(value->text, "weights") == 0)
        r->decays_vectors = false;
    else if (!is_word || strcmp(value->text, "all") != 0)
        error(r->diag, value->pos, "decay is all or weights");
}

// Returns a call such as sgd(lr = 0.1), or the name of an operator whose
// arguments all have defaults.  It is built after the net.
static const Expr *called(Resolver *r, const Stmt *stmt, const char *wanted)
{
    const Expr *value = stmt->value;

    if (value->kind != EXPR_CALL && value->kind != EXPR_NAME)
        error(r->diag, value->pos, "%s", wanted);
    return value;
}

static void set_optimizer(Resolver *r, const Stmt *stmt)
{
    r->optimizer = called(r, stmt, "an optimizer is needed here, as in "
                          "adam(lr = 1e-3)");
}

static void set_schedule(Resolver *r, const Stmt *stmt)
{
    r->schedule = called(r, stmt, "a schedule is needed here, as in "
                         "cosine(steps = 10000)");
}

// The values of a setting: one; a list; a list in which each has a factor.
typedef enum Values { ONE, LIST_OF, FACTORS } Values;

// The settings of the section.
static const struct Setting {
    const char *name;
    Values      values;
    void      (*set)(Resolver *r, const Stmt *stmt);
    const char *meaning;        // for the reference
} settings[] = {
    { "batch", ONE, set_batch, "samples of a training step; default 1" },
    { "accumulate", ONE, set_accumulate, "batches of a training step of the "
      "trainer program.  Setting it adds the calls accum and apply; gradients "
      "are means over the samples of all these batches" },
    { "epochs", ONE, set_epochs, "passes of the trainer program over the "
      "data; default 1" },
    { "optimizer", ONE, set_optimizer, "the update rule of parameters; "
      "required" },
    { "schedule", ONE, set_schedule, "the factor of the learning rate for "
      "each step; default constant" },
    { "freeze", LIST_OF, add_frozen, "parameters whose names match one of "
      "these are not trained, as in \"stem*\", \"layer1.*\"" },
    { "rate", FACTORS, add_rates, "factors of the learning rate for "
      "parameters whose names match; the last that matches counts, as in "
      "\"logits.*\": 10" },
    { "prune", ONE, set_prune, "the kernels' weights of least magnitude "
      "become 0: polynomial(final, begin, end, every = 100, initial = 0, "
      "power = 3, of = \"*\"), or constant(final, begin, end = none, "
      "every = 100, of = \"*\").  The training steps begin, begin + every, "
      "... up to end make new masks of the kernels whose names match; of = "
      "\"conv*\", \"dense*\" is a list" },
    { "quantize", ONE, set_quantize, "maps and weights are rounded as "
      "--precision int8 stores them: int8(delay = 0, average = 0.99)" },
    { "decay", ONE, set_decay, "the parameters of weight_decay: all, or "
      "weights, which excludes biases and norms" },
    { "clip_value", ONE, set_clip_value, "each element of a gradient is "
      "clipped to plus or minus this" },
    { "clip_norm", ONE, set_clip_norm, "all gradients are scaled down "
      "together if their norm exceeds this" },
    { "average", ONE, set_average, "evaluation and inference read moving "
      "averages of the parameters, with this decay at each update" },
    { "loss_scale", ONE, set_loss_scale, "gradients are computed from the "
      "loss times this and divided by it before the update.  A step with a "
      "gradient that is not finite is skipped.  A power of two from 2^-24 to "
      "2^24; or dynamic, which starts at 65536, is halved by a skipped step, "
      "and doubled after loss_scale_interval other steps, within these "
      "limits.  Default dynamic with --precision f16, otherwise 1" },
    { "loss_scale_interval", ONE, set_loss_scale_interval, "training steps "
      "after which a dynamic loss_scale is doubled; default 2000" },
};
enum { SETTING_COUNT = sizeof settings / sizeof settings[0] };

bool setting_row(int i, const char **name, const char **meaning)
{
    if (i >= SETTING_COUNT) return false;
    *name = settings[i].name;
    *meaning = settings[i].meaning;
    return true;
}

// "batch, epochs and optimizer"
static const char *list_settings(Arena *arena)
{
    const char *text = settings[0].name;
    for (int i = 1; i < SETTING_COUNT; i++)
        text = arena_print(arena, "%s%s%s", text,
                           i + 1 < SETTING_COUNT ? ", " : " and ",
                           settings[i].name);
    return text;
}

// Reports values after the first of a setting that has one, and factors.
static bool has_values(Resolver *r, const Stmt *stmt, Values values)
{
    const Arg *extra = stmt->items;
    if (values == FACTORS) return true;
    while (values == LIST_OF && extra != NULL && extra->factor == NULL)
        extra = extra->next;
    if (values == ONE && extra->factor == NULL) extra = extra->next;
    if (extra == NULL) return true;
    error(r->diag, extra->pos, extra->factor != NULL
          ? "%s has no factor" : "%s has one value, and this is one more",
          stmt->name);
    return false;
}

static void read_setting(Resolver *r, const Stmt *stmt)
{
    const char *names[SETTING_COUNT];

    for (int i = 0; i < SETTING_COUNT; i++) {
        names[i] = settings[i].name;
        if (strcmp(stmt->name, names[i]) != 0) continue;
        if (has_values(r, stmt, settings[i].values)) settings[i].set(r, stmt);
        return;
    }
    const char *near = nearest_name(stmt->name, names, SETTING_COUNT);
    error(r->diag, stmt->pos, near != NULL
          ? "train has no setting '%s'; did you mean '%s'?"
          : "train has no setting '%s'; it has %s",
          stmt->name, near != NULL ? near : list_settings(r->arena));
    if (near != NULL) fixit(r->diag, stmt->pos, near);
}

// True, with an error, if the setting occurs before.
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

// Sets the batch of the graph, and its samples at a time.
static void choose_batch(Resolver *r)
{
    int64_t most = r->options->microbatch;
    Graph *g = r->g;

    if (r->options->batch > 0) r->batch = r->options->batch;
    g->batch = most > 0 && most < r->batch ? most : r->batch;
    if (r->ast->train != NULL && r->accumulate > MAX_BATCH / r->batch)
        error(r->diag, r->ast->train->pos, "%" PRId64 " batches of %" PRId64
              " samples are more than the %d that a training step may have",
              r->accumulate, r->batch, MAX_BATCH);
    if (r->options->mode == INFER || (most == 0 && r->accumulate == 0)) return;
    g->training.step_batch = r->batch;
    g->training.accumulate = r->accumulate;
}

// Sets the interval of a dynamic loss scale; a constant one has none.  In f16,
// gradients underflow easily, so the default is dynamic.
static void choose_scale(Resolver *r)
{
    Graph *g = r->g;

    if (g->map == F16 && r->ast->train != NULL && !r->scale_stays &&
        !r->scale_moves) {
        g->training.loss_scale = FIRST_LOSS_SCALE;
        r->scale_moves = true;
    }
    if (r->scale_moves)
        g->training.loss_scale_interval =
            r->scale_interval > 0 ? r->scale_interval : SCALE_INTERVAL;
    else if (r->scale_stays && r->scale_interval > 0)
        error(r->diag, r->scale_interval_pos, "loss_scale_interval is for "
              "loss_scale = dynamic");
}

void read_train(Resolver *r)
{
    const Stmt *train = r->ast->train;

    r->batch = r->epochs = 1;
    r->decays_vectors = true;
    if (train != NULL)
        for (const Stmt *s = train->body.first; s != NULL; s = s->next)
            if (!is_repeated(r, s)) read_setting(r, s);
    choose_batch(r);
    choose_scale(r);
    r->g->training.epochs = r->epochs;
    if (r->options->mode == TRAIN && train == NULL)
        error(r->diag, r->ast->net->pos, "there is no train section to say how "
              "'%s' is trained; --mode infer needs none", r->ast->net->name);
    else if (train != NULL && r->optimizer == NULL)
        error(r->diag, train->pos, "train needs an optimizer, as in "
              "optimizer = adam(lr = 1e-3)");
}

// ---- the optimizer and its schedule -----------------------------------------

// Adds <param>.<name>, a state that training keeps for a parameter.
static void add_state(Graph *g, ValueId param, const char *name, Init init)
{
    const Value *value = &g->values[param];
    const char *path = arena_print(g->arena, "%s.%s", value->name, name);
    ValueId state = graph_value(g, path, STATE, g->real, value->shape,
                                value->pos);
    g->values[state].state_of = param;
    g->values[state].init = init;
}

// Adds <param>.pruned, a bit for each weight.
static void add_bits(Graph *g, ValueId param)
{
    const Value *value = &g->values[param];
    const char *path = arena_print(g->arena, "%s.pruned", value->name);
    ValueId bits = graph_value(g, path, STATE, U8, shape_of_bits(value->shape),
                               value->pos);
    g->values[bits].state_of = param;
}

// Adds the optimizer's states for each parameter in order, then the averages,
// then the bits: training and evaluation share the layout.
static void build_states(Resolver *r)
{
    Graph *g = r->g;
    ValueId count = g->value_count;

    for (ValueId v = 0; v < count; v++)
        for (int k = 0; is_trained(&g->values[v]) &&
             k < g->training.optimizer_states;
             k++)
            add_state(g, v, g->training.optimizer->state[k],
                        (Init){ INIT_CONSTANT, 0 });
    for (ValueId v = 0; v < count && g->training.average != 0; v++)
        if (is_trained(&g->values[v]))
            add_state(g, v, "average", (Init){ INIT_COPY, 1 });
    for (ValueId v = 0; v < count; v++)
        if (is_pruned(r, v)) add_bits(g, v);
}

// Adds <param>.sum, where the gradients of several batches accumulate.
static void add_sum(Graph *g, ValueId v)
{
    const Value *value = &g->values[v];
    ValueId sum = graph_value(
        g, arena_print(g->arena, "%s.sum", value->name), GRADIENT, g->real,
        value->shape, value->pos);
    g->values[sum].persistent = true;
    g->values[sum].gradient_of = v;
}

// Adds the sums of parameters.  With `ghost`, running statistics accumulate
// too: those of several layers have a sum for each, since a step moves them by
// each layer's.
static void build_sums(Graph *g, bool ghost)
{
    ValueId count = g->value_count;

    for (ValueId v = 0; v < count; v++) {
        const Value *value = &g->values[v];
        bool moves = value->kind == STATISTIC && !value->frozen && ghost;
        int32_t sums = moves ? value->movers : is_trained(value);
        for (int32_t k = 0; k < sums; k++) add_sum(g, v);
    }
}

// Replaces parameters by their averages, for evaluation.
static void read_averages(Graph *g)
{
    for (ValueId v = 0; v < g->value_count; v++)
        if (g->values[v].init.kind == INIT_COPY)
            graph_replace(g, g->values[v].state_of, v);
}

static void choose_decay(const Resolver *r)
{
    for (ValueId v = 0; v < r->g->value_count; v++) {
        Value *value = &r->g->values[v];
        value->decayed &= value->shape.rank > 1 || r->decays_vectors;
    }
}

// Builds the operator that a setting calls.  NULL without a call, after an
// error, and for inference, which only reports errors.
static const Op *build_called(Resolver *r, const Expr *call, unsigned flag,
                              const char *what)
{
    ArgValue args[MAX_ARGS] = {{ .given = false }};

    if (call == NULL) return NULL;
    const Op *op = find_flagged(r, call, flag, what);
    if (op == NULL) return NULL;
    // It needs no layer name: a net has one.
    Build b = { .g = r->g, .op = op, .pos = call->pos, .name = op->name,
                .arg = args };
    r->scope = NULL;
    if (!bind_arguments(r, &b, call, NULL, 0)) return NULL;
    op->build(&b);
    if (r->g->mode != INFER) return op;
    r->g->training.optimizer_states = 0;
    r->g->training.prune = NULL;
    return NULL;
}

void build_training(Resolver *r)
{
    Graph *g = r->g;

    g->training.optimizer = build_called(r, r->optimizer, OPTIMIZER,
                                         "optimizer");
    if (g->training.optimizer != NULL)
        g->training.optimizer_pos = r->optimizer->pos;
    g->training.schedule = build_called(r, r->schedule, SCHEDULE, "schedule");
    if (g->training.schedule != NULL)
        g->training.schedule_pos = r->schedule->pos;
    if (r->diag->error_count > 0 || g->training.optimizer == NULL) return;
    choose_decay(r);
    build_states(r);
    if (is_accumulating(g)) build_sums(g, r->options->ghost);
    if (g->mode == EVAL) read_averages(g);
}
