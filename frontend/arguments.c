// Binds the arguments of a call to those of an operator.  Values of the net are
// operands and come first.  Numbers and words are arguments, by position or by
// name, and are checked against the operator's argument list:
//
//     x -> conv(32, 3x3, stride = 2)      conv(x, 32, kernel = 3)
//
// An operand may be named too: add(a = x, b = y).  An argument that the call
// leaves out gets its default, which the list has in the language's syntax.
// Binding continues after an error, so that one call reports all its errors.
// A missing argument is reported only if nothing else is wrong, since both may
// be one mistake.
#include <inttypes.h>
#include <string.h>
#include "../ir/dtype.h"
#include "resolve.h"

// The state of binding one call.
typedef struct Binding {
    Resolver   *r;
    Build      *b;
    const Expr *call;
    Slot        slot[MAX_SLOTS];     // operands of the call
    int         slot_count;
    int         next;                   // next argument by position
    bool        ok;
} Binding;

// ---- the lists of an operator -----------------------------------------------

static int spec_count(const Op *op)
{
    int count = 0;
    while (op->args != NULL && op->args[count].name != NULL) count++;
    if (count > MAX_ARGS) bug("%s has %d arguments", op->name, count);
    return count;
}

// Collects the operands that the operator's row does not have in brackets.
static int call_slots(const Op *op, Slot *slots)
{
    Slot all[MAX_SLOTS];
    int count = kernel_slots(op->operands, all, MAX_SLOTS), own = 0;

    if (op->flags & (OPTIMIZER | SCHEDULE)) return 0;
    for (const char *c = op->operands; *c != '\0' && own < MAX_SLOTS;) {
        size_t length = strcspn(c, " ");
        if (*c != '[') kernel_slots(c, &slots[own++], 1);
        c += length + strspn(c + length, " ");
    }
    return own < count ? own : count;
}

bool makes_params(const Op *op)
{
    const char *made = strchr(op->operands, '[');
    return op->flags & LAYER && made != NULL &&
           strncmp(made, "[header]", 8) != 0;
}

const Arg *call_argument(const Expr *call, const char *name)
{
    for (const Arg *arg = call->args; arg != NULL; arg = arg->next)
        if (arg->name != NULL && strcmp(arg->name, name) == 0) return arg;
    return NULL;
}

const Arg *name_argument(const Expr *call)
{
    return call_argument(call, "name");
}

// ---- errors -----------------------------------------------------------------

// True if number is within the row's limits.  Limits of 0 and 0 mean none.
static bool within(const ArgSpec *spec, double number)
{
    return (number >= spec->low && number <= spec->high) ||
           (spec->low == 0 && spec->high == 0);
}

static bool check_range(Binding *w, const ArgSpec *spec, Pos pos, double number)
{
    if (within(spec, number)) return true;
    error(w->r->diag, pos, "%s must be from %.15g to %.15g, not %.15g",
          spec->name, spec->low, spec->high, number);
    return false;
}

// True if the number is in its range and the precision's type can hold it.
static bool check_real(Binding *w, const ArgSpec *spec, Pos pos, double number)
{
    return check_range(w, spec, pos, number) &&
           check_small(w->r, pos, spec->name, number);
}

// Reports an argument of the wrong kind.  The texts are indexed by ArgType.
static bool wrong_kind(Binding *w, const ArgSpec *spec, Pos pos, Datum datum)
{
    static const char *const wants[] = {
        "an integer", "a number", "true or false", "dimensions (3 or 3x5)",
        "same, valid, 1, 1x2 or 0x1x2x3", "a word", "a list",
        "a word or a number", "an integer or none",
    };
    const char *is = datum.kind != DIMS ? kind_words[datum.kind]
        : arena_print(w->r->g->arena, "%d dimensions", datum.count);
    bool is_quoted = datum.kind == TEXT &&
        is_word_of(datum.text, spec->type == ARG_PADDING ? "same|valid" :
                   takes_words(spec) ? spec->fallback : "");
    error(w->r->diag, pos, is_quoted
          ? "%s is %s, and this is %s; leave the quotes out: %s"
          : "%s is %s, and this is %s", spec->name, wants[spec->type], is,
          is_quoted ? datum.text : "");
    if (is_quoted) fixit(w->r->diag, pos, datum.text);
    return false;
}

// Returns the argument called name, or NULL; name may be NULL.
static const ArgSpec *spec_called(const Op *op, const char *name)
{
    for (int k = 0; name != NULL && k < spec_count(op); k++)
        if (strcmp(op->args[k].name, name) == 0) return &op->args[k];
    return NULL;
}

