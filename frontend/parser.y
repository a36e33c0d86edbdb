/* The grammar of the language.  It knows the keywords and no operator: a call
   is a name with arguments.

   A -> threads a value through calls and binds weakest, so a + b -> relu is
   the relu of the sum.  Statements end where a line does (token_rules.c decides
   which newlines count).  After an error the parser resumes at the next
   statement. */

%define api.pure full
%define api.prefix {cnnc_}
%define api.location.type {Pos}
%define api.value.type {TokenValue}
%define api.header.include {"parser.h"}
%define parse.error custom
%define parse.lac full
%locations
%param { Parse *p }
%expect 0

%code requires {
#include "parse.h"
}

%code {
#include <string.h>

#define YYLLOC_DEFAULT(now, right, count)                                     \
    ((now) = (count) > 0 ? span(YYRHSLOC(right, 1), YYRHSLOC(right, count))   \
                         : YYRHSLOC(right, 0))
// A fixed parser stack, which is never moved to the heap.
#define YYINITDEPTH 2000
#define YYMAXDEPTH  2000

static int cnnc_lex(TokenValue *value, Pos *pos, Parse *p)
{
    return next_token(value, pos, p);
}

static void cnnc_error(Pos *pos, Parse *p, const char *message);

// if and repeat
static void refuse_tuple(Parse *p, Pos pos, const Expr *first,
                         const Arg *rest);
static Stmt *new_branch(Parse *p, Pos pos, Expr *condition, Body body,
                        Body other);
static Stmt *new_call_stmt(Parse *p, StmtKind kind, Pos pos, Expr *call);
// Makes an output or a mark.
static Stmt *new_named(Parse *p, StmtKind kind, Pos pos, const char *name);
static void append_named(Stmt *list, Stmt *stmt);
}

%token END "the end of the line"
%token NET "'net'" BLOCK "'block'" TRAIN_ "'train'" INCLUDE "'include'"
%token INPUT_ "'input'" OUTPUT "'output'" LOSS_ "'loss'" METRIC_ "'metric'"
%token CHECKPOINT "'checkpoint'" FLOAT32 "'float32'"
%token RETURN "'return'" IF "'if'" ELSE "'else'" REPEAT "'repeat'" AS "'as'"
%token AND "'and'" OR "'or'" NOT "'not'"
%token ARROW "'->'" EQ "'=='" NE "'!='" LE "'<='" GE "'>='"
%token <text> NAME "a name" STRING "a string"
%token <number> NUMBER "a number" DIMS "dimensions" BOOLEAN "true or false"

%type <args> params param_list param args arg_list arg dims values value_of
%type <expr> expr simple stage call value
%type <stmt> stmt outputs checkpoints wides setting
%type <body> body stmts lines settings else

%left OR
%left AND
%precedence NOT
%nonassoc EQ NE '<' '>' LE GE
%left '+' '-'
%left '*' '/' '%'
%precedence MINUS

%%

program: items | items item;

items: %empty
     | items END
     | items item END
     | items error END;

item: NET NAME body             { add_net(p, $2, @2, $3); }
    | BLOCK NAME '(' params ')' body
                                { add_block(p, $2, @2, $4.first, $6); }
    | TRAIN_ '{' settings '}'   { add_train(p, @1, $3); }
    | NET error body
    | BLOCK error body
    | INCLUDE STRING            { include_file(p, $2, @2); }
    | NAME '=' expr             { add_constant(p, $1, @1, $3); };

params: %empty                  { $$ = (ArgList){0}; }
      | param_list;

param_list: param
          | param_list ',' param { $$ = $1; append_arg(&$$, $3.first); };

param: NAME                     { Arg *a = new_arg(p, $1, @1, NULL, @1);
                                  $$ = (ArgList){ a, a }; }
     | NAME '=' simple          { Arg *a = new_arg(p, $1, @1, $3, @$);
                                  $$ = (ArgList){ a, a }; };

