// The ends of a net: losses, metrics, outputs; how it is trained; and the
// options that it is compiled with.
#define _POSIX_C_SOURCE 200809L

#include "case.h"
#include "net.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../../frontend/resolve.h"
#include "../../passes/pass.h"

enum { TRIES = 60 };

// ---- losses, metrics, outputs -----------------------------------------------

static bool is_taken(const Net *n)
{
    Arena *arena = arena_new();
    bool good = try_net(n, arena, EVAL) != NULL;
    arena_free(arena);
    return good;
}

// A loss mostly starts from a value that training can change.
static const Pooled *draw_scores(Net *n)
{
    const Pooled *p = draw_pooled(n);
    for (int i = 0; i < 8 && !p->trained; i++) p = draw_pooled(n);
    return p;
}

// `loss op(...)` or `metric op(...)`.
static bool draw_end(Net *n, const char *word, unsigned flag)
{
    for (int i = 0; i < TRIES; i++) {
        Net saved = *n;
        const Pooled *first = draw_chance(&n->draw, 0.2) ? NULL
                                                         : draw_scores(n);
        const char *call = draw_call(n, draw_op(n, flag), first);
        add_line(&n->ends, arena_print(n->arena, "%s %s", word, call));
        if (is_taken(n)) return true;
        Draw draw = n->draw;
        *n = saved;
        n->draw = draw;
    }
    return false;
}

static void draw_outputs(Net *n)
{
    int64_t count = draw_int(&n->draw, 0, 3);
    for (int64_t i = 0; i < count; i++) {
        Pooled *p = draw_pooled(n);
        Net saved = *n;
        if (p == NULL || p->is_input) continue;
        add_line(&n->ends, arena_print(n->arena, "output %s", p->name));
        if (!is_taken(n)) {
            Draw draw = n->draw;
            *n = saved;
            n->draw = draw;
        }
    }
}

// Parts that a net may have several times.
static const char *const ends[] = { "output", "loss", "metric" };
enum { ENDS = sizeof ends / sizeof ends[0] };

void list_ends(void)
{
    for (int i = 0; i < ENDS; i++) printf("%s.several\n", ends[i]);
}

static int count_ends(const Net *n, const char *end)
{
    int count = 0;
    for (int i = 0; i < n->ends.count; i++)
        count += strncmp(n->ends.at[i], end, strlen(end)) == 0;
    return count;
}

// All nets share one struct of the header, which has room for four figures.
enum { MOST_FIGURES = 4 };

bool draw_ends(Net *n)
{
    int64_t metrics = draw_int(&n->draw, 0, 2);

    for (int tries = 0; tries < TRIES && count_ends(n, "output") == 0; tries++)
        draw_outputs(n);
    if (count_ends(n, "output") == 0 || !draw_end(n, "loss", LOSS)) return false;
    while (draw_chance(&n->draw, 0.4))
        if (count_ends(n, "loss") + metrics < MOST_FIGURES)
            draw_end(n, "loss", LOSS);
    for (int64_t i = 0; i < metrics; i++) draw_end(n, "metric", METRIC);
    for (int i = 0; i < ENDS; i++)
        if (count_ends(n, ends[i]) > 1)
            add_drawn(n, arena_print(n->arena, "%s.several", ends[i]));
    return true;
}

// ---- the train section ------------------------------------------------------

static void add_setting(Net *n, const char *name, const char *value)
{
    add_line(&n->train, arena_print(n->arena, "%s = %s", name, value));
    add_drawn(n, arena_print(n->arena, "train.%s", name));
}

static const char *number_text(Net *n, double low, double high)
{
    double f = exp2((double)draw_int(&n->draw, -6, 2));
    if (!n->exact) f = draw_real(&n->draw, low, high);
    return arena_print(n->arena, "%.6g", f < high ? f : high / 2);
}

// A batch of 1 need not be said.
static void set_batch(Net *n)
{
    if (n->batch == 1 && draw_chance(&n->draw, 0.5)) return;
    add_setting(n, "batch", arena_print(n->arena, "%lld", (long long)n->batch));
}

static void set_epochs(Net *n)
{
    add_setting(n, "epochs", "2");
}

static void set_optimizer(Net *n)
{
    add_setting(n, "optimizer", draw_call(n, draw_op(n, OPTIMIZER), NULL));
}

static void set_schedule(Net *n)
{
    add_setting(n, "schedule", draw_call(n, draw_op(n, SCHEDULE), NULL));
}

static void set_decay(Net *n)
{
    add_setting(n, "decay", draw_chance(&n->draw, 0.5) ? "all" : "weights");
}

static void set_clip_value(Net *n)
{
    add_setting(n, "clip_value", number_text(n, 0.001, 0.5));
}