// ---- one argument -----------------------------------------------------------

// A float with an integral value is accepted, as 64 * 0.5.
static bool bind_int(Binding *w, const ArgSpec *spec, ArgValue *value,
                     Datum datum)
{
    if (datum.kind == FLOAT && datum.f >= -1e15 && datum.f <= 1e15 &&
        datum.f == (double)(int64_t)datum.f)
        datum = int_datum((int64_t)datum.f);
    if (datum.kind == FLOAT) {
        error(w->r->diag, value->pos, "%s is an integer, and this is %.15g; "
              "floor() and round() make integers", spec->name, datum.f);
        return false;
    }
    if (datum.kind != INT) return wrong_kind(w, spec, value->pos, datum);
    value->i = datum.i;
    return check_range(w, spec, value->pos, (double)datum.i);
}

static bool bind_float(Binding *w, const ArgSpec *spec, ArgValue *value,
                       Datum datum)
{
    if (datum.kind != INT && datum.kind != FLOAT)
        return wrong_kind(w, spec, value->pos, datum);
    value->f = datum.kind == INT ? (double)datum.i : datum.f;
    return check_real(w, spec, value->pos, value->f);
}

static bool bind_bool(Binding *w, const ArgSpec *spec, ArgValue *value,
                      Datum datum)
{
    if (datum.kind != BOOL) return wrong_kind(w, spec, value->pos, datum);
    value->i = datum.i;
    return true;
}

// n means nxn; in paddings axb means axaxbxb: top, bottom, left, right.
static bool bind_dims(Binding *w, const ArgSpec *spec, ArgValue *value,
                      Datum datum)
{
    int want = spec->type == ARG_DIMS ? 2 : 4;
    if (spec->type == ARG_PADDING && datum.kind == WORD) {
        value->word = datum.text;
        return is_word_of(datum.text, "same|valid") ||
               wrong_kind(w, spec, value->pos, datum);
    }
    if (datum.kind == INT) {
        datum.count = 2;
        datum.dim[0] = datum.dim[1] = datum.i;
    } else if (datum.kind != DIMS ||
               (datum.count != 2 && datum.count != want)) {
        return wrong_kind(w, spec, value->pos, datum);
    }
    value->count = want;
    for (int i = 0; i < want; i++) {
        value->dim[i] = datum.dim[i * datum.count / want];
        if (!check_range(w, spec, value->pos, (double)value->dim[i]))
            return false;
    }
    return true;
}

// The word must be one of the operator's own.
static bool bind_word(Binding *w, const ArgSpec *spec, ArgValue *value,
                      Datum datum)
{
    if (datum.kind != WORD) return wrong_kind(w, spec, value->pos, datum);
    value->word = datum.text;
    if (is_word_of(datum.text, spec->fallback)) return true;
    error(w->r->diag, value->pos, "%s can't be %s; it is one of %s", spec->name,
          datum.text, spec->fallback);
    return false;
}

static bool bind_list(Binding *w, const ArgSpec *spec, ArgValue *value,
                      Datum datum)
{
    if (datum.kind != LIST) return wrong_kind(w, spec, value->pos, datum);
    value->list = datum.list;
    for (int i = 0; i < datum.list->count; i++)
        if (!check_real(w, spec, value->pos, datum.list->at[i])) return false;
    return true;
}

static bool bind_init(Binding *w, const ArgSpec *spec, ArgValue *value,
                      Datum datum)
{
    if (datum.kind == INT || datum.kind == FLOAT)
        return bind_float(w, spec, value, datum);
    return bind_word(w, spec, value, datum);
}

static bool bind_label(Binding *w, const ArgSpec *spec, ArgValue *value,
                       Datum datum)
{
    value->i = NO_LABEL;
    return datum.kind == WORD ? bind_word(w, spec, value, datum)
                              : bind_int(w, spec, value, datum);
}

// Converts and checks a value by its ArgType; reports errors.
static bool bind_value(Binding *w, const ArgSpec *spec, ArgValue *value,
                       Datum datum)
{
    static bool (*const bind[])(Binding *, const ArgSpec *, ArgValue *,
                                Datum) = {
        bind_int, bind_float, bind_bool, bind_dims, bind_dims, bind_word,
        bind_list, bind_init, bind_label,
    };
    return bind[spec->type](w, spec, value, datum);
}

