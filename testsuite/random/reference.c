// The interpreter's run of a case: on the graph as written, without any
// optional pass, in double.
//
// The net itself decides how exactly a program can be held to it. A norm of a
// constant, or a division by nearly nothing, turns rounding into anything.  So
// the run is repeated with weights, data and all values computed from them
// moved by a part in 1e13. This is about a thousand times a rounding. The
// movement of a tensor then measures its permitted error.
#include "reference.h"

#include <math.h>
#include <string.h>
#include "../../ir/families/loss.h"
#include "../../ir/dtype.h"
#include "draw.h"
#include "exact.h"
#include "slopes.h"

enum { MOVED_RUNS = 2 };
#define MOVE 1e-13
#define ZERO_GRADIENT 1e-12     // the norm of gradients, if they are rounding

// ---- weights and data -------------------------------------------------------

static bool ends_in(const char *text, const char *end)
{
    size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length &&
           strcmp(text + length - end_length, end) == 0;
}

// Weights of rank 2 and more are as large as to keep values that pass them as
// large; others are small, and those that norms multiply by, and variances,
// around 1.  In the integer mode all are -1, 0 or 1.
static double draw_weight(Draw *d, const Value *v, bool exact)
{
    if (exact) return (double)draw_int(d, -1, 1);
    double u = draw_real(d, -1, 1);
    if (v->shape.rank > 1)
        return u / sqrt((double)(elements(v->shape) / v->shape.dim[0]));
    bool factor = ends_in(v->name, ".weight") || ends_in(v->name, ".variance");
    return (factor ? 1 : 0) + u / 10;
}

// ignored: a label that losses leave out, and that is drawn too, or NO_LABEL.
static double draw_datum(Draw *d, const Value *v, int64_t ignored, bool exact)
{
    if (v->classes > 0 && ignored != NO_LABEL && draw_chance(d, 0.25))
        return (double)ignored;
    if (v->classes > 0) return (double)draw_int(d, 0, v->classes - 1);
    if (v->dtype == U8) return (double)draw_int(d, 0, exact ? 1 : 255);
    if (v->dtype == I32) return (double)draw_int(d, 0, 3);
    return exact ? (double)draw_int(d, -1, 1) : draw_real(d, -1, 1);
}

static double *draw_value(Arena *arena, const Graph *g, ValueId id,
                          const Case *of)
{
    const Value *v = &g->values[id];
    int64_t ignored = v->classes > 0 ? ignored_label(g, id) : NO_LABEL;
    double *data = NEW_ARRAY(arena, elements(v->shape), double);
    Draw d = draw_named(of->seed, v->name);
    int64_t count = elements(v->shape);

    if (v->kind == INPUT && of->samples > 0)
        count = count / v->shape.dim[0] * of->samples;
    for (int64_t i = 0; i < count; i++)
        data[i] = v->kind == INPUT ? draw_datum(&d, v, ignored, of->exact)
                                   : draw_weight(&d, v, of->exact);
    // Stages a partial batch like the interface.
    for (int64_t i = count; i < elements(v->shape); i++)
        data[i] = data[i - count];
    return data;
}

static double **draw_given(Arena *arena, const Graph *g, const Case *of)
{
    double **given = NEW_ARRAY(arena, g->value_count, double *);
    for (ValueId v = 0; v < g->value_count; v++)
        if (is_weight(g->values[v].kind) || g->values[v].kind == INPUT)
            given[v] = draw_value(arena, g, v, of);
    return given;
}

// ---- one run ----------------------------------------------------------------

typedef struct Run {
    Arena       *arena;
    const Case  *of;
    const Graph *train, *infer; // train: NULL where there is none
    Tensors      trained, inferred;
    double     **given;
    Draw        *mover;         // NULL: the given values are taken as they are
    const Graph *stepped;       // which of the graphs runs
    Tensors     *tensors;       // on which tensors
    bool         sound;         // so far
    bool         narrow[NARROW_COUNT];
} Run;

static double base_rate(const Graph *g)
{
    const AttrSpec *attr = g->training.optimizer->attrs;
    for (int k = 0; attr[k].name != NULL; k++)
        if (strcmp(attr[k].name, "lr") == 0) return g->training.optimizer_attr[k].f;
    return 0;
}

// Integer counts stay.
static void move(Run *r, const Value *v, double *data)
{
    if (v->dtype != F32 && v->dtype != F64) return;
    for (int64_t i = 0; i < elements(v->shape); i++)
        data[i] *= 1 + MOVE * draw_real(r->mover, -1, 1);
}

static void set_given(Run *r, const Graph *g, Tensors *t, ValueId id)
{
    const Value *v = &g->values[id];
    memcpy(t->data[id], r->given[id],
           (size_t)elements(v->shape) * sizeof(double));
    if (r->mover != NULL) move(r, v, t->data[id]);
}

// The results of a node; a view of it is the same.
static void move_results(void *with, const Node *n)
{
    Run *r = with;
    for (int32_t k = 0; k < n->result_count && !(n->op->flags & VIEW); k++)
        if (n->results[k] != NONE)
            move(r, &r->stepped->values[n->results[k]],
                 r->tensors->data[n->results[k]]);
}

