// Changes follow the form of a text as far as any text has one: words, numbers,
// single signs, lines.  So most inputs get past the scanner, and many past the
// parser, to where rules meet numbers and names that nobody meant.
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include "fuzz.h"

typedef struct Span {
    size_t start, length;
} Span;

enum { MOST_SPANS = 20000, LONGEST = 1 << 16 };

typedef struct Parts {          // of a text
    Span   token[MOST_SPANS];
    size_t tokens;
    size_t number[MOST_SPANS];  // which of them are numbers
    size_t numbers;
    size_t name[MOST_SPANS];    // which are words
    size_t names;
    Span   line[MOST_SPANS];    // with their ends
    size_t lines;
} Parts;

// ---- the parts of a text ----------------------------------------------------

static bool in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

// Numbers with their point and exponent, words, single signs.
static size_t token_length(const char *at, const char *end)
{
    const char *c = at;
    bool number = isdigit((unsigned char)*at);
    while (c < end && (in_word(*c) || (number && *c == '.'))) c++;
    return c == at ? 1 : (size_t)(c - at);
}

static void find_tokens(const Text *text, Parts *p)
{
    const char *bytes = text->bytes, *end = bytes + text->length;

    p->tokens = p->numbers = p->names = 0;
    for (const char *c = bytes; c < end && p->tokens < MOST_SPANS;) {
        if (isspace((unsigned char)*c)) {
            c++;
            continue;
        }
        size_t length = token_length(c, end);
        if (isdigit((unsigned char)*c)) p->number[p->numbers++] = p->tokens;
        else if (in_word(*c)) p->name[p->names++] = p->tokens;
        p->token[p->tokens++] = (Span){ (size_t)(c - bytes), length };
        c += length;
    }
}

static void find_lines(const Text *text, Parts *p)
{
    p->lines = 0;
    for (size_t at = 0; at < text->length && p->lines < MOST_SPANS;) {
        const char *end = memchr(text->bytes + at, '\n', text->length - at);
        size_t length = end != NULL ? (size_t)(end - text->bytes) + 1 - at
                                    : text->length - at;
        p->line[p->lines++] = (Span){ at, length };
        at += length;
    }
}

// ---- one change -------------------------------------------------------------

// text with the bytes of span replaced.
static void replace(Text *text, Span span, const char *bytes, size_t length)
{
    static Text changed;
    changed.length = 0;
    text_append(&changed, text->bytes, span.start);
    text_append(&changed, bytes, length);
    text_append(&changed, text->bytes + span.start + span.length,
                text->length - span.start - span.length);
    Text old = *text;
    *text = changed;
    changed = old;
}

// b comes after a, or is a.
static void swap(Text *text, Span a, Span b)
{
    static Text middle;
    if (a.start > b.start) {
        Span c = a;
        a = b, b = c;
    }
    if (a.start == b.start) return;
    size_t between = a.start + a.length;
    middle.length = 0;
    text_append(&middle, text->bytes + b.start, b.length);
    text_append(&middle, text->bytes + between, b.start - between);
    text_append(&middle, text->bytes + a.start, a.length);
    replace(text, (Span){ a.start, b.start + b.length - a.start },
            middle.bytes, middle.length);
}

static Span any(Random *r, const Span *spans, size_t count)
{
    return spans[random_below(r, count)];
}

static void change_byte(Text *text, Random *r)
{
    size_t at = random_below(r, text->length);
    char byte = (char)(random_bits(r) % 2 ? random_bits(r)
                       : (unsigned char)text->bytes[at] ^
                             1u << random_below(r, 8));
    replace(text, (Span){ at, random_below(r, 2) }, &byte, 1);
}

static void change_number(Text *text, Random *r, const Parts *p)
{
    static const char *const numbers[] = {
        "0", "-1", "1", "2", "3", "7", "255", "65536", "2147483647",
        "2147483648", "4294967295", "4294967296", "4611686018427387904",
        "9223372036854775807", "9223372036854775808", "-9223372036854775808",
        "0.5", "-0.0", "1e-300", "1e308", "1e999", "nan", "inf", "0x0", "3x5",
        "1x0x1x0", "2147483647x2147483647", "1/0", "1000000", "100", "33",
    };
    char near[32];
    Span at = p->token[p->number[random_below(r, p->numbers)]];
    const char *number =
        numbers[random_below(r, sizeof numbers / sizeof *numbers)];

    if (random_below(r, 3) == 0 && at.length < 18) {
        long long old = 0;
        for (size_t i = 0; i < at.length; i++) {
            char c = text->bytes[at.start + i];
            if (isdigit((unsigned char)c)) old = 10 * old + (c - '0');
        }
        snprintf(near, sizeof near, "%lld",
                 old + (long long)random_below(r, 3) - 1);
        number = near;
    }
    replace(text, at, number, strlen(number));
}