settings: %empty                { $$ = (Body){0}; }
        | settings END
        | settings error END    { $$ = $1; yyerrok; }
        | settings setting      { $$ = $1; append_stmt(&$$, $2); };

setting: NAME '=' values        { $$ = new_stmt(p, STMT_ASSIGN, @1);
                                  $$->name = $1; $$->items = $3.first;
                                  $$->value = $3.first->value; };

values: value_of
      | values ',' value_of     { $$ = $1; append_arg(&$$, $3.first); };

value_of: expr                  { Arg *a = new_arg(p, NULL, @1, $1, @1);
                                  $$ = (ArgList){ a, a }; }
        | expr ':' expr         { Arg *a = new_arg(p, NULL, @1, $1, @$);
                                  a->factor = $3;
                                  $$ = (ArgList){ a, a }; };

body: '{' stmts '}'             { $$ = $2; };

stmts: lines
     | lines stmt               { $$ = $1; append_stmt(&$$, $2); }
     | lines error;

lines: %empty                   { $$ = (Body){0}; }
     | lines END
     | lines stmt END           { $$ = $1; append_stmt(&$$, $2); }
     | lines error END          { $$ = $1; yyerrok; };

stmt: NAME '=' expr             { $$ = new_stmt(p, STMT_ASSIGN, @$);
                                  $$->name = $1; $$->name_pos = @1;
                                  $$->value = $3; }
    | INPUT_ NAME ':' NAME '[' dims ']'
                                { $$ = new_stmt(p, STMT_INPUT, @$);
                                  $$->name = $2; $$->name_pos = @2;
                                  $$->type = $4; $$->type_pos = @4;
                                  $$->dims = $6.first; }
    | INPUT_ NAME ':' FLOAT32 '[' dims ']'
                                { $$ = new_stmt(p, STMT_INPUT, @$);
                                  $$->name = $2; $$->name_pos = @2;
                                  $$->type = "float32"; $$->type_pos = @4;
                                  $$->dims = $6.first; }
    | OUTPUT outputs            { $$ = $2; }
    | CHECKPOINT checkpoints    { $$ = $2; }
    | FLOAT32 wides             { $$ = $2; }
    | LOSS_ call                { $$ = new_call_stmt(p, STMT_LOSS, @$, $2); }
    | METRIC_ call              { $$ = new_call_stmt(p, STMT_METRIC, @$, $2); }
    | RETURN expr               { $$ = new_stmt(p, STMT_RETURN, @$);
                                  $$->value = $2; }
    | IF simple body else       { $$ = new_branch(p, @$, $2, $3, $4); }
    | REPEAT simple body        { $$ = new_stmt(p, STMT_REPEAT, @$);
                                  $$->value = $2; $$->body = $3; }
    | REPEAT simple AS NAME body
                                { $$ = new_stmt(p, STMT_REPEAT, @$);
                                  $$->name = $4; $$->name_pos = @4;
                                  $$->value = $2; $$->body = $5; };

else: %empty                    { $$ = (Body){0}; }
    | ELSE body                 { $$ = $2; }
    | ELSE IF simple body else  { Stmt *s = new_branch(p, @$, $3, $4, $5);
                                  $$ = (Body){ s, s }; };

outputs: NAME                   { $$ = new_named(p, STMT_OUTPUT, @1, $1); }
       | outputs ',' NAME       { $$ = $1;
                                  append_named($1, new_named(p, STMT_OUTPUT,
                                                             @3, $3)); };

checkpoints: NAME               { $$ = new_named(p, STMT_CHECKPOINT, @1, $1); }
           | checkpoints ',' NAME
                                { $$ = $1;
                                  append_named($1, new_named(p,
                                               STMT_CHECKPOINT, @3, $3)); };

