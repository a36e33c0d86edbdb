// Reads the words of a line of graph text, for read.c.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "text.h"

// The column is counted here, in characters as in every Pos.
bool read_fail(Reader *r, const char *what)
{
    if (r->failed) return false;
    r->failed = true;
    r->pos.column = 1;
    for (const char *c = r->start; c < r->at; c++)
        r->pos.column += ((unsigned char)*c & 0xC0) != 0x80;
    r->pos.length = 1;
    error(r->diag, r->pos, "%s", what);
    return false;
}

// Bytes past ASCII belong to words too, since names are the net's.
static bool is_word(char c)
{
    return isalnum((unsigned char)c) || (unsigned char)c >= 0x80 ||
           (c != '\0' && strchr("_.+-", c) != NULL);
}

void skip_blanks(Reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t')) r->at++;
    if (r->at < r->end && *r->at == '#') r->at = r->end;
}

// Returns the next character after blanks; 0 at the end of the line.
char peek_char(Reader *r)
{
    skip_blanks(r);
    if (r->at == r->end) return '\0';
    return *r->at;
}

bool accept_char(Reader *r, char c)
{
    if (peek_char(r) != c || c == '\0') return false;
    r->at++;
    return true;
}

bool expect_char(Reader *r, char c)
{
    return accept_char(r, c) ||
           read_fail(r, arena_print(r->arena, "expected '%c'", c));
}

Word read_word(Reader *r)
{
    skip_blanks(r);
    Word word = { .text = r->at };
    while (r->at < r->end && is_word(*r->at)) r->at++;
    word.length = (int)(r->at - word.text);
    if (word.length == 0) read_fail(r, "expected a word");
    return word;
}

bool word_is(Word word, const char *text)
{
    return strlen(text) == (size_t)word.length &&
           memcmp(word.text, text, (size_t)word.length) == 0;
}

char *word_text(Reader *r, Word word)
{
    return arena_copy(r->arena, word.text, (size_t)word.length);
}

// Returns the word's index in a table of names, or NONE.
int word_place(Word word, const char *const *names, int count)
{
    for (int i = 0; i < count; i++)
        if (word_is(word, names[i])) return i;
    return NONE;
}

int read_choice(Reader *r, const char *const *names, int count)
{
    Word word = read_word(r);
    int place = word_place(word, names, count);
    if (place == NONE)
        read_fail(r, arena_print(r->arena, "\"%s\" is none of the words that "
                                 "can stand here", word_text(r, word)));
    return place == NONE ? 0 : place;
}

int64_t read_int(Reader *r)
{
    bool negative = accept_char(r, '-');
    int64_t i = 0;

    if (!isdigit((unsigned char)peek_char(r)))
        read_fail(r, "expected a number");
    // Stops before an overflow, since the text may be invalid.
    for (; r->at < r->end && isdigit((unsigned char)*r->at); r->at++) {
        int digit = *r->at - '0';
        if (i > (INT64_MAX - digit) / 10) {
            read_fail(r, "this number is too large");
            break;
        }
        i = 10 * i + digit;
    }
    return negative ? -i : i;
}

int32_t read_int32(Reader *r)
{
    int64_t i = read_int(r);
    if (i < INT32_MIN || i > INT32_MAX)
        read_fail(r, "this number is too large");
    return r->failed ? 0 : (int32_t)i;
}

// Reads from a copy, since strtod needs a terminated string.
double read_double(Reader *r)
{
    Word word = read_word(r);
    char *end, *text = word_text(r, word);
    double f = strtod(text, &end);
    if (*end != '\0') read_fail(r, "expected a number");
    return f;
}

// Reads @line:column+length, or nothing.
void read_pos(Reader *r, Pos *pos)
{
    if (!accept_char(r, '@')) return;
    pos->file = NONE;
    pos->line = read_int32(r);
    expect_char(r, ':');
    pos->column = read_int32(r);
    expect_char(r, '+');
    pos->length = read_int32(r);
}
