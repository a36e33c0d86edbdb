// Evaluates expressions.  Integers have 64 bits and overflow is an error.  A
// quotient of integers is an integer if it is exact and a float otherwise: 28/2
// is 14, 1/255 is 0.0039.  If either side is a float, so is the result.
//
// An error is reported where it occurs, and the result is POISON.  Every rule
// passes POISON on without a message: one mistake, one message.
#include <float.h>
#include <math.h>
#include <string.h>
#include "resolve.h"

// ---- names ------------------------------------------------------------------

Variable *find_variable(const Resolver *r, const char *name)
{
    Variable *variable = NULL;
    if (r->scope != NULL) variable = table_find(&r->scope->variables, name);
    return variable != NULL ? variable : table_find(&r->constants, name);
}

// Returns the visible name nearest to name, or NULL.  NULL also if errors are
// not shown, for the search is slow.
static const char *nearest_visible(const Resolver *r, const char *name)
{
    static const Table none;
    if (!shows_errors(r->diag)) return NULL;
    const Table *local = r->scope != NULL ? &r->scope->variables : &none;
    int count = local->count + r->constants.count;
    const char **names = NEW_ARRAY(r->arena, (size_t)count + 2, const char *);
    const char **keys = table_keys(local, r->arena);

    for (int i = 0; i < local->count; i++) names[i] = keys[i];
    keys = table_keys(&r->constants, r->arena);
    for (int i = 0; i < r->constants.count; i++)
        names[local->count + i] = keys[i];
    names[count++] = "same";
    names[count++] = "valid";
    return nearest_name(name, names, count);
}

void expect_word(Resolver *r, const Expr *expr, const ArgSpec *spec)
{
    r->word = NULL;
    if (spec == NULL) return;
    if (spec->type == ARG_PADDING)
        r->words = "same, valid, 1, 1x2 or 0x1x2x3";
    else if (takes_words(spec))
        r->words = arena_print(r->arena, spec->type == ARG_WORD ? "one of %s"
                               : spec->type == ARG_INIT
                               ? "a number or one of %s" : "an integer or %s",
                               spec->fallback);
    else
        return;
    r->word = expr;
    r->words_for = spec->name;
}

// Reports an unknown name once: it is then defined, as poison.
static Datum unknown_name(Resolver *r, const Expr *expr)
{
    const char *near = nearest_visible(r, expr->text);
    bool assigned = r->scope != NULL &&
                    table_find(&r->scope->block->assigned, expr->text) != NULL;

    if (assigned) {
        error(r->diag, expr->pos, "'%s' has no value yet", expr->text);
    } else if (op_called(expr->text) != NULL) {
        error(r->diag, expr->pos, "'%s' is an operator and needs ( ) here",
              expr->text);
    } else if (near != NULL) {
        error(r->diag, expr->pos, "there is no '%s'; did you mean '%s'?",
              expr->text, near);
        fixit(r->diag, expr->pos, near);
    } else if (expr == r->word) {
        error(r->diag, expr->pos, "%s can't be '%s', which is no variable; it "
              "is %s", r->words_for, expr->text, r->words);
    } else {
        error(r->diag, expr->pos, "there is no '%s' here", expr->text);
    }
    set_variable(r, expr->text, expr->pos, no_datum());
    return no_datum();
}

// The words same and valid are hidden by variables of these names.
static Datum evaluate_name(Resolver *r, const Expr *expr)
{
    Variable *variable = find_variable(r, expr->text);
    Datum word;

    if (variable != NULL) {
        variable->used = true;
        return variable->datum;
    }
    if (datum_of_text(expr->text, &word) && word.kind == WORD) return word;
    return unknown_name(r, expr);
}

// ---- arithmetic -------------------------------------------------------------

bool is_number(Datum a)
{
    return a.kind == INT || a.kind == FLOAT;
}

double as_float(Datum a)
{
    return a.kind == INT ? (double)a.i : a.f;
}

static Datum too_large(Resolver *r, const Expr *expr)
{
    error(r->diag, expr->pos, "this number does not fit in 64 bits");
    return no_datum();
}

// An infinite or NaN result is reported like an overflow.
static Datum finite_datum(Resolver *r, const Expr *expr, double f)
{
    return isfinite(f) ? float_datum(f) : too_large(r, expr);
}

// Checks f, a / b or a * b: a subnormal result would lose digits or become 0.
static Datum quotient_or_product(Resolver *r, const Expr *expr, double a,
                                 double b, double f)
{
    if (a == 0 || b == 0 || fabs(f) >= DBL_MIN)
        return finite_datum(r, expr, f);
    error(r->diag, expr->pos, "this number is too small; other than 0, the "
          "smallest is %g", DBL_MIN);
    return no_datum();
}

