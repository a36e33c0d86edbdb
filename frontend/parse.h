// What scanner, grammar and driver share while one file is parsed.
#ifndef CNNC_PARSE_H
#define CNNC_PARSE_H

#include "ast.h"

// A file that is being parsed, and the one that includes it.
typedef struct OpenFile {
    const char      *path;      // as diagnostics name it
    uint64_t         device, inode;     // which file that is
    struct OpenFile *includer;
} OpenFile;

// A token on its way from the scanner to the grammar.
typedef union TokenValue {
    const char *text;           // NAME, STRING
    Expr       *number;
    Expr       *expr;
    ArgList     args;
    Stmt       *stmt;
    Body        body;
} TokenValue;

typedef struct Token {
    int        kind;
    Pos        pos;
    TokenValue value;
} Token;

struct Parse {
    Arena      *arena;
    Diag       *diag;
    Ast        *ast;
    OpenFile   *file;
    void       *scanner;        // flex's
    int32_t     source;         // Pos.file
    int32_t     line, column;   // where the scanner is
    // token_rules.c
    Token       queue[2];       // read ahead
    int         queued;
    int         brackets;       // ( and [ that are open
    Token       previous, before;   // the last that the grammar has got
};

// scanner.l
int  scan(Parse *p, TokenValue *value, Pos *pos);
void scanner_open(Parse *p, const char *text, size_t length);
void scanner_close(Parse *p);

// token_rules.c: the scanner's tokens without the newlines that separate
// nothing.
int next_token(TokenValue *value, Pos *pos, Parse *p);
// After a syntax error: a newline ends the statement again.
void forget_brackets(Parse *p);
// The words of the language that can begin a statement, for fix-its.
extern const char *const keywords[];
extern const int keyword_count;

// parse.c
void include_file(Parse *p, const char *path, Pos pos);

#endif