// A root is no whole number.
static void set_clip_norm(Net *n)
{
    if (!n->exact) add_setting(n, "clip_norm", number_text(n, 0.01, 2));
}

static void set_average(Net *n)
{
    add_setting(n, "average", number_text(n, 0.05, n->exact ? 0.75 : 0.999));
}

// In the integer mode scaled values stay whole, but must stay small: more
// often, by numbers of its own.
static void set_loss_scale(Net *n)
{
    static const char *const scales[] = {
        "dynamic", "dynamic", "1024", "1/4096", "16777216", "1",
    };
    if (!n->exact)
        add_setting(n, "loss_scale", scales[draw_int(&n->draw, 0, 5)]);
}

static void set_exact_loss_scale(Net *n)
{
    static const char *const scales[] = { "1", "1", "2", "8", "1/4" };
    Draw draw = draw_named(n->seed, "loss scale");
    n->scales_loss = n->exact && draw_chance(&draw, 0.6);
    if (n->scales_loss)
        add_setting(n, "loss_scale", scales[draw_int(&draw, 0, 4)]);
}

// A setting for some of the parameters, by their names or by the beginnings of
// them; by numbers of its own.  With factors each has one of these.
static void set_of_params(Net *n, const char *setting,
                          const char *const *factors, int count)
{
    Draw draw = draw_named(n->seed, setting);
    if (!draw_chance(&draw, 0.25)) return;
    Arena *arena = arena_new();
    const Graph *g = try_net(n, arena, EVAL);
    const char *globs = NULL;
    for (ValueId v = 0; g != NULL && v < g->value_count; v++) {
        const char *name = g->values[v].name;
        if (g->values[v].kind != PARAM || !draw_chance(&draw, 0.3)) continue;
        int length = (int)strlen(name);
        int kept = draw_chance(&draw, 0.7) ? length
                                           : (int)strcspn(name, ".") + 1;
        globs = arena_print(n->arena, "%s%s\"%.*s%s\"%s", globs ? globs : "",
                            globs ? ", " : "", kept, name,
                            kept < length ? "*" : "",
                            count > 0 ? factors[draw_int(&draw, 0, count - 1)]
                                      : "");
    }
    arena_free(arena);
    if (globs != NULL) add_setting(n, setting, globs);
}

static void set_freeze(Net *n)
{
    set_of_params(n, "freeze", NULL, 0);
}

// In the integer mode a step stays whole.
static void set_rate(Net *n)
{
    static const char *const factors[] = { ": 2", ": 1", ": 0.3", ": 1/8" };
    set_of_params(n, "rate", factors, n->exact ? 2 : 4);
}

static bool may_train(const Net *n)
{
    Arena *arena = arena_new();
    bool may = try_net(n, arena, TRAIN) != NULL;
    arena_free(arena);
    return may;
}

// Masks in the three steps that are taken, for all kernels or for some; by
// numbers of its own.  Not every net has such kernels.
static void set_pruning(Net *n)
{
    Net saved = *n;
    static const char *const parts[] = { "0", "0.25", "1/2", "0.8", "0.97" };
    static const char *const powers[] = { "1", "3", "1/2", "0" };
    Draw draw = draw_named(n->seed, "prune");
    if (!draw_chance(&draw, 0.25)) return;
    int begin = (int)draw_int(&draw, 0, 2), every = (int)draw_int(&draw, 1, 2);
    int end = begin + (int)draw_int(&draw, 1, 3);
    const char *final = parts[draw_int(&draw, 1, 4)];
    const char *initial = parts[draw_int(&draw, 0, 4)];
    const char *power = powers[draw_int(&draw, 0, 3)];
    const char *of = draw_chance(&draw, 0.3) ? ", of = \"*[02468].*\"" : "";
    if (draw_chance(&draw, 0.6))
        add_setting(n, "prune", arena_print(
                        n->arena, "polynomial(%s, %d, %d, initial = %s, power "
                        "= %s, every = %d%s)", final, begin, end, initial,
                        power, every, of));
    else
        add_setting(n, "prune", arena_print(
                        n->arena, "constant(%s, begin = %d, %severy = %d%s)",
                        final, begin, draw_chance(&draw, 0.5) ? "end = 2, " :
                        "", every, of));
    if (!may_train(n)) *n = saved;
}

// Scales that are used in some of the three steps that are taken, by numbers of
// its own.  Not in the integer mode: they are quotients.
static void set_rounding(Net *n)
{
    Net saved = *n;
    static const char *const averages[] = { "0", "1/2", "0.9" };
    Draw draw = draw_named(n->seed, "quantize");
    if (n->exact || !draw_chance(&draw, 0.25)) return;
    int delay = (int)draw_int(&draw, 0, 2);
    add_setting(n, "quantize", arena_print(
                    n->arena, "int8(delay = %d, average = %s)", delay,
                    averages[draw_int(&draw, 0, 2)]));
    if (!may_train(n)) *n = saved;
}