wides: NAME                     { $$ = new_named(p, STMT_FLOAT32, @1, $1); }
     | wides ',' NAME           { $$ = $1;
                                  append_named($1, new_named(p, STMT_FLOAT32,
                                                             @3, $3)); };

dims: simple                    { Arg *a = new_arg(p, NULL, @1, $1, @1);
                                  $$ = (ArgList){ a, a }; }
    | dims ',' simple           { $$ = $1;
                                  append_arg(&$$, new_arg(p, NULL, @3, $3,
                                                          @3)); };

expr: simple
    | expr ARROW stage          { $$ = new_chain(p, $1, $3, @$); }
    | expr ARROW stage sum      { error(p->diag, @3, "a chain in a sum needs "
                                        "parentheses: (x -> f) + y");
                                  $$ = $1; YYERROR; };

sum: '+' | '-' | '*' | '/' | '%';

stage: call
     | CHECKPOINT               { $$ = new_expr(p, EXPR_MARK, @1);
                                  $$->height = 1; }
     | FLOAT32                  { $$ = new_expr(p, EXPR_WIDE, @1);
                                  $$->height = 1; };

call: NAME                      { $$ = new_call(p, $1, @1, @1, NULL); }
    | NAME '(' args ')'         { $$ = new_call(p, $1, @1, @$, $3.first); };

args: %empty                    { $$ = (ArgList){0}; }
    | arg_list
    | arg_list ',';

arg_list: arg
        | arg_list ',' arg      { $$ = $1; append_arg(&$$, $3.first); };

arg: expr                       { Arg *a = new_arg(p, NULL, @1, $1, @1);
                                  $$ = (ArgList){ a, a }; }
   | NAME '=' expr              { Arg *a = new_arg(p, $1, @1, $3, @$);
                                  $$ = (ArgList){ a, a }; }
   | TRAIN_ '=' expr            { Arg *a = new_arg(p, "train", @1, $3, @$);
                                  $$ = (ArgList){ a, a }; };

simple: value
    | simple OR simple          { $$ = new_sign(p, SIGN_OR, @2, @$, $1, $3); }
    | simple AND simple         { $$ = new_sign(p, SIGN_AND, @2, @$, $1, $3); }
    | NOT simple                { $$ = new_sign(p, SIGN_NOT, @1, @$, $2,
                                                NULL); }
    | simple EQ simple          { $$ = new_sign(p, SIGN_EQ, @2, @$, $1, $3); }
    | simple NE simple          { $$ = new_sign(p, SIGN_NE, @2, @$, $1, $3); }
    | simple '<' simple         { $$ = new_sign(p, SIGN_LT, @2, @$, $1, $3); }
    | simple '>' simple         { $$ = new_sign(p, SIGN_GT, @2, @$, $1, $3); }
    | simple LE simple          { $$ = new_sign(p, SIGN_LE, @2, @$, $1, $3); }
    | simple GE simple          { $$ = new_sign(p, SIGN_GE, @2, @$, $1, $3); }
    | simple '+' simple         { $$ = new_sign(p, SIGN_ADD, @2, @$, $1, $3); }
    | simple '-' simple         { $$ = new_sign(p, SIGN_SUB, @2, @$, $1, $3); }
    | simple '*' simple         { $$ = new_sign(p, SIGN_MUL, @2, @$, $1, $3); }
    | simple '/' simple         { $$ = new_sign(p, SIGN_DIV, @2, @$, $1, $3); }
    | simple '%' simple         { $$ = new_sign(p, SIGN_MOD, @2, @$, $1, $3); }
    | '-' simple %prec MINUS    { $$ = new_sign(p, SIGN_MINUS, @1, @$, $2,
                                                NULL); };

