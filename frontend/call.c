// Evaluates calls of functions, blocks and operators, looked up in this order.
// A block is a function over values: each call evaluates its body in a new
// scope, whose layers are named under the call's name:
//
//     x = x -> basic(64)      basic_1.conv_1, basic_1.conv_2, ...
//
// A body with an error would report it at every call.  A block in which an
// error was reported therefore returns poison from then on.  Blocks may call
// blocks that are defined later.  Bounds on depth, steps and nodes stop endless
// recursion and programs that do not end.
#include <string.h>
#include "resolve.h"

enum { MAX_DEPTH = 100, MAX_STEPS = 20000000, MAX_NODES = 100000 };
// Steps counted for a block call: its scope and names cost as much.
enum { STEPS_OF_BLOCK = 20 };

bool count_steps(Resolver *r, Pos pos, int count)
{
    if (r->steps < 0) return false;
    r->steps += count;
    if (r->steps <= MAX_STEPS && r->g->node_count <= MAX_NODES) return true;
    error(r->diag, pos, "this net is too large: more than %d million steps of "
          "evaluation or %d layers", MAX_STEPS / 1000000, MAX_NODES);
    r->steps = -1;
    return false;
}

// ---- operators --------------------------------------------------------------

Datum call_operator(Resolver *r, const Expr *call, const Op *op,
                    const Operand *given, int count)
{
    ArgValue args[MAX_ARGS] = {{ .given = false }};
    Build b = { .g = r->g, .op = op, .pos = call->pos, .arg = args,
                .freezes = freezes, .rate_factor = rate_factor,
                .resolver = r };

    if (!bind_arguments(r, &b, call, given, count)) return no_datum();
    // Inference has no loss.  Its operands are evaluated all the same, so that
    // training and inference have the same parameters.
    if (r->g->mode == INFER && op->flags & (LOSS | METRIC)) return int_datum(0);
    b.name = name_layer(r, call, op->name);
    if (b.name == NULL) return no_datum();
    const char *outer = r->part, *part = part_of_call(r, call);
    Claim *claim = makes_params(op)
        ? claim_weights(r, call, b.name, op, NULL) : NULL;
    if (part == NULL || (claim == NULL && makes_params(op))) return no_datum();
    int32_t layers = r->claims.layers;
    b.weights = claim != NULL ? weights_of(claim) : NULL;
    r->part = part;
    ValueId result = build_layer(&b);
    r->part = outer;
    if (r->options->flat != NULL && result != NONE)
        flat_add_call(r->options->flat, &b, part, result);
    if (claim == NULL) return tensor_datum(result);
    r->claims.layers++;
    return check_claim(r, claim, call, layers) ? tensor_datum(result)
                                               : no_datum();
}

// Describes where an operator belongs that stands in the wrong place.
static const char *where_it_belongs(const Op *op)
{
    if (op->flags & LOSS) return "a loss: write it after the word loss";
    if (op->flags & METRIC) return "a metric: write it after the word metric";
    if (op->flags & OPTIMIZER)
        return "an optimizer: it belongs in the train section";
    if (op->flags & SCHEDULE)
        return "a schedule: it belongs in the train section";
    return "an operator on values of the net";
}

// Returns the nearest name that may be called here.  Blocks and functions count
// only where layers do.  NULL if errors are not shown, for the search is slow.
static const char *nearest_callable(Resolver *r, const char *name,
                                    unsigned flags)
{
    if (!shows_errors(r->diag)) return NULL;
    int blocks = r->ast->blocks.count, functions, count = 0;
    const char **function = function_names(r->arena, &functions);
    const char **block = table_keys(&r->ast->blocks, r->arena);
    const char **names = NEW_ARRAY(r->arena, (size_t)(2 * OP_COUNT + blocks +
                                   functions) + 2, const char *);

    for (int i = 0; i < OP_COUNT; i++) {
        if (!(ops[i]->flags & flags)) continue;
        names[count++] = ops[i]->name;
        if (ops[i]->alias != NULL) names[count++] = ops[i]->alias;
    }
    for (int i = 0; i < blocks && flags & LAYER; i++) names[count++] = block[i];
    for (int i = 0; i < functions && flags & LAYER; i++)
        names[count++] = function[i];
    if (flags & LAYER) {
        names[count++] = "checkpoint";
        names[count++] = "float32";
    }
    return nearest_name(name, names, count);
}