// Binds argument k of the operator's list.
static void bind_argument(Binding *w, int k, Pos pos, Datum datum)
{
    const ArgSpec *spec = &w->b->op->args[k];
    ArgValue *value = &w->b->arg[k];

    if (value->given) {
        error(w->r->diag, pos, "%s is given twice", spec->name);
        note(w->r->diag, value->pos, "first here");
        w->ok = false;
        return;
    }
    value->given = true;
    value->pos = pos;
    if (datum.kind == POISON || !bind_value(w, spec, value, datum))
        w->ok = false;
}

// ---- operands ---------------------------------------------------------------

// Returns the largest number of values that a call may give.
static int most_operands(const Binding *w)
{
    int count = w->slot_count;
    return count > 0 && w->slot[count - 1].variadic ? MAX_SLOTS : count;
}

static int fewest_operands(const Binding *w)
{
    int count = 0;
    for (int k = 0; k < w->slot_count; k++)
        count += !w->slot[k].optional && !w->slot[k].variadic;
    return count;
}

// Binds slot k among the operands of the call.
static void bind_operand(Binding *w, int k, Pos pos, Datum datum)
{
    Build *b = w->b;

    if (datum.kind == POISON) w->ok = false;
    if (k >= most_operands(w)) {
        error(w->r->diag, pos, "%s takes %d value%s, and this is one more",
              b->op->name, most_operands(w), most_operands(w) == 1 ? "" : "s");
        w->ok = false;
        return;
    }
    if (k < b->operand_count && b->operand[k] != NONE) {
        error(w->r->diag, pos, "the value %.*s of %s is given twice",
              w->slot[k].length, w->slot[k].name, b->op->name);
        w->ok = false;
        return;
    }
    b->operand[k] = datum.kind == TENSOR ? datum.value : NONE;
    b->operand_pos[k] = pos;
    if (k >= b->operand_count) b->operand_count = k + 1;
}

// Reports the first required operand that the call does not give.
static void check_operands(Binding *w)
{
    int fewest = fewest_operands(w);

    if (!w->ok) return;
    for (int k = 0; k < fewest; k++) {
        if (k < w->b->operand_count && w->b->operand[k] != NONE) continue;
        error(w->r->diag, w->call->pos, "%s needs %d value%s, and '%.*s' is "
              "missing", w->b->op->name, fewest, fewest == 1 ? "" : "s",
              w->slot[k].length, w->slot[k].name);
        if (k == 0 && w->b->op->flags & LAYER)
            note(w->r->diag, w->call->pos, "a value x goes into it by "
                 "x -> %s(...)", w->b->op->name);
        w->ok = false;
        return;
    }
}

// ---- the call ---------------------------------------------------------------

// Poison counts as a value while values are missing, so that the arguments
// after it keep their positions.
static void bind_by_position(Binding *w, Pos pos, Datum datum)
{
    Build *b = w->b;
    bool is_operand = datum.kind == TENSOR ||
        (datum.kind == POISON && b->operand_count < fewest_operands(w));

    if (is_operand) {
        bind_operand(w, b->operand_count, pos, datum);
    } else if (w->next < spec_count(b->op)) {
        bind_argument(w, w->next++, pos, datum);
    } else {
        error(w->r->diag, pos, "%s takes %d argument%s, and this is one more",
              b->op->name, spec_count(b->op),
              spec_count(b->op) == 1 ? "" : "s");
        w->ok = false;
    }
}

// Every operator has the argument "name", and one with parameters "train" and
// "weights".
static void unknown_argument(Binding *w, const Arg *arg)
{
    const Op *op = w->b->op;
    const char *names[MAX_ARGS + 3];
    int count = spec_count(op);

    for (int k = 0; k < count; k++) names[k] = op->args[k].name;
    names[count++] = "name";
    if (makes_params(op)) {
        names[count++] = "train";
        names[count++] = "weights";
    }
    const char *near = foreign_argument(arg->name);
    if (spec_called(op, near) == NULL)
        near = nearest_name(arg->name, names, count);
    error(w->r->diag, arg->name_pos, near != NULL
          ? "%s has no argument '%s'; did you mean '%s'?"
          : "%s has no argument '%s'", op->name, arg->name,
          near != NULL ? near : "");
    if (near != NULL) fixit(w->r->diag, arg->name_pos, near);
    w->ok = false;
}

