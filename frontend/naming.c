// Names of layers and values.  The emitted code, the plan and weight files have
// these names, so they are stable under small changes of the program.
//
//     conv1 = image -> conv(32, 5) -> relu     layers conv1 and relu_1; the
//                                              relu's result is value conv1
//     x = x -> conv(64, 3) -> relu             x is assigned more than once:
//                                              conv_2, relu_2
//     y = x -> conv(64, 3) -> batchnorm        two layers make parameters:
//                                              conv_3 and batchnorm_1, value y
//     y = x -> maxpool(2) -> relu              none does, of two: maxpool_1 and
//                                              relu_3, value y
//     x = basic(x, 64)                         basic_1.conv_1, ...
//     x = x -> conv(64, 3, name = "stem")      stem
//
// The variable names the layer of the one call that makes parameters, or of the
// only call.  A call of a block makes parameters if a call in it does.
//
// Layers are counted for each operator or block, in each scope, in program
// order, named ones included: naming one layer renumbers no other.
#include <string.h>
#include "../ir/base/unique_names.h"
#include "resolve.h"

// ---- the call that takes the name of an assignment --------------------------

typedef struct Calls {
    const Expr *any, *maker;    // the last seen
    int         count, makers;
} Calls;

static void find_calls(const Resolver *r, const Expr *expr, Calls *calls);
static bool block_makes_params(const Resolver *r, Block *block);

static void find_call(const Resolver *r, const Expr *call, Calls *calls)
{
    const Op *op = op_called(call->text);
    Block *block = table_find(&r->ast->blocks, call->text);

    for (const Arg *arg = call->args; arg != NULL; arg = arg->next)
        find_calls(r, arg->value, calls);
    if (is_function(call->text)) return;
    calls->any = call;
    calls->count++;
    bool makes = block != NULL ? block_makes_params(r, block)
                               : op != NULL && makes_params(op);
    if (!makes) return;
    calls->maker = call;
    calls->makers++;
}

static bool body_makes_params(const Resolver *r, const Body *body)
{
    Calls calls = { .count = 0 };
    for (const Stmt *s = body->first; s != NULL; s = s->next) {
        if (s->value != NULL) find_calls(r, s->value, &calls);
        if (calls.makers > 0 || body_makes_params(r, &s->body) ||
            body_makes_params(r, &s->other))
            return true;
    }
    return false;
}

// Computed once for each block.  A recursive call adds nothing to the result of
// the other calls.
static bool block_makes_params(const Resolver *r, Block *block)
{
    if (block->makes == MAKES_UNKNOWN) {
        block->makes = MAKES_NONE;
        if (body_makes_params(r, &block->body)) block->makes = MAKES_SOME;
    }
    return block->makes == MAKES_SOME;
}

static void find_calls(const Resolver *r, const Expr *expr, Calls *calls)
{
    if (expr->kind == EXPR_CALL) find_call(r, expr, calls);
    if (expr->left != NULL) find_calls(r, expr->left, calls);
    if (expr->right != NULL) find_calls(r, expr->right, calls);
    for (const Expr *call = expr->calls; call != NULL; call = call->next)
        if (call->kind == EXPR_CALL) find_call(r, call, calls);
}

// Returns the one call that makes parameters, or the only call if it is not an
// operand of a sum.
const Expr *call_to_name(const Resolver *r, const Expr *expr)
{
    Calls calls = { .count = 0 };
    find_calls(r, expr, &calls);
    if (calls.makers == 1) return calls.maker;
    return calls.count == 1 && expr->kind != EXPR_BINARY ? calls.any : NULL;
}

bool names_for_good(const Resolver *r, const char *name)
{
    const int *count = table_find(&r->scope->block->assigned, name);
    return count != NULL && *count == 1 && r->scope->repeats == 0;
}

// ---- layers -----------------------------------------------------------------

