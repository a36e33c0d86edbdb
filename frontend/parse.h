// State that scanner, grammar and driver share while one file is parsed.
#ifndef CNNC_PARSE_H
#define CNNC_PARSE_H

#include "ast.h"

// A file that is being parsed, and the one that includes it.
typedef struct OpenFile {
    const char      *path;      // as in diagnostics
    uint64_t         device, inode;     // its identity
    struct OpenFile *includer;
} OpenFile;

// The value of a token or of a grammar symbol.
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
    int32_t     line, column;   // of the scanner
    // token_rules.c
    Token       queue[2];       // lookahead
    int         queued;
    int         brackets;       // ( and [ that are open
    Token       previous, before;   // the grammar's last two tokens
};

// scanner.l
int  scan(Parse *p, TokenValue *value, Pos *pos);
void scanner_open(Parse *p, const char *text, size_t length);
void scanner_close(Parse *p);

// token_rules.c: returns the scanner's tokens without insignificant newlines.
int next_token(TokenValue *value, Pos *pos, Parse *p);
// Closes all brackets after a syntax error, so that newlines end statements.
void forget_brackets(Parse *p);
// The keywords that can begin a statement, for fix-its.
extern const char *const keywords[];
extern const int keyword_count;
// The other words of the scanner, for grammars of editors: word i, or NULL
// after the last.
const char *sign_word(int i);
const char *truth_word(int i);

// parse.c
void include_file(Parse *p, const char *path, Pos pos);

#endif
