// --weights: the file must hold all that the net keeps, and nothing that the
// net does not know.
#include <fnmatch.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include "../../ir/dtype.h"
#include "options.h"

static const Pos nowhere = { .file = NONE };

static const char *dims_of(Arena *arena, int rank, const int64_t *dim)
{
    const char *text = "";
    for (int k = 0; k < rank; k++)
        text = arena_print(arena, "%s%s%" PRId64, text, k > 0 ? "x" : "",
                           dim[k]);
    return rank > 0 ? text : "a number";
}

// True if the value's type holds the number, of 16 bits the nearest one.
static bool holds_number(DType type, double number)
{
    if (type == I8) return number == rint(number) && fabs(number) <= 127;
    if (isnan(number) || type == F64) return true;
    if ((double)(float)number != number) return false;
    return !is_half(type) || isinf(number) || isfinite(rounded(type, number));
}

static bool holds(const Options *o, const Graph *g, const Tensor *t, DType type)
{
    for (int64_t i = 0; i < t->count; i++) {
        if (holds_number(type, t->data[i])) continue;
        error(g->diag, nowhere, "--weights %s: element %" PRId64 " of %s, "
              "%.17g, is no %s", o->weights, i, t->name, t->data[i],
              dtype_names[type]);
        return false;
    }
    return true;
}

static bool fits(const Options *o, const Graph *g, const TensorFile *file,
                 const Value *value)
{
    const Tensor *t = tensors_find(file, value->name);
    const Shape *shape = &value->shape;
    if (t == NULL) {
        error(g->diag, nowhere, "--weights %s: has no tensor %s", o->weights,
              value->name);
        return false;
    }
    if (t->rank == shape->rank &&
        memcmp(t->dim, shape->dim, (size_t)t->rank * sizeof *t->dim) == 0)
        return holds(o, g, t, value->dtype);
    error(g->diag, nowhere, "--weights %s: tensor %s: wanted %s, found %s",
          o->weights, t->name, dims_of(g->arena, shape->rank, shape->dim),
          dims_of(g->arena, t->rank, t->dim));
    return false;
}

// True if the net knows each tensor.  PyTorch counts the batches of a norm, and
// quantization-aware training adds its scales of maps.
static bool knows_all(const Options *o, const Graph *g, const TensorFile *file)
{
    for (int k = 0; k < file->count; k++) {
        const char *name = file->tensor[k].name;
        bool is_scale =
            fnmatch("*.scale", name, 0) == 0 && file->tensor[k].rank == 1 &&
            file->tensor[k].dim[0] == 2;
        bool known = is_scale || fnmatch("*num_batches_tracked", name, 0) == 0;
        for (ValueId v = 0; v < g->value_count && !known; v++)
            known = is_weight(g->values[v].kind) &&
                    strcmp(g->values[v].name, name) == 0;
        if (known) continue;
        error(g->diag, nowhere, "--weights %s: the net has no %s", o->weights,
              name);
        return false;
    }
    return true;
}

const TensorFile *read_weights(const Options *o, const Graph *g)
{
    if (o->weights == NULL) return NULL;
    TensorFile *file = NEW(g->arena, TensorFile);
    const char *fault = tensors_read(g->arena, o->weights, file);
    bool good = fault == NULL;
    int kept = 0;
    if (!good)
        error(g->diag, nowhere, "--weights %s: %s", o->weights, fault);
    for (ValueId v = 0; v < g->value_count && good; v++) {
        if (!is_weight(g->values[v].kind)) continue;
        good = fits(o, g, file, &g->values[v]);
        kept++;
    }
    if (good && kept == 0)
        error(g->diag, nowhere, "--weights %s: the net has no weights",
              o->weights);
    return good && kept > 0 && knows_all(o, g, file) ? file : NULL;
}