// Every setting of the language; how often each is set.  One without a function
// never is, and one with no chance draws its own. Here a call is a training step, of which accumulate makes several
// (testsuite/micro) and in which a scale does not grow (testsuite/half).
static const struct {
    const char *name;
    double      chance;
    void      (*set)(Net *n);
} settings[] = {
    { "batch", 1, set_batch }, { "epochs", 0.1, set_epochs },
    { "optimizer", 1, set_optimizer }, { "schedule", 0.4, set_schedule },
    { "decay", 0.3, set_decay }, { "clip_value", 0.2, set_clip_value },
    { "clip_norm", 0.25, set_clip_norm }, { "average", 0.3, set_average },
    { "accumulate", 0, NULL }, { "loss_scale", 0.25, set_loss_scale },
    { "loss_scale_interval", 0, NULL }, { "freeze", 0, set_freeze },
    { "rate", 0, set_rate }, { "prune", 0, set_pruning },
    { "quantize", 0, set_rounding },
};
enum { SETTINGS = sizeof settings / sizeof *settings };

// A setting that the language has and nothing here draws is a fault of ours.
static void check_settings(void)
{
    const char *name, *meaning;
    for (int i = 0; setting_row(i, &name, &meaning); i++) {
        int k = 0;
        while (k < SETTINGS && strcmp(settings[k].name, name) != 0) k++;
        if (k == SETTINGS) bug("nothing draws the train setting '%s'", name);
    }
}

// A setting that a pass makes an operator of the same name of is as exact as
// that is.  Integers of 8 bits are not.
void list_settings(bool exact)
{
    for (int k = 0; k < SETTINGS; k++) {
        const char *name = settings[k].name;
        const Op *op = find_op(name, strlen(name));
        if (settings[k].set != NULL &&
            (!exact || settings[k].set != set_rounding) &&
            (!exact || op == NULL || op->flags & EXACT))
            printf("train.%s\n", name);
    }
}

void draw_train(Net *n)
{
    check_settings();
    for (int i = 0; i < TRIES; i++) {
        Net saved = *n;
        for (int k = 0; k < SETTINGS; k++)
            if (settings[k].chance > 0 &&
                draw_chance(&n->draw, settings[k].chance))
                settings[k].set(n);
        set_exact_loss_scale(n);
        set_freeze(n);
        set_rate(n);
        set_pruning(n);
        set_rounding(n);
        if (may_train(n)) return;
        Draw draw = n->draw;
        *n = saved;
        n->draw = draw;
    }
}

// ---- the options ------------------------------------------------------------

static const char *flag_text(Net *n, const char *text, const char *name,
                             bool on)
{
    char *flag = arena_print(n->arena, "%s -f%s%s", text, on ? "" : "no-",
                             name);
    for (char *c = flag; *c != '\0'; c++)
        if (*c == '_') *c = '-';
    return flag;
}

// Passes as a level leaves them, or each on or off.
static const char *draw_passes(Net *n)
{
    const char *text = arena_print(n->arena, " -O%d",
                                   (int)draw_int(&n->draw, 0, 2));
    if (draw_chance(&n->draw, 0.2)) return text;
    for (int i = 0; i < PASS_COUNT; i++)
        if (passes[i].optional && draw_chance(&n->draw, 0.6))
            text = flag_text(n, text, passes[i].name,
                             draw_chance(&n->draw, 0.5));
    return text;
}

// Fewer samples than the batch has, or another batch.
static const char *draw_samples(Net *n)
{
    int64_t batch = round_dim(n, draw_small(&n->draw, 1, 7));
    int64_t samples = round_dim(n, draw_int(&n->draw, 1, n->batch));

    if (draw_chance(&n->draw, 0.2))
        return arena_print(n->arena, " --samples %lld", (long long)samples);
    if (draw_chance(&n->draw, 0.1))
        return arena_print(n->arena, " --batch %lld", (long long)batch);
    return "";
}

// A budget, which maps may go to host memory for; by numbers of its own, so
// that the rest is drawn as without.
static const char *draw_squeeze(const Net *n, int number)
{
    Draw draw = draw_named(n->seed + ((uint64_t)number << 48), "squeeze");

    if (!draw_chance(&draw, 0.4)) return "";
    int percent = 1 + (int)draw_int(&draw, 0, 9) * 10;
    return arena_print(n->arena, " --squeeze %d%s", percent,
                       draw_chance(&draw, 0.2) ? " --offload" : "");
}