// INT64_MIN / -1 overflows, and is computed in floating point.
static Datum divide(Resolver *r, const Expr *expr, Datum a, Datum b)
{
    if (as_float(b) == 0) {
        error(r->diag, expr->name_pos, "division by zero");
        return no_datum();
    }
    bool exact = a.kind == INT && b.kind == INT &&
                 !(a.i == INT64_MIN && b.i == -1) && a.i % b.i == 0;
    if (exact) return int_datum(a.i / b.i);
    return quotient_or_product(r, expr, as_float(a), as_float(b),
                               as_float(a) / as_float(b));
}

// a % b has the sign of b, as in mathematics.
static Datum modulo(Resolver *r, const Expr *expr, Datum a, Datum b)
{
    if (as_float(b) == 0) return divide(r, expr, a, b);
    if (a.kind == FLOAT || b.kind == FLOAT) {
        double x = as_float(a), y = as_float(b);
        return finite_datum(r, expr, x - y * floor(x / y));
    }
    if (b.i == -1) return int_datum(0);
    int64_t rest = a.i % b.i;
    return int_datum(rest != 0 && (rest < 0) != (b.i < 0) ? rest + b.i : rest);
}

static Datum calculate_float(Resolver *r, const Expr *expr, double a, double b)
{
    if (expr->sign == SIGN_MUL)
        return quotient_or_product(r, expr, a, b, a * b);
    return finite_datum(r, expr, expr->sign == SIGN_ADD ? a + b : a - b);
}

static Datum calculate(Resolver *r, const Expr *expr, Datum a, Datum b)
{
    int64_t i;
    bool overflow;

    if (expr->sign == SIGN_DIV) return divide(r, expr, a, b);
    if (expr->sign == SIGN_MOD) return modulo(r, expr, a, b);
    if (a.kind == FLOAT || b.kind == FLOAT)
        return calculate_float(r, expr, as_float(a), as_float(b));
    if (expr->sign == SIGN_ADD) overflow = __builtin_add_overflow(a.i, b.i, &i);
    else if (expr->sign == SIGN_SUB)
        overflow = __builtin_sub_overflow(a.i, b.i, &i);
    else overflow = __builtin_mul_overflow(a.i, b.i, &i);
    return overflow ? too_large(r, expr) : int_datum(i);
}

static bool same_dims(Datum a, Datum b)
{
    return a.count == b.count &&
           memcmp(a.dim, b.dim, (size_t)a.count * sizeof *a.dim) == 0;
}

// Compares two data of one kind.  Values of the net can't be compared: they are
// not known at compile time.
static Datum compare_equal(Resolver *r, const Expr *expr, Datum a, Datum b)
{
    bool equal;

    if (a.kind == b.kind && (a.kind == INT || a.kind == BOOL))
        equal = a.i == b.i;
    else if (is_number(a) && is_number(b)) equal = as_float(a) == as_float(b);
    else if (a.kind != b.kind || a.kind == TENSOR || a.kind == LIST) {
        error(r->diag, expr->name_pos, "%s can't be compared with %s",
              kind_words[a.kind], kind_words[b.kind]);
        return no_datum();
    } else if (a.kind == DIMS) equal = same_dims(a, b);
    else equal = strcmp(a.text, b.text) == 0;
    return bool_datum(equal == (expr->sign == SIGN_EQ));
}

// Integers are compared as integers: as doubles, distinct ones may be equal.
static Datum compare_order(const Expr *expr, Datum a, Datum b)
{
    double x = as_float(a), y = as_float(b);
    int order = (x > y) - (x < y);

    if (a.kind == INT && b.kind == INT) order = (a.i > b.i) - (a.i < b.i);
    switch (expr->sign) {
    case SIGN_LT: return bool_datum(order < 0);
    case SIGN_LE: return bool_datum(order <= 0);
    case SIGN_GT: return bool_datum(order > 0);
    default:      return bool_datum(order >= 0);
    }
}

// Returns the operator that a sign means between values, or NULL.
static const Op *op_of_sign(Sign sign)
{
    static const char *const names[] = {
        [SIGN_ADD] = "add", [SIGN_SUB] = "sub", [SIGN_MUL] = "mul",
        [SIGN_DIV] = "div",
    };
    return sign <= SIGN_DIV ? find_op(names[sign], 3) : NULL;
}

// The right side is evaluated only if the left side does not decide.
static Datum evaluate_logic(Resolver *r, const Expr *expr)
{
    Datum a = evaluate_as(r, expr->left, BOOL, "'and' and 'or' need");
    if (a.kind == POISON || (a.i != 0) == (expr->sign == SIGN_OR)) return a;
    return evaluate_as(r, expr->right, BOOL, "'and' and 'or' need");
}

