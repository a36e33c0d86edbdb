// The scalar reference as a program. It takes training steps of a net in
// double, by the loops in ir/ops, on the graph that any set of passes leaves.
//
//     interpret [cnnc's options] NET.cnn --load W --batch-file B
//               [--seed S] [--steps N] [--save OUT] [--finite-differences]
//               [--infer]
//
// It reads and writes the files of an emitted program's `step`: OUT has figures
// [steps, 1 + metrics], outputs, gradients, weights and the optimizer's state,
// by name.  With -O0 the graph is as written, differentiated and nothing else.
// With --precision f16, bf16 or int8 it rounds stored values like emitted
// files.  Weights of 8 bits are integers in W, and in OUT times their scales.
// The option --finite-differences compares the gradients with differences of the
// loss.  With --infer it runs inference once, and OUT has outputs and weights.
#include "interpret.h"

#include <stdlib.h>
#include <string.h>
#include "../../frontend/driver/input.h"
#include "../../frontend/driver/options.h"
#include "../../ir/families/loss.h"
#include "../../ir/dtype.h"

typedef struct Arguments {
    const char *load, *batch, *save;
    int64_t     seed, steps;
    bool        differences, infer;
    int         argc;           // the options left for cnnc
    char      **argv;
} Arguments;

// ---- the command line -------------------------------------------------------

// True if arg is `name`, which takes a value: then *value is that.
static bool takes(char **argv, int argc, int *i, const char *name,
                  const char **value)
{
    if (strcmp(argv[*i], name) != 0 || *i + 1 >= argc) return false;
    *value = argv[++*i];
    return true;
}

// Takes out the options that cnnc does not know and would refuse.
static Arguments read_arguments(Arena *arena, int argc, char **argv)
{
    Arguments a = { .steps = 1, .argv = NEW_ARRAY(arena, argc + 1, char *) };
    const char *number;

    for (int i = 0; i < argc; i++) {
        if (takes(argv, argc, &i, "--load", &a.load) ||
            takes(argv, argc, &i, "--batch-file", &a.batch) ||
            takes(argv, argc, &i, "--save", &a.save))
            continue;
        if (takes(argv, argc, &i, "--seed", &number))
            a.seed = strtoll(number, NULL, 10);
        else if (takes(argv, argc, &i, "--steps", &number))
            a.steps = strtoll(number, NULL, 10);
        else if (strcmp(argv[i], "--finite-differences") == 0)
            a.differences = true;
        else if (strcmp(argv[i], "--infer") == 0)
            a.infer = true;
        else
            a.argv[a.argc++] = argv[i];
    }
    return a;
}

// The graph of a training step or of inference, in double, through the passes;
// NULL after errors.
static Graph *compile(Arena *arena, Diag *diag, const Arguments *a)
{
    Options o;
    Input in;

    if (options_read(&o, arena, diag, a->argc, a->argv) >= 0) return NULL;
    o.frontend.mode = a->infer ? INFER : TRAIN;
    if (!is_half(o.frontend.map) && o.frontend.map != I8) o.frontend.real = F64;
    o.frontend.keep_gradients = true;
    if (!input_open(&in, arena, diag, o.input)) return NULL;
    Graph *g = input_graph(&in, &o.frontend);
    if (g == NULL) return NULL;
    // Where values lie changes nothing here, and takes longest to find; but a
    // fitting plan depends on it.
    if (o.passes.budget == 0) o.passes.stop_after = "share_buffers";
    return run_passes(g, &o.passes) || diag->error_count == 0 ? g : NULL;
}

// ---- tensors ----------------------------------------------------------------

static int64_t row_elements(const Value *v)
{
    return elements(v->shape) / v->shape.dim[0];
}

// Multiplies weights that are integers by the scales of their rows.
static void scale_weights(Run *r)
{
    for (ValueId v = 0; v < r->g->value_count; v++) {
        const Value *value = &r->g->values[v];
        if (value->kind != PARAM || value->scale == NONE) continue;
        for (int64_t i = 0; i < elements(value->shape); i++)
            r->t.data[v][i] *= r->t.data[value->scale][i / row_elements(value)];
    }
}

// Copies the file's tensor of v's name; the first dimension may be smaller
// than v's: the rest repeats the given samples.  Returns that dimension; 0: it
// is missing.
static int64_t load(Run *r, const TensorFile *file, ValueId id)
{
    const Value *v = &r->g->values[id];
    const Tensor *t = tensors_find(file, v->name);
    int64_t count = elements(v->shape);

    if (t == NULL || t->rank != v->shape.rank || t->dim[0] > v->shape.dim[0] ||
        t->count != t->dim[0] * row_elements(v)) {
        fprintf(stderr, "interpret: no tensor '%s' %s\n", v->name,
                shape_text(r->g, v->shape));
        return 0;
    }
    for (int64_t i = 0; i < count; i++)
        r->t.data[id][i] = t->data[i % t->count];
    return t->dim[0];
}

