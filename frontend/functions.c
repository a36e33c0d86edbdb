// Functions of the language that return numbers, as a table of name, argument
// count and rule.
//
//     channels(x) height(x) width(x)      of a value
//     min(a, b) max(a, b)                 of numbers
//     floor(a) ceil(a) round(a)           integers
//     dims(h, w)                          3x5 from numbers
//
// Their names are not reserved: width(x) is the function and width a variable.
#include <math.h>
#include <string.h>
#include "resolve.h"

enum { MOST = 4 };               // maximum of arguments

typedef struct Function {
    const char *name;
    int         fewest, most;   // arguments
    Datum     (*run)(Resolver *r, const Expr *call, int count,
                     const Datum *datum);
    const char *meaning;        // for the reference
} Function;

static Datum wrong(Resolver *r, const Expr *call, const char *wants, Datum got)
{
    error(r->diag, call->pos, "%s() needs %s, and this is %s", call->text,
          wants, kind_words[got.kind]);
    return no_datum();
}

// ---- of values --------------------------------------------------------------

// Returns a dimension of x.  rank 0 accepts any rank; dim -1 is the last one.
static Datum dimension(Resolver *r, const Expr *call, Datum x, int rank,
                       int dim)
{
    if (x.kind != TENSOR) return wrong(r, call, "a value of the net", x);
    Shape shape = r->g->values[x.value].shape;
    if (rank > 0 && shape.rank != rank) {
        error(r->diag, call->pos, "%s() needs a map [height, width, channels]",
              call->text);
        return no_datum();
    }
    return int_datum(shape.dim[dim < 0 ? shape.rank - 1 : dim]);
}

static Datum run_channels(Resolver *r, const Expr *call, int count,
                          const Datum *datum)
{
    (void)count;
    return dimension(r, call, datum[0], 0, -1);
}

static Datum run_height(Resolver *r, const Expr *call, int count,
                        const Datum *datum)
{
    (void)count;
    return dimension(r, call, datum[0], 4, 1);
}

static Datum run_width(Resolver *r, const Expr *call, int count,
                       const Datum *datum)
{
    (void)count;
    return dimension(r, call, datum[0], 4, 2);
}

// ---- of numbers -------------------------------------------------------------

// Returns the smallest or largest number, the first of equals, with its type.
static Datum choose(Resolver *r, const Expr *call, int count,
                    const Datum *datum, bool largest)
{
    Datum best = datum[0];
    for (int k = 0; k < count; k++) {
        if (datum[k].kind != INT && datum[k].kind != FLOAT)
            return wrong(r, call, "numbers", datum[k]);
        bool larger = as_float(datum[k]) > as_float(best);
        bool smaller = as_float(datum[k]) < as_float(best);
        if (largest ? larger : smaller) best = datum[k];
    }
    return best;
}

static Datum run_max(Resolver *r, const Expr *call, int count,
                     const Datum *datum)
{
    return choose(r, call, count, datum, true);
}

static Datum run_min(Resolver *r, const Expr *call, int count,
                     const Datum *datum)
{
    return choose(r, call, count, datum, false);
}

static Datum to_integer(Resolver *r, const Expr *call, Datum datum,
                        double (*rounding)(double))
{
    if (datum.kind == INT) return datum;
    if (datum.kind != FLOAT) return wrong(r, call, "a number", datum);
    double f = rounding(datum.f);
    if (fabs(f) < 9e18) return int_datum((int64_t)f);
    error(r->diag, call->pos, "this number does not fit in 64 bits");
    return no_datum();
}

static Datum run_floor(Resolver *r, const Expr *call, int count,
                       const Datum *datum)
{
    (void)count;
    return to_integer(r, call, datum[0], floor);
}

static Datum run_ceil(Resolver *r, const Expr *call, int count,
                      const Datum *datum)
{
    (void)count;
    return to_integer(r, call, datum[0], ceil);
}

static Datum run_round(Resolver *r, const Expr *call, int count,
                       const Datum *datum)
{
    (void)count;
    return to_integer(r, call, datum[0], round);
}

static Datum run_dims(Resolver *r, const Expr *call, int count,
                      const Datum *datum)
{
    Datum dims = { .kind = DIMS, .count = count };
    if (count == 3) {
        error(r->diag, call->pos, "dims() needs 2 or 4 integers");
        return no_datum();
    }
    for (int k = 0; k < count; k++) {
        if (datum[k].kind != INT) return wrong(r, call, "integers", datum[k]);
        dims.dim[k] = datum[k].i;
    }
    return dims;
}

// ---- the table --------------------------------------------------------------

static const Function functions[] = {
    { "channels", 1, 1, run_channels, "the last dimension of a value" },
    { "height", 1, 1, run_height, "the first dimension of a map" },
    { "width", 1, 1, run_width, "the second dimension of a map" },
    { "min", 2, 4, run_min, "the smallest of numbers" },
    { "max", 2, 4, run_max, "the largest of numbers" },
    { "floor", 1, 1, run_floor, "the integer at or below a number" },
    { "ceil", 1, 1, run_ceil, "the integer at or above a number" },
    { "round", 1, 1, run_round, "the nearest integer; halves go away from 0" },
    { "dims", 2, 4, run_dims, "dimensions, as 3x5, from integers" },
};
enum { FUNCTION_COUNT = sizeof functions / sizeof functions[0] };

static const Function *find_function(const char *name)
{
    for (int i = 0; i < FUNCTION_COUNT; i++)
        if (strcmp(functions[i].name, name) == 0) return &functions[i];
    return NULL;
}

bool is_function(const char *name)
{
    return find_function(name) != NULL;
}

bool function_row(int i, const char **name, int *fewest, int *most,
                  const char **meaning)
{
    if (i >= FUNCTION_COUNT) return false;
    *name = functions[i].name;
    *fewest = functions[i].fewest;
    *most = functions[i].most;
    *meaning = functions[i].meaning;
    return true;
}

const char **function_names(Arena *arena, int *count)
{
    const char **names = NEW_ARRAY(arena, FUNCTION_COUNT, const char *);
    for (int i = 0; i < FUNCTION_COUNT; i++) names[i] = functions[i].name;
    *count = FUNCTION_COUNT;
    return names;
}

Datum call_function(Resolver *r, const Expr *call)
{
    const Function *function = find_function(call->text);
    Datum datum[MOST];
    bool poison = false;
    int count = 0;

    if (function == NULL) bug("%s is no function", call->text);
    for (const Arg *arg = call->args; arg != NULL; arg = arg->next, count++) {
        if (arg->name != NULL) {
            error(r->diag, arg->pos, "%s() takes no arguments by name",
                  call->text);
            return no_datum();
        }
        Datum got = evaluate(r, arg->value);
        poison = poison || got.kind == POISON;
        if (count < MOST) datum[count] = got;
    }
    if (count < function->fewest || count > function->most) {
        error(r->diag, call->pos, "%s() takes %d argument%s, not %d",
              call->text, function->fewest, function->fewest == 1 ? "" : "s",
              count);
        return no_datum();
    }
    return poison ? no_datum() : function->run(r, call, count, datum);
}