static void change_name(const Corpus *corpus, Text *text, Random *r,
                        const Parts *p)
{
    static Text word;
    Span at = p->token[p->name[random_below(r, p->names)]];
    Span from = p->token[p->name[random_below(r, p->names)]];

    word.length = 0;
    if (random_below(r, 2) == 0) {
        text_append(&word, text->bytes + from.start, from.length);
    } else {
        const char *known = corpus->words[random_below(r, corpus->word_count)];
        text_append(&word, known, strlen(known));
    }
    replace(text, at, word.bytes, word.length);
}

// Deleted, written twice, swapped with another.
static void change_span(Text *text, Random *r, const Span *spans, size_t count)
{
    static Text copy;
    Span at = any(r, spans, count);

    switch (random_below(r, 3)) {
    case 0:
        replace(text, at, "", 0);
        break;
    case 1:
        copy.length = 0;
        text_append(&copy, text->bytes + at.start, at.length);
        text_append(&copy, " ", at.length < 12);
        replace(text, (Span){ at.start, 0 }, copy.bytes, copy.length);
        break;
    default:
        swap(text, at, any(r, spans, count));
    }
}

static void insert_sign(Text *text, Random *r, const Parts *p)
{
    static const char *const signs[] = {
        "(", ")", "[", "]", "{", "}", "=", "->", "-", "+", "*", "/", "%", ",",
        ":", "\"", "#", "\n", "==", "<", "\\", "@", "'", "\t", ".", ";",
    };
    const char *sign = signs[random_below(r, sizeof signs / sizeof *signs)];
    Span at = { any(r, p->token, p->tokens).start, 0 };
    replace(text, at, sign, strlen(sign));
}

// A run of lines of another text, or of this one.
static void splice(const Corpus *corpus, Text *text, Random *r, Parts *p)
{
    static Parts other;
    const Text *from = &corpus->texts[random_below(r, corpus->count)];
    size_t at = any(r, p->line, p->lines).start;

    find_lines(from, &other);
    if (other.lines == 0) return;
    size_t first = random_below(r, other.lines);
    size_t last = first + random_below(r, 4);
    if (last >= other.lines) last = other.lines - 1;
    Span run = { other.line[first].start,
                 other.line[last].start + other.line[last].length -
                     other.line[first].start };
    replace(text, (Span){ at, 0 }, from->bytes + run.start, run.length);
}

// A sign or a line again and again, as deep nests and long chains are.
static void repeat_span(Text *text, Random *r, const Parts *p)
{
    static Text run;
    bool of_lines = random_below(r, 2) == 0;
    Span at = of_lines ? any(r, p->line, p->lines)
                       : any(r, p->token, p->tokens);
    size_t times = 1 + random_below(r, 300);

    run.length = 0;
    for (size_t i = 0; i < times && run.length < LONGEST; i++)
        text_append(&run, text->bytes + at.start, at.length);
    replace(text, at, run.bytes, run.length);
}

static void change(const Corpus *corpus, Random *r, Text *text)
{
    static Parts p;
    size_t kind = random_below(r, 100);

    find_tokens(text, &p);
    find_lines(text, &p);
    if (p.tokens == 0 || p.lines == 0) return;
    if (kind < 35 && p.numbers > 0) change_number(text, r, &p);
    else if (kind < 55 && p.names > 0) change_name(corpus, text, r, &p);
    else if (kind < 70) change_span(text, r, p.token, p.tokens);
    else if (kind < 80) change_span(text, r, p.line, p.lines);
    else if (kind < 86) splice(corpus, text, r, &p);
    else if (kind < 92) insert_sign(text, r, &p);
    else if (kind < 97) change_byte(text, r);
    else if (kind < 99) repeat_span(text, r, &p);
    else text->length = random_below(r, text->length);
}

void mutate(const Corpus *corpus, Random *r, Text *result)
{
    const Text *from = &corpus->texts[random_below(r, corpus->count)];
    size_t changes = 1 + random_below(r, random_below(r, 3) == 0 ? 5 : 1);

    result->length = 0;
    text_append(result, from->bytes, from->length);
    for (size_t i = 0; i < changes; i++) change(corpus, r, result);
}