// Recomputation, and slices of the batch; by numbers of
// their own too.
static const char *draw_levers(const Net *n, int number)
{
    static const char *const marks[] = { "off", "elementwise", "auto" };
    Draw draw = draw_named(n->seed + ((uint64_t)number << 48), "levers");
    const char *text = "";

    if (draw_chance(&draw, 0.15))
        text = arena_print(n->arena, " --checkpoint=%s",
                           marks[draw_int(&draw, 0, 2)]);
    else if (draw_chance(&draw, 0.2))
        text = arena_print(n->arena, " --checkpoint every %d",
                           (int)draw_int(&draw, 1, 6));
    if (!draw_chance(&draw, 0.25)) return text;
    int samples = (int)draw_int(&draw, 1, n->batch);
    int side = (int)draw_int(&draw, 1, n->side);
    return draw_chance(&draw, 0.5)
        ? arena_print(n->arena, "%s --split=%d", text, samples)
        : arena_print(n->arena, "%s --split=%d:%dx%d", text, samples, side,
                      side);
}

// A training step made for slices of the batch, by numbers of their own.  One
// slice is then the step, as for the interpreter, and has all samples; the
// results of several are for testsuite/micro.  Not in the integer mode: the
// mean of their gradients has a quotient.
static const char *draw_slices(const Net *n, int number, const char *text)
{
    Draw draw = draw_named(n->seed + ((uint64_t)number << 48), "slices");

    if (n->exact || n->batch == 1 || !draw_chance(&draw, 0.25) ||
        strstr(text, "--samples") != NULL || strstr(text, "--batch") != NULL)
        return "";
    return arena_print(n->arena, " --microbatch=%lld",
                       (long long)draw_int(&draw, 1, n->batch - 1));
}

// A precision of fewer digits, in the integer mode, with and without tensor
// cores.  The program sets the loss scale, and with f16, too, where it may be
// the default.
static const char *draw_precision(const Net *n, int number)
{
    Draw draw = draw_named(n->seed + ((uint64_t)number << 48), "precision");
    Narrow narrow = (Narrow)draw_int(&draw, 0, NARROW_COUNT - 1);

    if (!n->exact || draw_chance(&draw, 0.5) ||
        (narrow == NARROW_F16 && !n->scales_loss))
        return "";
    return arena_print(n->arena, " --precision %s%s", narrow_names[narrow],
                       narrow != NARROW_TF32 && draw_chance(&draw, 0.3)
                           ? " --gpu t4" : "");
}

static bool compiles_here(const Net *n, const char *options)
{
    Arena *arena = arena_new();
    Diag diag = { .arena = arena, .stream = fopen("/dev/null", "w") };
    FILE *out = fopen(n->path, "w");
    Compiled c;
    Plan *plan;
    int count;

    fprintf(out, "# run: %s\n", options);
    print_net(n, out);
    fclose(out);
    const Case *of = cases_read(arena, n->path, &count);
    bool good = case_open(&c, arena, &diag, of, false) &&
                case_graph(&c, TRAIN, &plan) != NULL;
    fclose(diag.stream);
    arena_free(arena);
    return good;
}

// True if cnnc takes the net with these options: not every net has places for
// marks, or a mark.  A fault that ends it is for the test to find.
static bool compiles(const Net *n, const char *options)
{
    int status;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) _exit(compiles_here(n, options) ? 0 : 1);
    waitpid(child, &status, 0);
    return !WIFEXITED(status) || WEXITSTATUS(status) != 1;
}

// With more options, if the net compiles with them.
static const char *if_compiles(const Net *n, const char *text, const char *more)
{
    if (more[0] == '\0') return text;
    const char *all = arena_print(n->arena, "%s%s", text, more);
    return compiles(n, all) ? all : text;
}

const char *draw_options(Net *n, int number)
{
    const char *text = arena_print(n->arena, "--seed %llu",
                                   (unsigned long long)n->seed);
    if (n->exact) text = arena_print(n->arena, "%s --exact", text);
    if (number > 0)
        text = arena_print(n->arena, "%s%s%s%s", text, draw_passes(n),
                           draw_samples(n), draw_squeeze(n, number));
    if (draw_chance(&n->draw, 0.7))
        text = flag_text(n, text, "keep-gradients", true);
    if (number == 0) return text;
    text = if_compiles(n, text, draw_levers(n, number));
    text = if_compiles(n, text, draw_precision(n, number));
    if (draw_chance(&n->draw, 0.1))
        return arena_print(n->arena, "%s --mode infer", text);
    return if_compiles(n, text, draw_slices(n, number, text));
}
