// The setting `prune`: the schedule of masks, and the parameters that have one.
//
//     prune = polynomial(final = 0.8, begin = 2000, end = 10000,
//                        of = "conv*", "dense*")
//
// Kernels are pruned: trained parameters of rank 2 and more.  Names and
// defaults are those of TensorFlow Model Optimization.  Its constant sparsity
// is a polynomial whose ends are equal.
#include <string.h>
#include "../ir/families/prune.h"
#include "resolve.h"

enum { FINAL, BEGIN, END, EVERY, INITIAL, POWER };     // arguments

#define FINAL_ARG                                                              \
    { "final", ARG_FLOAT, NULL, 0, 1, "the part of weights that is 0 at the "  \
      "end, below 1" },                                                        \
    { "begin", ARG_INT, NULL, 0, MOST_PRUNE_STEP, "the training step of the "  \
      "first mask" }
#define EVERY_ARG                                                              \
    { "every", ARG_INT, "100", 1, MOST_PRUNE_STEP, "steps from a mask to the " \
      "next" }

static const ArgSpec constant_args[] = {
    FINAL_ARG,
    { "end", ARG_LABEL, "none", 0, MOST_PRUNE_STEP, "the last step that may "
      "have a new mask" },
    EVERY_ARG, { .name = NULL },
};
static const ArgSpec polynomial_args[] = {
    FINAL_ARG,
    { "end", ARG_INT, NULL, 1, MOST_PRUNE_STEP, "the step at which the "
      "sparsity is final" },
    EVERY_ARG,
    { "initial", ARG_FLOAT, "0", 0, 1, "the sparsity at the beginning" },
    { "power", ARG_FLOAT, "3", 0, 1e6, "of the polynomial" },
    { .name = NULL },
};

// Not in the table of operators, where these names are schedules of the
// learning rate.
static const Op schedules[] = {
    { .name = "polynomial", .operands = "", .flags = SCHEDULE,
      .args = polynomial_args },
    { .name = "constant", .operands = "", .flags = SCHEDULE,
      .args = constant_args },
};

static const Op *schedule_called(const Expr *call)
{
    for (int k = 0; k < 2; k++)
        if (call->kind == EXPR_CALL &&
            strcmp(call->text, schedules[k].name) == 0)
            return &schedules[k];
    return NULL;
}

// True if an argument goes on the list of globs that `of` began.
static bool is_glob(const Arg *arg, const Arg *of)
{
    return of != NULL && arg->name == NULL && arg->value->kind == EXPR_TEXT;
}

// Returns the call without its argument `of`, a list of globs, and takes these;
// without one it takes all names.
static const Expr *take_of(Resolver *r, const Expr *call)
{
    Expr *rest = NEW(r->arena, Expr);
    Arg **end = &rest->args;
    const Arg *of = NULL;
    *rest = *call;
    for (const Arg *arg = call->args; arg != NULL; arg = arg->next) {
        bool begins = arg->name != NULL && strcmp(arg->name, "of") == 0;
        if (begins && of != NULL) {
            error(r->diag, arg->name_pos, "of is given twice");
            note(r->diag, of->name_pos, "first here");
        } else if (begins) {
            of = arg;
        }
        if (begins || is_glob(arg, of)) {
            add_pruned(r, arg, call->pos);
            continue;
        }
        *end = NEW(r->arena, Arg);
        **end = *arg;
        end = &(*end)->next;
    }
    *end = NULL;
    if (of == NULL) add_pruned(r, NULL, call->pos);
    return rest;
}

// True if a sparsity is below 1.
static bool is_sparsity(Resolver *r, const ArgValue *arg, const char *name)
{
    if (arg->f < 1) return true;
    error(r->diag, arg->pos, "%s must be below 1", name);
    return false;
}

static bool is_possible(Resolver *r, const Op *op, const ArgValue *arg)
{
    bool is_constant = op->args == constant_args;
    int64_t begin = arg[BEGIN].i, end = arg[END].i;
    if (!is_sparsity(r, &arg[FINAL], "final") ||
        !is_sparsity(r, &arg[INITIAL], "initial"))
        return false;
    if (is_constant ? end == NO_LABEL || end >= begin : end > begin)
        return true;
    error(r->diag, arg[END].pos, is_constant
          ? "end must not be before begin, %lld"
          : "end must be after begin, %lld", (long long)begin);
    return false;
}

static void set_schedule_of_masks(Graph *g, const Op *op, const ArgValue *arg)
{
    Attr *attr = g->training.prune_attr;
    bool is_constant = op->args == constant_args;
    g->training.prune = ops[OP_prune];
    attr[PRUNE_FINAL].f = arg[FINAL].f;
    attr[PRUNE_INITIAL].f = is_constant ? arg[FINAL].f : arg[INITIAL].f;
    attr[PRUNE_POWER].f = is_constant ? 1 : arg[POWER].f;
    attr[PRUNE_BEGIN].i = arg[BEGIN].i;
    attr[PRUNE_END].i = arg[END].i == NO_LABEL ? -1 : arg[END].i;
    attr[PRUNE_EVERY].i = arg[EVERY].i;
}

void set_prune(Resolver *r, const Stmt *stmt)
{
    const Op *op = schedule_called(stmt->value);
    ArgValue args[MAX_ARGS] = {{ .given = false }};

    if (op == NULL) {
        error(r->diag, stmt->value->pos, "prune is polynomial(...) or "
              "constant(...), as in polynomial(final = 0.8, begin = 2000, "
              "end = 10000)");
        return;
    }
    Build b = { .g = r->g, .op = op, .pos = stmt->value->pos,
                .name = op->name, .arg = args };
    if (!bind_arguments(r, &b, take_of(r, stmt->value), NULL, 0) ||
        !is_possible(r, op, args))
        return;
    set_schedule_of_masks(r->g, op, args);
    r->g->training.prune_pos = stmt->value->pos;
}

bool is_pruned(Resolver *r, ValueId v)
{
    const Value *value = &r->g->values[v];
    return is_pruning(r->g) && is_trained(value) && value->shape.rank > 1 &&
           matching_glob(&r->prune, value->name) != NULL;
}

static void check_size(Resolver *r, ValueId v)
{
    const Value *value = &r->g->values[v];
    int64_t count = elements(value->shape);
    if (count <= UINT32_MAX) return;
    error(r->diag, value->pos, "%s has %lld weights, and at most %lld can be "
          "pruned", value->name, (long long)count, (long long)UINT32_MAX);
}

void check_pruned(Resolver *r)
{
    if (!is_pruning(r->g) || r->diag->error_count > 0) return;
    for (ValueId v = 0; v < r->g->value_count; v++)
        if (is_pruned(r, v)) check_size(r, v);
    for (int32_t k = 0; k < r->prune.count; k++)
        if (!r->prune.at[k].matched)
            error(r->diag, r->prune.at[k].pos, "prune '%s' matches no kernel "
                  "that is trained; kernels are parameters of rank 2 and more, "
                  "and --emit names lists them", r->prune.at[k].text);
}
