// Compares the results of a program with the expected ones.
#include <math.h>
#include <string.h>
#include "../../runtime/host/cuda_runtime_api.h"
#include "running.h"

#define TOLERANCE 1e-9
#define SINGLE_TOLERANCE 1e-6   // of numbers that single precision rounds
#define LEAST_GRADIENT 1e-3     // of the norm of all gradients, or of 1
#define NOISE 1e-2              // of its norm: then a tensor is rounding alone
#define PER_MOVE 100            // how much of `moved` a tensor may be off

static double number_at(DType dtype, const void *data, int64_t i)
{
    switch (dtype) {
    case F32: return (double)((const float *)data)[i];
    case F64: return ((const double *)data)[i];
    case I32: return (double)((const int32_t *)data)[i];
    default:  return (double)((const uint8_t *)data)[i];
    }
}

static double distance(const Expected *e, DType dtype, const void *data)
{
    double sum = 0;
    for (int64_t i = 0; i < e->count; i++) {
        double x = number_at(dtype, data, i), y = e->data[i];
        sum += (x - y) * (x - y);
    }
    return sqrt(sum);
}

static const char *const moments[] = { "1 step", "all steps", "evaluation" };

static bool is_proved(const Running *r, int moment)
{
    Narrow narrow = r->of->narrow;
    return narrow == NOT_NARROW ? r->ref->proved[moment]
                                : r->ref->narrow[moment][narrow];
}

void compare_tensor(Running *r, int moment, const Expected *e, DType dtype,
                    const void *data)
{
    const Moment *m = &r->ref->moment[moment];
    // The scale is 1 for a net whose gradients are all zero in exact
    // arithmetic.
    double least = LEAST_GRADIENT * fmax(m->gradients, 1);
    double scale = fmax(e->norm, least);
    double bound = TOLERANCE * scale, apart = distance(e, dtype, data);
    char text[256];

    if (!is_proved(r, moment)) return;
    if (!r->of->exact && (r->ref->is_rounding || e->is_rounding)) return;
    if (PER_MOVE * e->moved > bound) r->loose++;
    // Where rounding alone decides nothing can be said.
    if (PER_MOVE * e->moved > NOISE * scale) return;
    r->compared[moment]++;
    bound = r->of->exact ? 0 : bound + PER_MOVE * e->moved;
    if (apart <= bound || !isfinite(bound)) return;
    snprintf(text, sizeof text, "after %s, %s is %.3g away, of a norm of %.6g, "
             "and may be %.3g", moments[moment], e->name, apart, e->norm,
             bound);
    complain(r, text);
}

static bool is_shown(const Graph *g, ValueId v)
{
    return g->values[v].output || is_persistent(g->values[v].kind);
}

void compare_arena(Running *r, int moment, const Graph *g)
{
    const Moment *m = &r->ref->moment[moment];
    for (int k = 0; k < m->count; k++) {
        const Expected *e = &m->tensor[k];
        ValueId v = case_value(g, e->name);
        if (v == NONE || !is_shown(g, v) || e->is_output) continue;
        size_t bytes = (size_t)value_bytes(&g->values[v]);
        void *data = arena_alloc(r->arena, bytes, 1);
        cudaMemcpy(data, (char *)r->memory + g->values[v].offset, bytes,
                   cudaMemcpyDeviceToHost);
        compare_tensor(r, moment, e, g->values[v].dtype, data);
    }
}

void compare_metrics(Running *r, int moment)
{
    const double *header = r->ref->moment[moment].header;
    union {
        uint64_t counts[FIGURES_BYTES / 8];
        double   numbers[FIGURES_BYTES / 8];
    } figures;
    char text[160];

    if (!is_proved(r, moment)) return;
    if (r->program->metrics(&r->context, &figures, 0) != 0) {
        complain(r, "metrics fails");
        return;
    }
    static const struct { int slot; const char *name; } counts[] = {
        { HEADER_STEP, "step" }, { HEADER_UPDATES, "updates" },
        { HEADER_SAMPLES, "samples" },
    };
    for (int k = 0; k < 3; k++) {
        double want = header[counts[k].slot];
        if ((double)figures.counts[k] == want) continue;
        snprintf(text, sizeof text, "after %s, %s is %llu and not %.17g",
                 moments[moment], counts[k].name,
                 (unsigned long long)figures.counts[k], want);
        complain(r, text);
    }
    double rate = figures.numbers[3], want = header[HEADER_RATE];
    // A schedule's numbers need not be powers of two where no weight has them.
    double bound = r->of->exact ? SINGLE_TOLERANCE : TOLERANCE;
    if (fabs(rate - want) <= bound * fabs(want)) return;
    snprintf(text, sizeof text, "after %s, the rate is %.17g and not %.17g",
             moments[moment], rate, want);
    complain(r, text);
}