// Returns stem_N for the next free N; `last` maps each stem to its last N.
static const char *numbered(Resolver *r, Table *last, const char *stem,
                            int first)
{
    Scope *scope = r->scope;
    int *counter = table_find(last, stem);

    if (counter == NULL) {
        counter = NEW(r->arena, int);
        *counter = first - 1;
        table_set(last, r->arena, stem, counter);
    }
    for (;;) {
        const char *name = arena_print(r->arena, "%s_%d", stem, ++*counter);
        if (table_find(&scope->layers, name) == NULL &&
            table_find(&scope->block->assigned, name) == NULL)
            return name;
    }
}

// Returns the length of the word at the start of text; 0 if there is none.
static size_t word_length(const char *text)
{
    static const char letters[] = "0123456789"
                                  "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    return strspn(text, letters + strlen("0123456789")) > 0
        ? strspn(text, letters) : 0;
}

// True for a word, or words with dots between them: layers in blocks have such
// names.
static bool is_name(const char *text)
{
    for (;; text++) {
        size_t length = word_length(text);
        text += length;
        if (length == 0 || *text != '.') return length > 0 && *text == '\0';
    }
}

bool check_name(Resolver *r, Pos pos, const char *name)
{
    if (is_name(name)) return true;
    error(r->diag, pos, "a name is made of letters, digits and _, and begins "
          "with no digit; a dot may be between two");
    return false;
}

// Returns the name given by name = "stem", or NULL after an error.  A repeated
// call gets a number from its second execution on.
static const char *given_name(Resolver *r, const Expr *call, const Arg *arg)
{
    Datum datum = evaluate_as(r, arg->value, TEXT, "a name is");

    if (datum.kind == POISON || !check_name(r, arg->value->pos, datum.text))
        return NULL;
    const Expr *other = table_find(&r->scope->layers, datum.text);
    if (other == call) return numbered(r, &r->scope->repeated, datum.text, 2);
    if (other != NULL) {
        error(r->diag, arg->value->pos, "there is a layer '%s' already",
              datum.text);
        note(r->diag, other->pos, "it is here");
        return NULL;
    }
    return datum.text;
}

const char *name_layer(Resolver *r, const Expr *call, const char *what)
{
    const Arg *arg = name_argument(call);
    const Op *op = find_op(what, strlen(what));
    bool is_figure = op != NULL && op->flags & (LOSS | METRIC);
    const char *name = is_figure ? what
        : numbered(r, &r->scope->counters, what, 1);

    if (arg != NULL)
        name = given_name(r, call, arg);
    else if (r->layer != NULL && r->layer_call == call &&
             table_find(&r->scope->layers, r->layer) == NULL)
        name = r->layer;
    if (name == NULL) return NULL;
    table_set(&r->scope->layers, r->arena, name, (void *)(uintptr_t)call);
    return arena_print(r->arena, "%s%s", r->scope->prefix, name);
}

// ---- values -----------------------------------------------------------------

// Returns the word of the call that got the statement's name, without aliases.
static const char *layer_word(const Resolver *r, NodeId def)
{
    const char *word = r->layer_call != NULL ? r->layer_call->text : NULL;
    if (word == NULL) return r->g->nodes[def].op->name;
    bool is_block = table_find(&r->ast->blocks, word) != NULL;
    const Op *op = is_block ? NULL : op_called(word);
    return op != NULL ? op->name : word;
}

// conv1 names the last value of its statement.  The value of the layer conv1
// itself is then renamed to conv1.conv.  The name that the last value had
// before is free for a later one.
void name_result(Resolver *r, ValueId value, ValueId first, const char *name)
{
    Graph *g = r->g;
    const char *full = arena_print(r->arena, "%s%s", r->scope->prefix, name);

    if (value < first || strcmp(g->values[value].name, full) == 0) return;
    for (ValueId v = first; v < g->value_count; v++) {
        NodeId def = g->values[v].def;
        if (def == NONE || strcmp(g->values[v].name, full) != 0) continue;
        const char *own = arena_print(r->arena, "%s.%s", full,
                                      layer_word(r, def));
        g->values[v].name = names_take(g->value_names, own, v);
    }
    names_release(g->value_names, g->values[value].name);
    // The value with this name may have been renamed above.
    ValueId holder = names_find(g->value_names, full, strlen(full));
    g->values[value].name =
        holder >= first ? full : names_take(g->value_names, full, value);
}