static void begin(Run *r)
{
    const Graph *g = r->train != NULL ? r->train : r->infer;
    Tensors *t = r->train != NULL ? &r->trained : &r->inferred;
    double *header = t->data[g->header];

    memset(header, 0, HEADER_SLOTS * sizeof *header);
    for (ValueId v = 0; v < g->value_count; v++)
        if (r->given[v] != NULL) set_given(r, g, t, v);
    for (ValueId v = 0; v < g->value_count; v++)
        if (g->values[v].init.kind == INIT_COPY)
            memcpy(t->data[v], t->data[g->values[v].state_of],
                   (size_t)elements(g->values[v].shape) * sizeof(double));
    header[HEADER_SEED] = (double)r->of->seed;
    header[HEADER_GRADIENT_SCALE] = 1;
    if (r->train != NULL)
        header[HEADER_RATE] = header[HEADER_BASE_RATE] = base_rate(g);
}

void reference_begin(const Reference *ref, const Case *of, Tensors *t)
{
    Run r = { .of = of, .train = ref->train, .infer = ref->infer,
              .trained = *t, .inferred = *t, .given = ref->given };
    begin(&r);
}

// Evaluation starts from the state that training has left.
static void take_state(Run *r)
{
    for (ValueId v = 0; v < r->infer->value_count; v++) {
        const Value *value = &r->infer->values[v];
        ValueId from = case_value(r->train, value->name);
        size_t count = (size_t)elements(value->shape);
        if (!is_persistent(value->kind) && value->kind != INPUT) continue;
        if (from == NONE) continue;
        if (v == r->infer->header) count = HEADER_SLOTS;
        memcpy(r->inferred.data[v], r->trained.data[from],
               count * sizeof(double));
    }
}

// ---- its kept values -----------------------------------------------------

static double norm_of(const double *x, int64_t count)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        if (isfinite(x[i])) sum += x[i] * x[i];
    return sqrt(sum);
}

// The values that an emitted program shows: all that it keeps, and all marked
// as outputs.
static bool is_shown(const Graph *g, ValueId v)
{
    return v != g->header &&
           (g->values[v].output || is_persistent(g->values[v].kind));
}

static void keep(Arena *arena, Moment *m, const Graph *g, const Tensors *t)
{
    memcpy(m->header, t->data[g->header], sizeof m->header);
    m->tensor = NEW_ARRAY(arena, g->value_count, Expected);
    for (ValueId v = 0; v < g->value_count; v++) {
        const Value *value = &g->values[v];
        if (!is_shown(g, v)) continue;
        Expected *e = &m->tensor[m->count++];
        *e = (Expected){ .name = value->name, .count = elements(value->shape) };
        e->data = NEW_ARRAY(arena, e->count, double);
        memcpy(e->data, t->data[v], (size_t)e->count * sizeof(double));
        e->norm = norm_of(e->data, e->count);
        e->is_output = g->mode != TRAIN && value->output_number > 0;
        if (value->gradient_of == NONE) continue;
        m->gradients = hypot(m->gradients, e->norm);
        m->has_gradients = true;
    }
}

// A tensor that is finite here and not there has moved without bound.
static void measure_moves(Arena *arena, Moment *m, const Graph *g,
                          const Tensors *t)
{
    int at = 0;
    for (ValueId v = 0; v < g->value_count; v++) {
        if (!is_shown(g, v)) continue;
        Expected *e = &m->tensor[at++];
        double *apart = NEW_ARRAY(arena, e->count, double), moved;
        bool same = true;
        for (int64_t i = 0; i < e->count; i++) {
            double x = e->data[i], y = t->data[v][i];
            same = same && isfinite(x) == isfinite(y);
            apart[i] = isfinite(x) && isfinite(y) ? x - y : 0;
        }
        moved = same ? norm_of(apart, e->count) : INFINITY;
        if (moved > e->moved) e->moved = moved;
    }
}

static void show(Run *r, Moment *m, const Graph *g, const Tensors *t)
{
    if (r->mover == NULL) keep(r->arena, m, g, t);
    else measure_moves(r->arena, m, g, t);
}

static bool is_finite(const Graph *g, const Tensors *t)
{
    for (ValueId v = 0; v < g->value_count; v++)
        for (int64_t i = 0; v != g->header && i < elements(g->values[v].shape);
             i++)
            if (!isfinite(t->data[v][i])) return false;
    return true;
}

// Values that may be stored in 16 bits, or rounded for a product.  Gradients of
// parameters and optimizer state are not.
static bool may_be_narrow(const Graph *g, ValueId v)
{
    const Value *value = &g->values[v];
    ValueId of = value->gradient_of;
    return v != g->header && is_real(value->dtype) &&
           value->kind != STATE && (of == NONE || g->values[of].kind != PARAM);
}

