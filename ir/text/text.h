// Reads a line of graph text from left to right.  The first error is reported
// and stored in `failed`; later results are meaningless, so a reader may
// continue for a while before it checks.
#ifndef CNNC_TEXT_H
#define CNNC_TEXT_H

#include "../ir.h"

typedef struct Reader {
    Graph      *g;              // NULL before the line net
    Arena      *arena;
    Diag       *diag;
    const char *start, *at, *end;   // the line
    Pos         pos;            // of the line
    int64_t     most_values;    // limit of values in the text
    Places     *places;         // of values and nodes read
    bool        failed;
} Reader;

typedef struct Word {           // letters, digits and _ . + -
    const char *text;
    int         length;
} Word;

// Reports `what` at the current place; returns false.
bool read_fail(Reader *r, const char *what);

// All of these skip blanks first; a # ends the line.
void skip_blanks(Reader *r);
char peek_char(Reader *r);           // the next character; 0 at the end
bool accept_char(Reader *r, char c); // skips c if it is next
bool expect_char(Reader *r, char c); // fails if it is not
Word read_word(Reader *r);
int64_t read_int(Reader *r);
int32_t read_int32(Reader *r);
double read_double(Reader *r);
// Reads a word that is one of names; returns its index.
int  read_choice(Reader *r, const char *const *names, int count);
// Reads @line:column+length, or nothing.
void read_pos(Reader *r, Pos *pos);

bool word_is(Word word, const char *text);
char *word_text(Reader *r, Word word);
// Returns the word's index in a table of names, or NONE.
int  word_place(Word word, const char *const *names, int count);

#endif