const Op *op_called(const char *name)
{
    const Op *op = find_op(name, strlen(name));
    return op != NULL ? op : find_alias(name);
}

const Op *find_flagged(Resolver *r, const Expr *call, unsigned flags,
                       const char *what)
{
    const Op *op = op_called(call->text);
    const Variable *variable = find_variable(r, call->text);
    const char *hint = foreign_operator(call->text);

    if (op != NULL && op->flags & flags) return op;
    const char *near = nearest_callable(r, call->text, flags);
    if (op != NULL && !(op->flags & INTERNAL)) {
        error(r->diag, call->name_pos, "%s is %s", op->name,
              where_it_belongs(op));
    } else if (variable != NULL && near == NULL) {
        error(r->diag, call->name_pos, "'%s' is %s and can't be called",
              call->text, kind_words[variable->datum.kind]);
    } else if (hint != NULL) {
        error(r->diag, call->name_pos, "there is no %s '%s'; %s", what,
              call->text, hint);
    } else if (near != NULL) {
        error(r->diag, call->name_pos,
              "there is no %s '%s'; did you mean '%s'?", what, call->text,
              near);
        fixit(r->diag, call->name_pos, near);
    } else {
        error(r->diag, call->name_pos, "there is no %s '%s'", what, call->text);
    }
    return NULL;
}

// ---- blocks -----------------------------------------------------------------

// Returns the index of the parameter that an argument binds to, by name or by
// position; -1 if there is none.
static int param_of(const Block *block, const Arg *arg, int position)
{
    int k = 0;
    for (const Arg *p = block->params; p != NULL; p = p->next, k++)
        if (arg->name == NULL ? k == position : strcmp(arg->name, p->name) == 0)
            return k;
    return -1;
}

// Reports an unknown argument name, or one argument too many.
static void unknown_parameter(Resolver *r, const Block *block, const Arg *arg)
{
    const char *names[MAX_PARAMS], *near = NULL;
    int count = 0;

    for (const Arg *p = block->params; p != NULL; p = p->next)
        names[count++] = p->name;
    if (arg->name == NULL) {
        error(r->diag, arg->pos, "block '%s' has %d parameter%s, and this is "
              "one more", block->name, count, count == 1 ? "" : "s");
    } else {
        near = nearest_name(arg->name, names, count);
        error(r->diag, arg->name_pos, near != NULL
              ? "block '%s' has no parameter '%s'; did you mean '%s'?"
              : "block '%s' has no parameter '%s'", block->name, arg->name,
              near != NULL ? near : "");
        if (near != NULL) fixit(r->diag, arg->name_pos, near);
    }
    note(r->diag, block->pos, "the block is here");
}

// Fills given[k] for each parameter.  A threaded value is the first argument by
// position.  False if an argument has no parameter.
static bool match_arguments(Resolver *r, const Block *block, const Expr *call,
                            const Operand *threaded, Operand *given)
{
    int position = 0, errors = r->diag->error_count;

    if (threaded != NULL && block->params != NULL) given[0] = *threaded;
    if (threaded != NULL) position++;
    if (threaded != NULL && block->params == NULL) {
        error(r->diag, call->pos, "block '%s' has no parameters", block->name);
        note(r->diag, block->pos, "the block is here");
    }
    for (const Arg *arg = call->args; arg != NULL; arg = arg->next) {
        int k = param_of(block, arg, position);
        position += arg->name == NULL;
        if (k < 0 && (arg == name_argument(call) ||
                      arg == train_argument(call) ||
                      arg == weights_argument(call, block)))
            continue;
        Operand operand = { evaluate(r, arg->value), arg->pos };
        if (k < 0) {
            unknown_parameter(r, block, arg);
        } else if (given[k].pos.line != 0) {
            error(r->diag, arg->pos, "this parameter is given twice");
            note(r->diag, given[k].pos, "first here");
        } else {
            given[k] = operand;
        }
    }
    return r->diag->error_count == errors;
}

