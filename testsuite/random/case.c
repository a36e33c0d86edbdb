// Reads the settings of a net and compiles it with one of them.
#include "case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../../frontend/parse.h"
#include "../../frontend/read_file.h"
#include "../../ir/dtype.h"
#include "../unit/squeeze.h"

enum { MOST_WORDS = 64, TF32_DIGITS = 11 };

const char *const narrow_names[NARROW_COUNT] = { "f16", "bf16", "tf32" };

bool is_narrow(Narrow narrow, double x)
{
    int exponent;
    if (narrow == NARROW_F16) return rounded(F16, x) == x;
    if (narrow == NARROW_BF16) return rounded(BF16, x) == x;
    double digits = ldexp(frexp(x, &exponent), TF32_DIGITS);
    return digits == rint(digits);
}

static Narrow narrow_of(const char *name)
{
    Narrow narrow = 0;
    while (narrow < NARROW_COUNT && strcmp(narrow_names[narrow], name) != 0)
        narrow++;
    return narrow;
}

// True if the word is an option of the case itself that takes a number.
static bool take_number(const char *word, const char *name, char **words,
                        int count, int *i, uint64_t *number)
{
    if (strcmp(word, name) != 0 || *i + 1 >= count) return false;
    *number = strtoull(words[++*i], NULL, 10);
    return true;
}

static Case read_line(Arena *arena, const char *path, const char *text,
                      size_t length)
{
    Case c = { .path = path, .narrow = NOT_NARROW,
               .argv = NEW_ARRAY(arena, MOST_WORDS + 4, char *) };
    char *words[MOST_WORDS], *line = arena_copy(arena, text, length);
    uint64_t samples = 0, squeeze = 0;
    int count = 0;

    for (char *word = strtok(line, " "); word != NULL && count < MOST_WORDS;
         word = strtok(NULL, " "))
        words[count++] = word;
    c.argv[c.argc++] = "cnnc";
    for (int i = 0; i < count; i++) {
        if (strcmp(words[i], "--exact") == 0) c.exact = true;
        else if (strcmp(words[i], "--offload") == 0) c.offload = true;
        else if (strcmp(words[i], "--precision") == 0 && i + 1 < count)
            c.narrow = narrow_of(words[++i]);
        else if (!take_number(words[i], "--samples", words, count, &i,
                              &samples) &&
                 !take_number(words[i], "--squeeze", words, count, &i,
                              &squeeze) &&
                 !take_number(words[i], "--seed", words, count, &i, &c.seed))
            c.argv[c.argc++] = words[i];
    }
    c.samples = (int64_t)samples;
    c.squeeze = (int)squeeze;
    return c;
}

Case *cases_read(Arena *arena, const char *path, int *count)
{
    static const char mark[] = "# run:";
    size_t length;
    const char *why;
    const char *text = read_text(arena, path, MOST_TEXT, &length, &why);
    Case *cases = NULL;
    int32_t capacity = 0;

    *count = 0;
    if (text == NULL) {
        fprintf(stderr, "%s can't be read: %s\n", path, why);
        return NULL;
    }
    text = arena_copy(arena, text, length);
    for (const char *line = text; *line != '\0';) {
        size_t width = strcspn(line, "\n");
        if (strncmp(line, mark, sizeof mark - 1) == 0) {
            cases = arena_grow(arena, cases, &capacity, *count + 1,
                               sizeof *cases);
            cases[*count] = read_line(arena, path, line + sizeof mark - 1,
                                      width - sizeof mark + 1);
            cases[*count].line = *count;
            ++*count;
        }
        line += width + (line[width] == '\n');
    }
    if (*count > 0) return cases;
    cases = NEW(arena, Case);
    *cases = read_line(arena, path, "", 0);
    *count = 1;
    return cases;
}

static bool begins(const char *word, const char *with)
{
    return strncmp(word, with, strlen(with)) == 0;
}

int words_of_pass(const Case *of, int i)
{
    const char *word = of->argv[i];

    if (strcmp(word, "--checkpoint") == 0) return 3;    // every N
    return begins(word, "-O") || begins(word, "--split=") ||
           begins(word, "--checkpoint=") ||
           (begins(word, "-f") && strstr(word, "keep") == NULL);
}

bool case_open(Compiled *c, Arena *arena, Diag *diag, const Case *of,
               bool plain)
{
    char **argv = NEW_ARRAY(arena, of->argc + 4, char *);
    int argc = 0;

    for (int i = 0; i < of->argc; i++) {
        int words = plain ? words_of_pass(of, i) : 0;
        if (words > 0) i += words - 1;
        else argv[argc++] = of->argv[i];
    }
    if (plain) argv[argc++] = "-O0";
    if (!plain && of->narrow != NOT_NARROW)
        argv[argc++] = arena_print(arena, "--precision=%s",
                                   narrow_names[of->narrow]);
    else
        argv[argc++] = of->exact ? "--precision=f32" : "--precision=f64";
    argv[argc++] = (char *)of->path;
    c->squeeze = plain ? 0 : of->squeeze;
    c->offload = of->offload;
    return options_read(&c->options, arena, diag, argc, argv) < 0 &&
           input_open(&c->in, arena, diag, c->options.input) &&
           diag->error_count == 0;
}

Graph *case_graph(Compiled *c, Mode mode, Plan **plan)
{
    FrontendOptions frontend = c->options.frontend;
    PassOptions passes = c->options.passes;

    frontend.mode = mode;
    if (mode == TRAIN && c->squeeze > 0) {
        passes.offload = c->offload;
        passes.budget = squeezed_budget(&c->in, &frontend, &passes,
                                        c->squeeze);
        passes.offload &= passes.budget > 0;
    }
    Graph *g = input_graph(&c->in, &frontend);
    if (g != NULL) *plan = run_pipeline(g, &passes);
    return c->in.diag->error_count == 0 ? g : NULL;
}

ValueId case_value(const Graph *g, const char *name)
{
    for (ValueId v = 0; v < g->value_count; v++)
        if (strcmp(g->values[v].name, name) == 0) return v;
    return NONE;
}