// Binds a named argument of the list, or an operand of that name.
static void bind_by_name(Binding *w, const Arg *arg, Datum datum)
{
    const ArgSpec *spec = spec_called(w->b->op, arg->name);
    if (spec != NULL) {
        bind_argument(w, (int)(spec - w->b->op->args), arg->value->pos, datum);
        return;
    }
    for (int k = 0; k < w->slot_count; k++)
        if (strlen(arg->name) == (size_t)w->slot[k].length &&
            strncmp(w->slot[k].name, arg->name, strlen(arg->name)) == 0) {
            if (datum.kind != TENSOR && datum.kind != POISON) {
                error(w->r->diag, arg->value->pos, "'%s' is a value of the "
                      "net, and this is %s", arg->name, kind_words[datum.kind]);
                w->ok = false;
                return;
            }
            bind_operand(w, k, arg->value->pos, datum);
            return;
        }
    unknown_argument(w, arg);
}

// Sets the arguments that are not given to their defaults; the first word of a
// list of words is the default.
static void bind_fallbacks(Binding *w)
{
    for (int k = 0; k < spec_count(w->b->op); k++) {
        const ArgSpec *spec = &w->b->op->args[k];
        ArgValue *value = &w->b->arg[k];
        const char *text = spec->fallback;
        Datum datum;
        if (value->given) continue;
        value->pos = w->call->pos;
        if (text == NULL) {
            if (w->ok)
                error(w->r->diag, w->call->pos, "%s needs %s: %s",
                      w->b->op->name, spec->name, spec->meaning);
            w->ok = false;
            continue;
        }
        text = arena_copy(w->r->arena, text, strcspn(text, "|"));
        if (datum_of_text(text, &datum)) bind_value(w, spec, value, datum);
    }
}

// True for activation = relu as in Keras, an error that names the remedy: the
// operator follows the call.
static bool is_activation(Binding *w, const Arg *arg)
{
    const Op *op = w->b->op;
    const char *word = arg->value->kind == EXPR_NAME ||
                       arg->value->kind == EXPR_TEXT ? arg->value->text : NULL;

    if (arg->name == NULL || strcmp(arg->name, "activation") != 0 ||
        spec_called(op, "activation") != NULL)
        return false;
    error(w->r->diag, arg->name_pos, "%s has no argument 'activation'; the "
          "activation comes after it: %s(...) -> %s", op->name, op->name,
          word != NULL ? word : "activation");
    w->ok = false;
    return true;
}

// True for the arguments `train` (freeze.c) and `weights` (share_weights.c), an
// error if there are no parameters.
static bool is_of_params(Binding *w, const Arg *arg)
{
    const Op *op = w->b->op;
    bool trains = arg == train_argument(w->call);
    if (!trains && arg != weights_argument(w->call, NULL)) return false;
    if (makes_params(op)) return true;
    error(w->r->diag, arg->name_pos, "%s has no parameters to %s", op->name,
          trains ? "train" : "share");
    w->ok = false;
    return true;
}

// Binds an operand that comes from a chain or a sum: it must be a value.
static void bind_given(Binding *w, const Operand *given)
{
    if (given->datum.kind == TENSOR || given->datum.kind == POISON) {
        bind_operand(w, w->b->operand_count, given->pos, given->datum);
        return;
    }
    error(w->r->diag, given->pos, "%s works on values of the net, and this is "
          "%s", w->b->op->name, kind_words[given->datum.kind]);
    w->ok = false;
}

bool check_small(Resolver *r, Pos pos, const char *name, double number)
{
    DType real = r->g->real;
    if (can_hold(real, number)) return true;
    error(r->diag, pos, "%s is %.9g, which is too small for %s: other than 0, "
          "the smallest is %.9g", name, number, real_name(real),
          least_normal(real));
    return false;
}

bool bind_arguments(Resolver *r, Build *b, const Expr *call,
                    const Operand *given, int count)
{
    Binding w = { .r = r, .b = b, .call = call, .ok = true };

    for (int k = 0; k < MAX_SLOTS; k++) b->operand[k] = NONE;
    w.slot_count = call_slots(b->op, w.slot);
    for (int k = 0; k < count; k++) bind_given(&w, &given[k]);
    for (const Arg *arg = call->args; arg != NULL; arg = arg->next) {
        if (arg == name_argument(call)) continue;
        if (is_of_params(&w, arg)) continue;
        if (is_activation(&w, arg)) continue;
        expect_word(r, arg->value, spec_called(b->op, arg->name));
        Datum datum = evaluate(r, arg->value);
        if (arg->name == NULL) bind_by_position(&w, arg->value->pos, datum);
        else bind_by_name(&w, arg, datum);
    }
    check_operands(&w);
    bind_fallbacks(&w);
    return w.ok;
}
