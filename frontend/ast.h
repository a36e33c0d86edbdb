// The syntax tree.  The parser makes it, and the resolver walks it once for
// each mode.  The grammar knows neither operators nor settings, so a call here
// is a name with arguments, whatever it calls.  The tree is immutable after
// parsing.
#ifndef CNNC_AST_H
#define CNNC_AST_H

#include "../ir/base/diag.h"
#include "table.h"

typedef struct Expr Expr;
typedef struct Stmt Stmt;

typedef enum ExprKind {
    EXPR_INT, EXPR_FLOAT, EXPR_BOOL,
    EXPR_DIMS,                  // 3x5
    EXPR_TEXT,                  // "stem"
    EXPR_NAME,                  // a variable, a constant, or same and valid
    EXPR_CALL,                  // conv(x, 16, 3)
    EXPR_CHAIN,                 // x -> conv(16, 3) -> relu
    EXPR_UNARY, EXPR_BINARY,
    EXPR_LIST,                  // [1, 0.5]
    EXPR_MARK,                  // x -> checkpoint, in place of a call
    EXPR_WIDE,                  // x -> float32, likewise
} ExprKind;

typedef enum Sign {
    SIGN_ADD, SIGN_SUB, SIGN_MUL, SIGN_DIV, SIGN_MOD,
    SIGN_EQ, SIGN_NE, SIGN_LT, SIGN_LE, SIGN_GT, SIGN_GE,
    SIGN_AND, SIGN_OR, SIGN_NOT, SIGN_MINUS,
} Sign;

typedef struct Arg {
    const char *name;           // NULL: by position
    Pos         pos, name_pos;
    Expr       *value;
    Expr       *factor;         // of a setting's "glob": factor; else NULL
    struct Arg *next;
} Arg;

typedef struct ArgList {
    Arg *first, *last;
} ArgList;

struct Expr {
    ExprKind    kind;
    Sign        sign;           // UNARY, BINARY
    Pos         pos, name_pos;  // whole; callee's name, or sign
    int         height;         // of the subtree, which is bounded
    int         count;          // DIMS
    int64_t     i;              // INT, BOOL
    double      f;              // FLOAT
    int64_t     dim[4];         // DIMS
    const char *text;           // NAME, CALL, TEXT
    Arg        *args;           // CALL, LIST
    Expr       *left, *right;   // UNARY: left; BINARY: both; CHAIN: left is
                                // the operand of the first call
    Expr       *calls, *last;   // CHAIN: calls and marks, linked by next
    Expr       *next;
};

typedef enum StmtKind {
    STMT_ASSIGN,                // name = value
    STMT_INPUT,                 // input name : type[dims]
    STMT_OUTPUT,                // output name: one statement for each name
    STMT_LOSS, STMT_METRIC,     // of value, a call
    STMT_CHECKPOINT,            // checkpoint name: likewise
    STMT_FLOAT32,               // float32 name: likewise
    STMT_RETURN,
    STMT_IF,                    // value, body, other
    STMT_REPEAT,                // value, body; name is the index or NULL
} StmtKind;

typedef struct Body {
    Stmt *first, *last;
} Body;

struct Stmt {
    StmtKind    kind;
    Pos         pos, name_pos;
    const char *name;
    const char *type;           // INPUT
    Pos         type_pos;
    Arg        *dims;           // INPUT
    Expr       *value;
    Arg        *items;          // of a setting: all its values
    Body        body, other;
    Stmt       *next;
};

enum { MAX_PARAMS = 32 };       // of a block

// A block, or the net, which is one without parameters.
typedef struct Block {
    const char *name;
    Pos         pos;            // of the name
    Arg        *params;         // name, and value: the default, or NULL
    Body        body;
    Table       assigned;       // assignments of each name in body
    enum { MAKES_UNKNOWN, MAKES_NONE, MAKES_SOME } makes;   // parameters
} Block;

// The tree of one file and all files that it includes.
typedef struct Ast {
    Arena   *arena;
    Diag    *diag;
    Block   *net;               // NULL: none
    Table    blocks;            // Block
    Body     constants;         // assignments, in order
    Table    constant_names;    // Stmt
    Stmt    *train;             // body: assignments; NULL: none
    bool     unreadable;        // a file could not be read
    bool     gave_up;           // too many or too deep includes
} Ast;

// ast.c: the constructors that the grammar's rules call.
typedef struct Parse Parse;
Expr *new_expr(Parse *p, ExprKind kind, Pos pos);
Expr *new_call(Parse *p, const char *name, Pos name_pos, Pos pos, Arg *args);
Expr *new_sign(Parse *p, Sign sign, Pos sign_pos, Pos pos, Expr *left,
               Expr *right);
// Makes head -> call.  Extends head in place if it is a chain.
Expr *new_chain(Parse *p, Expr *head, Expr *call, Pos pos);
Arg *new_arg(Parse *p, const char *name, Pos name_pos, Expr *value, Pos pos);
void append_arg(ArgList *list, Arg *arg);
Stmt *new_stmt(Parse *p, StmtKind kind, Pos pos);
void append_stmt(Body *body, Stmt *stmt);
// Returns the range from a to the end of b, within a's line.
Pos span(Pos a, Pos b);

// Top-level items.
void add_net(Parse *p, const char *name, Pos pos, Body body);
void add_block(Parse *p, const char *name, Pos pos, Arg *params, Body body);
void add_train(Parse *p, Pos pos, Body body);
void add_constant(Parse *p, const char *name, Pos pos, Expr *value);

#endif
