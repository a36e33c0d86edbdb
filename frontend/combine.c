// Operators of two operands between values of the net, or a value and a number:
//
//     a + b       add(a, b)           x + 1       x -> shift(1)
//     1 - x       x -> scale(-1) -> shift(1)
//     maximum(x, 0)                   x -> clamp(low = 0)
#include <string.h>
#include "resolve.h"

// A call on x in place of an operator on x and a number.
typedef enum NumberUse {
    NO_NUMBER, MINUS_ONE,       // no argument; -1
    AS_IT_IS, NEGATED, INVERTED,// the number, minus it, 1 divided by it
} NumberUse;

typedef struct NumberCall {
    const char *op;
    NumberUse   use;
    const char *argument;       // its name
} NumberCall;

// The calls, in order, that x op number and number op x stand for.  Their ends
// are NULL operators.
enum { MOST_CALLS = 2 };
typedef struct NumberForms {
    const char *op;
    NumberCall  x_number[MOST_CALLS], number_x[MOST_CALLS];
} NumberForms;

static const NumberForms forms[] = {
    { "add", { { "shift", AS_IT_IS, "value" } },
      { { "shift", AS_IT_IS, "value" } } },
    { "sub", { { "shift", NEGATED, "value" } },
      { { "scale", MINUS_ONE, "factor" }, { "shift", AS_IT_IS, "value" } } },
    { "mul", { { "scale", AS_IT_IS, "factor" } },
      { { "scale", AS_IT_IS, "factor" } } },
    { "div", { { "scale", INVERTED, "factor" } },
      { { "reciprocal", NO_NUMBER, NULL }, { "scale", AS_IT_IS, "factor" } } },
    { "maximum", { { "clamp", AS_IT_IS, "low" } },
      { { "clamp", AS_IT_IS, "low" } } },
    { "minimum", { { "clamp", AS_IT_IS, "high" } },
      { { "clamp", AS_IT_IS, "high" } } },
};

// Returns the forms of an operator, or NULL if it takes no number.
static const NumberForms *forms_of(const Op *op)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (strcmp(forms[i].op, op->name) == 0) return &forms[i];
    return NULL;
}

static double number_of(NumberUse use, double number)
{
    switch (use) {
    case AS_IT_IS: return number;
    case NEGATED:  return -number;
    case INVERTED: return 1 / number;
    case NO_NUMBER:
    case MINUS_ONE: break;
    }
    return -1;
}

// Calls an operator on a value; the last call has the name that expr has.
static Datum call_with_number(Resolver *r, const Expr *expr,
                              const NumberCall *how, const Operand *value,
                              double number, bool is_last)
{
    Expr *argument = NEW(r->arena, Expr), *call = NEW(r->arena, Expr);
    Arg *arg = NEW(r->arena, Arg), *name = is_last ? expr->args : NULL;

    *argument = (Expr){ .kind = EXPR_FLOAT, .pos = expr->pos,
                        .f = number_of(how->use, number) };
    *arg = (Arg){ .pos = expr->pos, .name = how->argument,
                  .name_pos = expr->pos, .value = argument, .next = name };
    *call = (Expr){ .kind = EXPR_CALL, .pos = expr->pos, .text = how->op,
                    .args = how->use == NO_NUMBER ? name : arg };
    if (is_last && r->layer_call == expr) r->layer_call = call;
    return call_operator(r, call, op_called(how->op), value, 1);
}

Datum negate(Resolver *r, const Expr *expr, const Operand *value)
{
    static const NumberCall how = { "scale", MINUS_ONE, "factor" };
    return call_with_number(r, expr, &how, value, 0, true);
}

Datum copy_value(Resolver *r, const Expr *expr, const Operand *value)
{
    static const NumberCall how = { "scale", AS_IT_IS, "factor" };
    return call_with_number(r, expr, &how, value, 1, true);
}

static Datum combine_with_number(Resolver *r, const Expr *expr, const Op *op,
                                 const Operand *sides)
{
    bool first = sides[0].datum.kind == TENSOR;
    Operand value = sides[first ? 0 : 1];
    double number = as_float(sides[first ? 1 : 0].datum);
    const NumberForms *of = forms_of(op);
    const NumberCall *calls = first ? of->x_number : of->number_x;

    for (int k = 0; k < MOST_CALLS && calls[k].op != NULL; k++) {
        if (calls[k].use == INVERTED && number == 0) {
            error(r->diag, expr->name_pos, "division by zero");
            return no_datum();
        }
        bool is_last = k + 1 == MOST_CALLS || calls[k + 1].op == NULL;
        value.datum = call_with_number(r, expr, &calls[k], &value, number,
                                       is_last);
        if (value.datum.kind == POISON) return no_datum();
    }
    return value.datum;
}

bool can_combine(Datum a, Datum b)
{
    return (a.kind == TENSOR && (b.kind == TENSOR || is_number(b))) ||
           (b.kind == TENSOR && is_number(a));
}

Datum combine(Resolver *r, const Expr *expr, const Op *op,
              const Operand *sides)
{
    if (sides[0].datum.kind == TENSOR && sides[1].datum.kind == TENSOR)
        return call_operator(r, expr, op, sides, 2);
    return combine_with_number(r, expr, op, sides);
}

// ---- calls by name ----------------------------------------------------------

// Counts the arguments of a call by position; -1 if one has a name, other than
// the layer's.
static int count_sides(const Expr *call)
{
    int count = 0;
    for (const Arg *arg = call->args; arg != NULL; arg = arg->next) {
        if (arg->name != NULL && arg != name_argument(call)) return -1;
        count += arg->name == NULL;
    }
    return count;
}

bool is_combining(const Op *op, const Expr *call, const Operand *threaded)
{
    return forms_of(op) != NULL &&
           count_sides(call) + (threaded != NULL) == 2;
}

Datum call_combining(Resolver *r, const Expr *call, const Op *op,
                     const Operand *threaded)
{
    Operand sides[2] = {{ .pos.line = 0 }};
    int count = 0;
    Expr *rest = NEW(r->arena, Expr);

    if (threaded != NULL) sides[count++] = *threaded;
    *rest = *call;
    rest->args = NULL;
    for (const Arg *arg = call->args; arg != NULL; arg = arg->next) {
        if (arg->name == NULL) {
            sides[count++] = (Operand){ evaluate(r, arg->value), arg->pos };
            continue;
        }
        Arg *name = NEW(r->arena, Arg);
        *name = *arg;
        name->next = NULL;
        rest->args = name;
    }
    if (r->layer_call == call) r->layer_call = rest;
    for (int k = 0; k < 2; k++)
        if (sides[k].datum.kind == POISON) return no_datum();
    if (can_combine(sides[0].datum, sides[1].datum))
        return combine(r, rest, op, sides);
    return call_operator(r, rest, op, sides, 2);
}