// The initial value of the header's: the optimizer's argument of that name.
static double learning_rate(const Graph *g)
{
    if (g->training.optimizer == NULL) return 0;
    const AttrSpec *attr = g->training.optimizer->attrs;
    for (int k = 0; attr[k].name != NULL; k++)
        if (strcmp(attr[k].name, "lr") == 0) return g->training.optimizer_attr[k].f;
    return 0;
}

bool run_reset(Run *r)
{
    double *header = r->t.data[r->g->header];

    for (ValueId v = 0; v < r->g->value_count; v++) {
        const Value *value = &r->g->values[v];
        size_t count = (size_t)elements(value->shape);
        if (is_weight(value->kind) && load(r, &r->weights, v) == 0) return false;
        if (value->kind == INPUT &&
            (r->samples = load(r, &r->batch, v)) == 0)
            return false;
        if (value->kind == STATE)
            memset(r->t.data[v], 0, count * sizeof(double));
    }
    for (ValueId v = 0; v < r->g->value_count; v++) {
        const Value *value = &r->g->values[v];
        if (value->init.kind == INIT_COPY)
            memcpy(r->t.data[v], r->t.data[value->state_of],
                   (size_t)elements(value->shape) * sizeof(double));
    }
    scale_weights(r);
    header[HEADER_SEED] = (double)r->seed;
    header[HEADER_RATE] = header[HEADER_BASE_RATE] = learning_rate(r->g);
    header[HEADER_GRADIENT_SCALE] = 1;
    return true;
}

static ValueId find_value(const Graph *g, const char *name)
{
    for (ValueId v = 0; v < g->value_count; v++)
        if (strcmp(g->values[v].name, name) == 0) return v;
    return NONE;
}

// ---- steps ------------------------------------------------------------------

// The loss and each metric; the following figures, each of several losses, are
// not written.
static int64_t count_columns(const Graph *g)
{
    const Node *metrics = find_metric_sums(g);
    return metrics->operand_count - metrics->attr[0].i;
}

// The figures of each step, a row a step.
static double *take_steps(Run *r, int64_t steps)
{
    int64_t columns = count_columns(r->g);
    double *rows = NEW_ARRAY(r->arena, steps * columns, double);

    for (int64_t i = 0; i < steps; i++) {
        interpret(r->g, &r->t, r->samples);
        memcpy(rows + i * columns, r->t.data[r->figures],
               (size_t)columns * sizeof(double));
        printf("step %lld loss %.9g\n", (long long)i + 1, rows[i * columns]);
    }
    return rows;
}

// The figures are written for all steps together; inference has no rows of
// them.
static bool is_written(const Graph *g, ValueId v)
{
    const Value *value = &g->values[v];
    return v != g->header && strcmp(value->name, "figures") != 0 &&
           (value->output || is_persistent(value->kind));
}

static bool save(Run *r, const char *path, int64_t steps, double *rows)
{
    const Graph *g = r->g;
    TensorFile out = { .count = 0 };
    int64_t dim[2] = { steps, rows != NULL ? count_columns(g) : 0 };

    if (rows != NULL)
        tensors_add(r->arena, &out, "figures", 2, dim, rows);
    for (ValueId v = 0; v < g->value_count; v++)
        if (is_written(g, v))
            tensors_add(r->arena, &out, g->values[v].name,
                        g->values[v].shape.rank, g->values[v].shape.dim,
                        r->t.data[v]);
    return tensors_write(path, &out);
}

static bool read(Arena *arena, const char *path, TensorFile *file)
{
    const char *fault = tensors_read(arena, path, file);
    if (fault != NULL) fprintf(stderr, "%s: %s\n", path, fault);
    return fault == NULL;
}

// The differences come first, for they want the weights as they were read.
static bool run(Arena *arena, Diag *diag, const Arguments *a)
{
    Run r = { .arena = arena, .seed = a->seed };

    if (a->load == NULL || a->batch == NULL) {
        fputs("interpret: wanted --load W and --batch-file B\n", stderr);
        return false;
    }
    r.g = compile(arena, diag, a);
    if (r.g == NULL || !read(arena, a->load, &r.weights) ||
        !read(arena, a->batch, &r.batch))
        return false;
    r.figures = find_value(r.g, "figures");
    r.t = tensors_new(r.g);
    if (a->differences && !check_gradients(&r)) return false;
    if (!run_reset(&r)) return false;
    double *rows = a->infer ? NULL : take_steps(&r, a->steps);
    if (a->infer) interpret(r.g, &r.t, r.samples);
    return a->save == NULL || save(&r, a->save, a->steps, rows);
}

int main(int argc, char **argv)
{
    Arena *arena = arena_new();
    Diag diag = { .arena = arena, .stream = stderr };
    Arguments a = read_arguments(arena, argc, argv);
    bool good = run(arena, &diag, &a);

    arena_free(arena);
    return good ? 0 : 1;
}