static void check_narrow(Run *r, const Graph *g, const Tensors *t)
{
    for (ValueId v = 0; v < g->value_count; v++) {
        if (!may_be_narrow(g, v)) continue;
        for (int64_t i = 0; i < elements(g->values[v].shape); i++)
            for (Narrow k = 0; k < NARROW_COUNT; k++)
                r->narrow[k] = r->narrow[k] && is_narrow(k, t->data[v][i]);
    }
}

static void set_proved(const Run *r, Reference *ref, int moment)
{
    if (r->mover != NULL) return;
    ref->proved[moment] = r->sound;
    for (Narrow k = 0; k < NARROW_COUNT; k++)
        ref->narrow[moment][k] = r->sound && r->narrow[k];
}

// Once something is not finite, or in the integer mode not exact, nothing after
// it is compared. Kernels may differ in 0 times NaN, in a window's padding.
static void step_graph(Run *r, const Graph *g, Tensors *t, int64_t samples)
{
    r->stepped = g;
    r->tensors = t;
    t->after = r->mover != NULL ? move_results : NULL;
    t->with = r;
    if (r->of->exact && r->sound)
        r->sound = interpret_exactly(g, t, samples);
    else
        interpret(g, t, samples);
    r->sound = r->sound && is_finite(g, t);
    if (r->of->exact) check_narrow(r, g, t);
}

static void run(Run *r, Reference *ref)
{
    Moment *moments = ref->moment;

    begin(r);
    r->sound = true;
    for (Narrow k = 0; k < NARROW_COUNT; k++) r->narrow[k] = true;
    for (int step = 1; r->train != NULL && step <= STEPS; step++) {
        step_graph(r, r->train, &r->trained, ref->samples);
        if (step == 1) show(r, &moments[0], r->train, &r->trained);
        if (step == 1) set_proved(r, ref, 0);
        if (step == STEPS) show(r, &moments[1], r->train, &r->trained);
    }
    set_proved(r, ref, 1);
    if (r->train != NULL) take_state(r);
    step_graph(r, r->infer, &r->inferred, ref->samples);
    show(r, &moments[2], r->infer, &r->inferred);
    set_proved(r, ref, 2);
}

// ---- rounding alone ---------------------------------------------------------

static const Expected *gradient_of(const Reference *ref, ValueId param)
{
    const Moment *first = &ref->moment[0];
    for (int k = 0; k < first->count; k++) {
        ValueId v = case_value(ref->train, first->tensor[k].name);
        if (v != NONE && ref->train->values[v].gradient_of == param)
            return &first->tensor[k];
    }
    return NULL;
}

// From gradients that are zero in exact arithmetic, optimizers compute rounding
// errors alone, some by dividing, and so are the weights.  Where the loss is
// scaled so is the rounding.
static void find_rounding(Reference *ref)
{
    const Graph *g = ref->train;
    const Moment *first = &ref->moment[0];
    if (g == NULL || !first->has_gradients) return;
    double scale = is_scaled(g) ? g->training.loss_scale : 1;
    double zero = ZERO_GRADIENT * fmax(first->gradients, scale);
    ref->is_rounding = first->gradients < ZERO_GRADIENT * scale;
    for (int i = 0; i < MOMENTS; i++)
        for (int k = 0; k < ref->moment[i].count; k++) {
            Expected *e = &ref->moment[i].tensor[k];
            ValueId v = case_value(g, e->name);
            if (v == NONE) continue;
            bool is_param = g->values[v].kind == PARAM;
            ValueId param = is_param ? v : g->values[v].state_of;
            const Expected *d = param != NONE ? gradient_of(ref, param) : NULL;
            e->is_rounding = d != NULL && d->norm < zero;
        }
}

// ---- the reference ----------------------------------------------------------

Reference *reference_new(Arena *arena, Diag *diag, const Case *of)
{
    Reference *ref = NEW(arena, Reference);
    Compiled c;
    Plan *plan;

    if (!case_open(&c, arena, diag, of, true)) return NULL;
    ref->trains = c.options.frontend.mode == TRAIN;
    if (ref->trains) {
        c.options.frontend.keep_gradients = true;
        ref->train = case_graph(&c, TRAIN, &plan);
        if (ref->train == NULL) return NULL;
    }
    ref->infer = case_graph(&c, ref->trains ? EVAL : INFER, &plan);
    if (ref->infer == NULL) return NULL;
    ref->inputs = ref->trains ? ref->train : ref->infer;
    ref->given = draw_given(arena, ref->inputs, of);
    ref->samples = of->samples > 0 ? of->samples : ref->inputs->batch;
    for (int i = 0; i <= (of->exact ? 0 : MOVED_RUNS); i++) {
        char name[16] = { 'm', (char)('0' + i), 0 };
        Draw mover = draw_named(of->seed, name);
        Run r = { .arena = arena, .of = of, .train = ref->train,
                  .infer = ref->infer, .given = ref->given,
                  .mover = i > 0 ? &mover : NULL };
        if (ref->trains) r.trained = tensors_new(ref->train);
        r.inferred = tensors_new(ref->infer);
        run(&r, ref);
    }
    find_rounding(ref);
    return ref;
}