value: NUMBER                   { $$ = $1; }
     | DIMS                     { $$ = $1; }
     | BOOLEAN                  { $$ = $1; }
     | STRING                   { $$ = new_expr(p, EXPR_TEXT, @1);
                                  $$->text = $1; }
     | NAME                     { $$ = new_expr(p, EXPR_NAME, @1);
                                  $$->text = $1; }
     | NAME '(' args ')'        { $$ = new_call(p, $1, @1, @$, $3.first); }
     | '(' expr ')'             { $$ = $2; $$->pos = @$; }
     | '(' expr ',' dims ')'    { refuse_tuple(p, @$, $2, $4.first);
                                  $$ = $2; }
     | '[' ']'                  { $$ = new_expr(p, EXPR_LIST, @$); }
     | '[' dims ']'             { $$ = new_expr(p, EXPR_LIST, @$);
                                  $$->args = $2.first; };

%%

// Reports (3, 3), as in Python; the fix-it is 3x3 if all are integers.
static void refuse_tuple(Parse *p, Pos pos, const Expr *first, const Arg *rest)
{
    bool whole = first->kind == EXPR_INT;
    const char *dims = arena_print(p->arena, "%lld", (long long)first->i);

    for (const Arg *arg = rest; arg != NULL; arg = arg->next) {
        whole = whole && arg->value->kind == EXPR_INT;
        dims = arena_print(p->arena, "%sx%lld", dims, (long long)arg->value->i);
    }
    error(p->diag, pos, "( ) holds one value; dimensions are written %s, and "
          "lists [a, b]", whole ? dims : "3x3");
    if (whole) fixit(p->diag, pos, dims);
}

static Stmt *new_branch(Parse *p, Pos pos, Expr *condition, Body body,
                        Body other)
{
    Stmt *stmt = new_stmt(p, STMT_IF, pos);
    stmt->value = condition;
    stmt->body = body;
    stmt->other = other;
    return stmt;
}

static Stmt *new_call_stmt(Parse *p, StmtKind kind, Pos pos, Expr *call)
{
    Stmt *stmt = new_stmt(p, kind, pos);
    stmt->value = call;
    return stmt;
}

static Stmt *new_named(Parse *p, StmtKind kind, Pos pos, const char *name)
{
    Stmt *stmt = new_stmt(p, kind, pos);
    stmt->name = name;
    return stmt;
}

static void append_named(Stmt *list, Stmt *stmt)
{
    Body body = { list, list };
    append_stmt(&body, list->next);
    append_stmt(&body, stmt);
}

static void cnnc_error(Pos *pos, Parse *p, const char *message)
{
    (void)message;              // only "memory exhausted" comes here
    error(p->diag, *pos, "this is nested too deeply");
}

// ---- texts of syntax errors -------------------------------------------------

enum { MAX_EXPECTED = 60 };

static bool has_symbol(const yysymbol_kind_t *list, int count,
                       yysymbol_kind_t symbol)
{
    for (int i = 0; i < count; i++)
        if (list[i] == symbol) return true;
    return false;
}

// True for tokens that can continue an expression; they are not listed.
static bool is_continuation(yysymbol_kind_t symbol)
{
    const char *name = yysymbol_name(symbol);
    return strchr("+-*/%<>", name[1]) != NULL || symbol == YYSYMBOL_EQ ||
           symbol == YYSYMBOL_NE || symbol == YYSYMBOL_LE ||
           symbol == YYSYMBOL_GE || symbol == YYSYMBOL_AND ||
           symbol == YYSYMBOL_OR;
}

// True for tokens that begin a statement; they are listed as one.
static bool is_statement(yysymbol_kind_t symbol)
{
    return symbol == YYSYMBOL_INPUT_ || symbol == YYSYMBOL_OUTPUT ||
           symbol == YYSYMBOL_LOSS_ || symbol == YYSYMBOL_METRIC_ ||
           symbol == YYSYMBOL_RETURN || symbol == YYSYMBOL_IF ||
           symbol == YYSYMBOL_REPEAT || symbol == YYSYMBOL_CHECKPOINT ||
           symbol == YYSYMBOL_FLOAT32 ||
           symbol == YYSYMBOL_NAME || symbol == YYSYMBOL_END;
}