static Datum evaluate_binary(Resolver *r, const Expr *expr)
{
    if (expr->sign == SIGN_AND || expr->sign == SIGN_OR)
        return evaluate_logic(r, expr);
    Datum a = evaluate(r, expr->left), b = evaluate(r, expr->right);
    if (a.kind == POISON || b.kind == POISON) return no_datum();
    if (expr->sign == SIGN_EQ || expr->sign == SIGN_NE)
        return compare_equal(r, expr, a, b);
    const Op *op = op_of_sign(expr->sign);
    if (op != NULL && can_combine(a, b)) {
        Operand sides[] = { { a, expr->left->pos }, { b, expr->right->pos } };
        return combine(r, expr, op, sides);
    }
    if (!is_number(a) || !is_number(b)) {
        error(r->diag, is_number(a) ? expr->right->pos : expr->left->pos,
              "a number is needed here, and this is %s",
              kind_words[is_number(a) ? b.kind : a.kind]);
        return no_datum();
    }
    return expr->sign < SIGN_EQ ? calculate(r, expr, a, b)
                                : compare_order(expr, a, b);
}

static Datum evaluate_unary(Resolver *r, const Expr *expr)
{
    if (expr->sign == SIGN_NOT) {
        Datum a = evaluate_as(r, expr->left, BOOL, "'not' needs");
        return a.kind == POISON ? a : bool_datum(!a.i);
    }
    Datum a = evaluate(r, expr->left);
    if (a.kind == POISON) return a;
    if (a.kind == TENSOR) {
        Operand negated = { a, expr->left->pos };
        return negate(r, expr, &negated);
    }
    if (!is_number(a)) {
        error(r->diag, expr->left->pos,
              "a number is needed here, and this is %s", kind_words[a.kind]);
        return no_datum();
    }
    if (a.kind == FLOAT) return float_datum(-a.f);
    return a.i == INT64_MIN ? too_large(r, expr) : int_datum(-a.i);
}

// ---- all expressions --------------------------------------------------------

// Each call gets the result of the call before it; a mark passes it on.
static Datum evaluate_chain(Resolver *r, const Expr *chain)
{
    Operand operand = { evaluate(r, chain->left), chain->left->pos };

    for (const Expr *call = chain->calls; call != NULL; call = call->next) {
        operand.datum = call->kind == EXPR_MARK || call->kind == EXPR_WIDE
            ? mark_operand(r, call, &operand)
            : evaluate_call(r, call, &operand);
        operand.pos = call->pos;
    }
    return operand.datum;
}

// Evaluates a list, whose elements must be numbers.
static Datum evaluate_list(Resolver *r, const Expr *expr)
{
    List *list = NEW(r->arena, List);
    int count = 0, errors = r->diag->error_count;

    for (const Arg *arg = expr->args; arg != NULL; arg = arg->next) count++;
    double *at = NEW_ARRAY(r->arena, (size_t)count + 1, double);
    for (const Arg *arg = expr->args; arg != NULL; arg = arg->next) {
        Datum datum = evaluate(r, arg->value);
        if (is_number(datum))
            at[list->count++] = as_float(datum);
        else if (datum.kind != POISON)
            error(r->diag, arg->value->pos, "a list is of numbers, and this is "
                  "%s", kind_words[datum.kind]);
    }
    if (r->diag->error_count > errors || list->count < count)
        return no_datum();
    list->at = at;
    return (Datum){ .kind = LIST, .list = list };
}

Datum evaluate(Resolver *r, const Expr *expr)
{
    Datum datum = { .i = expr->i, .f = expr->f, .count = expr->count,
                    .text = expr->text };

    memcpy(datum.dim, expr->dim, sizeof datum.dim);
    switch (expr->kind) {
    case EXPR_INT:    datum.kind = INT; return datum;
    case EXPR_FLOAT:  datum.kind = FLOAT; return datum;
    case EXPR_BOOL:   datum.kind = BOOL; return datum;
    case EXPR_DIMS:   datum.kind = DIMS; return datum;
    case EXPR_TEXT:   datum.kind = TEXT; return datum;
    case EXPR_NAME:   return evaluate_name(r, expr);
    case EXPR_CALL:   return evaluate_call(r, expr, NULL);
    case EXPR_CHAIN:  return evaluate_chain(r, expr);
    case EXPR_UNARY:  return evaluate_unary(r, expr);
    case EXPR_BINARY: return evaluate_binary(r, expr);
    case EXPR_LIST:   return evaluate_list(r, expr);
    case EXPR_MARK:
    case EXPR_WIDE:   break;            // occurs only in chains
    }
    bug("an expression of kind %d", (int)expr->kind);
}

Datum evaluate_as(Resolver *r, const Expr *expr, DatumKind kind,
                  const char *what)
{
    Datum datum = evaluate(r, expr);
    if (datum.kind == kind || datum.kind == POISON) return datum;
    error(r->diag, expr->pos, "%s %s, and this is %s", what, kind_words[kind],
          kind_words[datum.kind]);
    return no_datum();
}
