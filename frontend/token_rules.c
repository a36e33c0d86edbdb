// Filters tokens between scanner and grammar: decides which newlines end a
// statement, and corrects misspelt keywords.
//
// A newline ends nothing inside ( ) and [ ], after a token that can't end a
// statement, and before one that can't begin one:
//
//     x = x -> conv(16, 3,        y = x          if deep
//                   stride = 2)     -> relu      {
//
// A name at the start of a statement that continues neither as an assignment
// nor as a call ("ouput logits") is a misspelt keyword.  It is reported and
// replaced by the nearest keyword, so that no further errors follow.
#include <string.h>
#include "parse.h"
#include "parser.h"

const char *const keywords[] = {
    "net", "block", "train", "include", "input", "output", "loss", "metric",
    "return", "if", "else", "repeat", "checkpoint",
    "float32",
};
static const int keyword_tokens[] = {
    NET, BLOCK, TRAIN_, INCLUDE, INPUT_, OUTPUT, LOSS_, METRIC_,
    RETURN, IF, ELSE, REPEAT, CHECKPOINT, FLOAT32,
};
const int keyword_count = sizeof keywords / sizeof keywords[0];

const char *sign_word(int i)
{
    static const char *const signs[] = { "as", "and", "or", "not" };
    return i < (int)(sizeof signs / sizeof *signs) ? signs[i] : NULL;
}

const char *truth_word(int i)
{
    return i == 0 ? "true" : i == 1 ? "false" : NULL;
}

static bool is_one_of(int kind, const char *characters)
{
    return kind > 0 && kind < 128 && strchr(characters, kind) != NULL;
}

// True for tokens with an operand on both sides.
static bool joins(int kind)
{
    return is_one_of(kind, "+-*/%<>=,:") || kind == ARROW || kind == EQ ||
           kind == NE || kind == LE || kind == GE || kind == AND || kind == OR;
}

static bool ends_nothing(int previous)
{
    return joins(previous) || is_one_of(previous, "([") || previous == NOT;
}

static bool begins_nothing(int next)
{
    return joins(next) || is_one_of(next, "()[]{") || next == ELSE ||
           next == AS;
}

static Token read_token(Parse *p)
{
    Token token = {0};
    token.kind = scan(p, &token.value, &token.pos);
    return token;
}

// Returns the next token that is not END.
static Token read_past_ends(Parse *p)
{
    Token token = read_token(p);
    while (token.kind == END) token = read_token(p);
    return token;
}

static void count_brackets(Parse *p, int kind)
{
    if (is_one_of(kind, "([")) p->brackets++;
    if (is_one_of(kind, ")]") && p->brackets > 0) p->brackets--;
    if (is_one_of(kind, "{}")) p->brackets = 0;
}

// Returns the next token, from the lookahead or the scanner, before repairs.
static Token plain_token(Parse *p)
{
    if (p->queued > 0) {
        Token token = p->queue[0];
        p->queue[0] = p->queue[--p->queued];
        return token;
    }
    Token token = read_token(p);
    if (token.kind != END) return token;
    Token next = read_past_ends(p);
    if (p->brackets > 0 || ends_nothing(p->previous.kind) ||
        begins_nothing(next.kind))
        return next;
    p->queue[p->queued++] = next;
    return token;
}

static bool at_start(int previous)
{
    return previous == 0 || previous == END || is_one_of(previous, "{}");
}

static int peek(Parse *p)
{
    if (p->queued == 0) p->queue[p->queued++] = read_token(p);
    return p->queue[0].kind;
}

// Returns the keyword that a name was meant to be, or the name's own token.
static int meant(Parse *p, const Token *token)
{
    int next = peek(p);
    if (next != NAME && next != NUMBER && next != STRING && next != NOT &&
        next != '{')
        return token->kind;
    const char *near = nearest_name(token->value.text, keywords, keyword_count);
    if (near == NULL) return token->kind;
    error(p->diag, token->pos, "there is no '%s' statement; did you mean '%s'?",
          token->value.text, near);
    fixit(p->diag, token->pos, near);
    for (int i = 0; i < keyword_count; i++)
        if (strcmp(keywords[i], near) == 0) return keyword_tokens[i];
    return token->kind;
}

int next_token(TokenValue *value, Pos *pos, Parse *p)
{
    Token token = plain_token(p);
    if (token.kind == NAME && at_start(p->previous.kind))
        token.kind = meant(p, &token);
    count_brackets(p, token.kind);
    p->before = p->previous;
    p->previous = token;
    *value = token.value;
    *pos = token.pos;
    return token.kind;
}

void forget_brackets(Parse *p)
{
    p->brackets = 0;
}