static bool is_beginning(yysymbol_kind_t symbol)
{
    const char *name = yysymbol_name(symbol);
    return symbol == YYSYMBOL_NAME || symbol == YYSYMBOL_NUMBER ||
           symbol == YYSYMBOL_DIMS || symbol == YYSYMBOL_BOOLEAN ||
           symbol == YYSYMBOL_STRING || symbol == YYSYMBOL_NOT ||
           strcmp(name, "'('") == 0 || strcmp(name, "'-'") == 0 ||
           strcmp(name, "'['") == 0;
}

// True if an expected symbol is implied by the others in the list.
static bool is_left_out(const yysymbol_kind_t *list, int count,
                        yysymbol_kind_t symbol)
{
    bool may_end = has_symbol(list, count, YYSYMBOL_END);
    const char *name = yysymbol_name(symbol);

    if (has_symbol(list, count, YYSYMBOL_NUMBER))
        return is_beginning(symbol) || symbol == YYSYMBOL_END;
    if (has_symbol(list, count, YYSYMBOL_INPUT_)) return is_statement(symbol);
    return is_continuation(symbol) ||
           (may_end && (strcmp(name, "'('") == 0 || strcmp(name, "'}'") == 0));
}

// Lists the expected tokens, such as "')' or ','", in the arena.
static const char *expected_text(Parse *p, const yysymbol_kind_t *list,
                                 int count)
{
    const char *last = NULL, *text = "";

    if (has_symbol(list, count, YYSYMBOL_NUMBER)) text = "a value";
    else if (has_symbol(list, count, YYSYMBOL_INPUT_)) text = "a statement";
    for (int i = 0; i < count; i++) {
        if (is_left_out(list, count, list[i])) continue;
        if (last != NULL)
            text = arena_print(p->arena, "%s%s%s", text,
                               text[0] != '\0' ? ", " : "", last);
        last = yysymbol_name(list[i]);
    }
    if (last == NULL) return text;
    return text[0] == '\0' ? last
                           : arena_print(p->arena, "%s or %s", text, last);
}

// Returns the place of an error: the end of the previous line if it ends early.
static Pos place_of_error(const Parse *p, Pos pos)
{
    Pos end = p->before.pos;
    if (end.line == 0 || end.line == pos.line || p->before.kind == END)
        return pos;
    end.column += end.length;
    end.length = 1;
    return end;
}

static const char *found_text(Parse *p, yysymbol_kind_t symbol)
{
    const Token *token = &p->previous;
    if (symbol == YYSYMBOL_NAME || symbol == YYSYMBOL_STRING)
        return arena_print(p->arena, "'%s'", token->value.text);
    if (symbol == YYSYMBOL_YYEOF) return "the end of the file";
    return symbol == YYSYMBOL_YYEMPTY ? "this" : yysymbol_name(symbol);
}

static bool is_keyword(yysymbol_kind_t symbol)
{
    const char *name = yysymbol_name(symbol);
    return name[0] == '\'' && name[1] >= 'a' && name[1] <= 'z';
}

static int yyreport_syntax_error(const yypcontext_t *context, Parse *p)
{
    yysymbol_kind_t expected[MAX_EXPECTED];
    yysymbol_kind_t found = yypcontext_token(context);
    int count = yypcontext_expected_tokens(context, expected, MAX_EXPECTED);
    Pos pos = *yypcontext_location(context);

    if (count < 0) return count;
    forget_brackets(p);
    error(p->diag, place_of_error(p, pos), "expected %s, not %s",
          count == 0 ? "something else" : expected_text(p, expected, count),
          found_text(p, found));
    if (has_symbol(expected, count, YYSYMBOL_NAME) && is_keyword(found))
        note(p->diag, pos, "%s is a word of the language and can't be a name",
             yysymbol_name(found));
    return 0;
}
