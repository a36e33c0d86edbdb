// Constructors called by the grammar's rules.  They report all errors that need
// no evaluation: a second net, a name defined twice, an expression that is too
// deep to walk.
#include <string.h>
#include "parse.h"
#include "resolve.h"

// A bound on recursion over expressions, far above any real program.
enum { MAX_HEIGHT = 500 };

Pos span(Pos a, Pos b)
{
    if (a.line == b.line) a.length = b.column + b.length - a.column;
    return a;
}

static Expr *checked(Parse *p, Expr *expr, int height)
{
    // Reported once: every expression built on this one is deeper still.
    expr->height = height;
    if (height == MAX_HEIGHT + 1)
        error(p->diag, expr->pos, "this expression is too deep; give a part "
              "of it a name");
    return expr;
}

static int height_of(const Expr *a, const Expr *b)
{
    int height = a != NULL ? a->height : 0;
    if (b != NULL && b->height > height) height = b->height;
    return height + 1;
}

Expr *new_expr(Parse *p, ExprKind kind, Pos pos)
{
    Expr *expr = NEW(p->arena, Expr);
    expr->kind = kind;
    expr->pos = expr->name_pos = pos;
    return expr;
}

Expr *new_call(Parse *p, const char *name, Pos name_pos, Pos pos, Arg *args)
{
    Expr *call = new_expr(p, EXPR_CALL, pos);
    int height = 1;

    call->text = name;
    call->name_pos = name_pos;
    call->args = args;
    for (const Arg *arg = args; arg != NULL; arg = arg->next)
        if (arg->value->height >= height) height = arg->value->height + 1;
    return checked(p, call, height);
}

Expr *new_sign(Parse *p, Sign sign, Pos sign_pos, Pos pos, Expr *left,
               Expr *right)
{
    Expr *expr = new_expr(p, right == NULL ? EXPR_UNARY : EXPR_BINARY, pos);
    expr->sign = sign;
    expr->name_pos = sign_pos;
    expr->left = left;
    expr->right = right;
    return checked(p, expr, height_of(left, right));
}

// A chain is a list and not a tree, so that long chains are not deep.
Expr *new_chain(Parse *p, Expr *head, Expr *call, Pos pos)
{
    Expr *chain = head;
    if (head->kind != EXPR_CHAIN) {
        chain = new_expr(p, EXPR_CHAIN, pos);
        chain->left = head;
        chain->calls = call;
    } else {
        chain->last->next = call;
    }
    chain->pos = pos;
    chain->last = call;
    if (chain == head && call->height < chain->height) return chain;
    return checked(p, chain, height_of(head == chain ? NULL : head, call));
}

Arg *new_arg(Parse *p, const char *name, Pos name_pos, Expr *value, Pos pos)
{
    Arg *arg = NEW(p->arena, Arg);
    *arg = (Arg){ .name = name, .pos = pos, .name_pos = name_pos,
                  .value = value };
    return arg;
}

void append_arg(ArgList *list, Arg *arg)
{
    if (list->first == NULL) list->first = arg;
    else list->last->next = arg;
    list->last = arg;
}

Stmt *new_stmt(Parse *p, StmtKind kind, Pos pos)
{
    Stmt *stmt = NEW(p->arena, Stmt);
    stmt->kind = kind;
    stmt->pos = stmt->name_pos = pos;
    return stmt;
}

// Appends a list of statements.  stmt is NULL after a syntax error.
void append_stmt(Body *body, Stmt *stmt)
{
    if (stmt == NULL) return;
    if (body->first == NULL) body->first = stmt;
    else body->last->next = stmt;
    while (stmt->next != NULL) stmt = stmt->next;
    body->last = stmt;
}

// ---- top-level items --------------------------------------------------------

static void count_name(Table *counts, Arena *arena, const char *name)
{
    int *count = table_find(counts, name);
    if (count == NULL) {
        count = NEW(arena, int);
        table_set(counts, arena, name, count);
    }
    ++*count;
}

// Counts assignments.  An assignment within repeat counts twice, since it may
// be executed many times.
static void count_assigned(Table *counts, Arena *arena, const Body *body,
                           bool repeated)
{
    for (const Stmt *stmt = body->first; stmt != NULL; stmt = stmt->next) {
        bool again = repeated || stmt->kind == STMT_REPEAT;
        bool assigns = stmt->kind != STMT_OUTPUT &&
                       stmt->kind != STMT_CHECKPOINT &&
                       stmt->kind != STMT_FLOAT32;
        if (stmt->name != NULL && assigns) {
            count_name(counts, arena, stmt->name);
            if (again) count_name(counts, arena, stmt->name);
        }
        count_assigned(counts, arena, &stmt->body, again);
        count_assigned(counts, arena, &stmt->other, again);
    }
}

static Block *new_block(Parse *p, const char *name, Pos pos, Arg *params,
                        Body body)
{
    Block *block = NEW(p->arena, Block);
    block->name = name;
    block->pos = pos;
    block->params = params;
    block->body = body;
    for (const Arg *param = params; param != NULL; param = param->next)
        count_name(&block->assigned, p->arena, param->name);
    count_assigned(&block->assigned, p->arena, &body, false);
    return block;
}

void add_net(Parse *p, const char *name, Pos pos, Body body)
{
    if (p->ast->net != NULL) {
        error(p->diag, pos, "a second net; a program has one");
        note(p->diag, p->ast->net->pos, "the first is here");
        return;
    }
    p->ast->net = new_block(p, name, pos, NULL, body);
}

static bool check_params(Parse *p, const Arg *params)
{
    int count = 0;

    for (const Arg *a = params; a != NULL; a = a->next) {
        for (const Arg *b = params; b != a; b = b->next) {
            if (strcmp(a->name, b->name) != 0) continue;
            error(p->diag, a->name_pos, "'%s' is a parameter already", a->name);
            return false;
        }
        if (++count <= MAX_PARAMS) continue;
        error(p->diag, a->name_pos, "a block has at most %d parameters",
              MAX_PARAMS);
        return false;
    }
    return true;
}

void add_block(Parse *p, const char *name, Pos pos, Arg *params, Body body)
{
    Block *other = table_find(&p->ast->blocks, name);
    if (other != NULL) {
        error(p->diag, pos, "there is a block '%s' already", name);
        note(p->diag, other->pos, "it is here");
        return;
    }
    if (find_op(name, strlen(name)) != NULL || is_function(name)) {
        error(p->diag, pos, "'%s' is %s; a block needs another name", name,
              is_function(name) ? "a function" : "an operator");
        return;
    }
    if (!check_params(p, params)) return;
    table_set(&p->ast->blocks, p->arena, name,
              new_block(p, name, pos, params, body));
}

void add_train(Parse *p, Pos pos, Body body)
{
    if (p->ast->train != NULL) {
        error(p->diag, pos, "a second train section; a program has one");
        note(p->diag, p->ast->train->pos, "the first is here");
        return;
    }
    p->ast->train = new_stmt(p, STMT_REPEAT, pos);
    p->ast->train->body = body;
}

void add_constant(Parse *p, const char *name, Pos pos, Expr *value)
{
    Stmt *stmt = new_stmt(p, STMT_ASSIGN, pos);
    stmt->name = name;
    stmt->value = value;
    const Stmt *other = table_find(&p->ast->constant_names, name);
    if (other != NULL) {
        error(p->diag, pos, "there is a constant '%s' already", name);
        note(p->diag, other->pos, "it is here");
        return;
    }
    table_set(&p->ast->constant_names, p->arena, name, stmt);
    append_stmt(&p->ast->constants, stmt);
}