// Sets the block's parameters in scope, in order, so that a default may name
// earlier parameters.  False if one is missing or poison.
static bool bind_parameters(Resolver *r, Scope *scope, const Expr *call,
                            const Operand *given)
{
    const Block *block = scope->block;
    Scope *outer = r->scope;
    bool ok = true;

    r->scope = scope;
    for (const Arg *p = block->params; p != NULL; p = p->next, given++) {
        Datum datum = given->datum;
        if (given->pos.line == 0 && p->value != NULL) {
            datum = evaluate(r, p->value);
        } else if (given->pos.line == 0) {
            error(r->diag, call->pos, "block '%s' needs '%s'", block->name,
                  p->name);
            note(r->diag, p->pos, "the parameter is here");
        }
        set_variable(r, p->name, p->pos, datum);
        ok = ok && datum.kind != POISON;
    }
    r->scope = outer;
    return ok;
}

// Runs a block; the caller's scope and pending layer name are restored after.
static Datum run_block(Resolver *r, Scope *scope, const Expr *call,
                       const char *part)
{
    const Block *block = scope->block;
    Resolver outer = *r;
    int errors = r->diag->error_count;

    r->scope = scope;
    r->layer = NULL;
    r->part = part;
    r->depth++;
    run_body(r, &block->body);
    r->scope = outer.scope;
    r->layer = outer.layer;
    r->layer_call = outer.layer_call;
    r->part = outer.part;
    r->depth = outer.depth;
    if (r->diag->error_count > errors) {
        // A recursive block is noted only for its innermost call.
        if (table_find(&r->broken, block->name) == NULL)
            note(r->diag, call->pos, "in block '%s', called here", block->name);
        table_set(&r->broken, r->arena, block->name, scope);
        return no_datum();
    }
    if (!scope->returned) {
        error(r->diag, block->pos, "block '%s' returns nothing", block->name);
        note(r->diag, call->pos, "called here");
        table_set(&r->broken, r->arena, block->name, scope);
    }
    return scope->result;
}

static Datum call_block(Resolver *r, const Block *block, const Expr *call,
                        const Operand *threaded)
{
    Operand given[MAX_PARAMS] = {{ .pos.line = 0 }};
    Scope *scope = NEW(r->arena, Scope);

    scope->block = block;
    scope->prefix = scope->weights = "";

    if (r->depth >= MAX_DEPTH) {
        error(r->diag, call->pos, "blocks call each other more than %d deep",
              MAX_DEPTH);
        return no_datum();
    }
    if (!match_arguments(r, block, call, threaded, given) ||
        !bind_parameters(r, scope, call, given) ||
        table_find(&r->broken, block->name) != NULL)
        return no_datum();
    const char *name = name_layer(r, call, block->name);
    const char *part = part_of_call(r, call);
    if (name == NULL || part == NULL ||
        !count_steps(r, call->pos, STEPS_OF_BLOCK))
        return no_datum();
    Claim *claim = claim_weights(r, call, name, NULL, block);
    if (claim == NULL) return no_datum();
    scope->prefix = arena_print(r->arena, "%s.", name);
    share_with_block(scope, r->arena, claim);
    int32_t layers = r->claims.layers;
    Datum result = run_block(r, scope, call, part);
    bool sound = result.kind != POISON && check_claim(r, claim, call, layers);
    return sound ? result : no_datum();
}

// ---- all calls --------------------------------------------------------------

// A chain threads values of the net; functions take no such value.
static Datum call_threaded_function(Resolver *r, const Expr *call,
                                    const Operand *threaded)
{
    if (threaded == NULL) return call_function(r, call);
    error(r->diag, call->pos, "%s() gives a number and can't be in a chain",
          call->text);
    return no_datum();
}

Datum evaluate_call(Resolver *r, const Expr *call, const Operand *threaded)
{
    if (!count_steps(r, call->pos, 1)) return no_datum();
    if (is_function(call->text))
        return call_threaded_function(r, call, threaded);
    const Block *block = table_find(&r->ast->blocks, call->text);
    if (block != NULL && r->scope != NULL)
        return call_block(r, block, call, threaded);
    const Op *op = find_flagged(r, call, LAYER, "operator or block");
    if (op == NULL) return no_datum();
    if (r->scope == NULL) {
        error(r->diag, call->pos, "operators work in a net, not here");
        return no_datum();
    }
    return is_combining(op, call, threaded)
        ? call_combining(r, call, op, threaded)
        : call_operator(r, call, op, threaded, threaded != NULL);
}
