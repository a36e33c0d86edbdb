// A net drawn from a seed, with options to compile it with:
//
//     random_net SEED [--exact] [--settings N] [-o FILE.cnn]
//     random_net SEED [--exact] --drawn NETS
//     random_net --list [--exact]
//
// The net is written with N (default: 5) lines "# run: OPTIONS", and a line
// "# drawn: ..." of the operators and arguments in it.
//
// The option --drawn prints these lines alone, for the given number of nets
// from the seed on. The option --list prints all words that can be drawn, one a
// line, in the same form.
#define _GNU_SOURCE             // memfd_create

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "../../frontend/resolve.h"
#include "net.h"
#include "reference.h"

static bool is_drawn(const Op *op, bool exact)
{
    return !(op->flags & INTERNAL) && (!exact || op->flags & EXACT);
}

static void list_forms(const Op *op, const ArgSpec *spec, const char *forms)
{
    while (*forms != '\0') {
        int length = (int)strcspn(forms, "|");
        printf("%s.%s=%.*s\n", op->name, spec->name, length, forms);
        forms += length + (forms[length] == '|');
    }
}

static void list_argument(const Op *op, const ArgSpec *spec)
{
    const char *forms = forms_of(spec);
    if (forms == NULL) printf("%s.%s\n", op->name, spec->name);
    else list_forms(op, spec, forms);
    if (spec->type == ARG_INIT || spec->type == ARG_LABEL)
        list_forms(op, spec, "n");
}

static void list(bool exact)
{
    for (int i = 0; i < OP_COUNT; i++) {
        const Op *op = ops[i];
        if (!is_drawn(op, exact)) continue;
        puts(op->name);
        for (const ArgSpec *a = op->args; a != NULL && a->name != NULL; a++)
            list_argument(op, a);
        if (makes_params(op)) printf("%s.weights\n", op->name);
    }
    list_settings(exact);
    list_ends();
    puts("input.class\ninput.f32\ninput.u8");
}

static int compare_words(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

// Each word once.
static void print_drawn(Net *n, FILE *out)
{
    qsort(n->drawn, (size_t)n->drawn_count, sizeof n->drawn[0], compare_words);
    fputs("# drawn:", out);
    for (int i = 0; i < n->drawn_count; i++)
        if (i == 0 || strcmp(n->drawn[i], n->drawn[i - 1]) != 0)
            fprintf(out, " %s", n->drawn[i]);
    fputs("\n", out);
}

// True if the net's first training step is exact: the integer mode's proof, for
// the file that the net is drawn in.
static bool is_proved(const Net *n)
{
    Arena *arena = arena_new();
    Diag diag = { .arena = arena, .stream = stderr };
    FILE *out = fopen(n->path, "w");
    int count;

    fprintf(out, "# run: --seed %llu --exact\n", (unsigned long long)n->seed);
    print_net(n, out);
    fclose(out);
    Case *cases = cases_read(arena, n->path, &count);
    const Reference *ref = reference_new(arena, &diag, cases);
    bool good = ref != NULL && ref->proved[0];
    arena_free(arena);
    return good;
}

// In the integer mode as often as it takes, now and then one statement less.
static void draw_proved(Net *n)
{
    enum { TRIES = 20 };

    n->statements = draw_int(&n->draw, 2, 12);
    Net fresh = *n;
    draw_net(n);
    for (int i = 1; n->exact && !is_proved(n); i++) {
        Draw draw = n->draw;
        if (i % TRIES == 0 && fresh.statements > 1) fresh.statements--;
        *n = fresh;
        n->draw = draw;
        draw_net(n);
    }
}

// A net on its own arena; the front end reads files alone: its file is to be
// closed.
static Net *new_net(uint64_t seed, bool exact, int *file)
{
    Arena *arena = arena_new();
    Net *n = NEW(arena, Net);

    *file = memfd_create("net", 0);
    if (*file < 0) bug("no file in memory");
    *n = (Net){ .arena = arena, .seed = seed, .exact = exact,
                .path = arena_print(arena, "/proc/self/fd/%d", *file),
                .draw = draw_named(seed, exact ? "exact" : "net") };
    draw_proved(n);
    return n;
}

static bool write_net(uint64_t seed, bool exact, int settings,
                      const char *output)
{
    FILE *out = output != NULL ? fopen(output, "w") : stdout;
    int file;

    if (out == NULL) return false;
    Net *n = new_net(seed, exact, &file);
    for (int i = 0; i < settings; i++)
        fprintf(out, "# run: %s\n", draw_options(n, i));
    print_drawn(n, out);
    print_net(n, out);
    close(file);
    bool good = fflush(out) == 0 && (output == NULL || fclose(out) == 0);
    arena_free(n->arena);
    return good;
}

static void print_words(uint64_t seed, bool exact, int nets)
{
    for (int i = 0, file; i < nets; i++) {
        Net *n = new_net(seed + (uint64_t)i, exact, &file);
        print_drawn(n, stdout);
        close(file);
        arena_free(n->arena);
    }
}

int main(int argc, char **argv)
{
    const char *output = NULL, *seed = NULL;
    bool exact = false, lists = false;
    int settings = 5, nets = 0;

    for (int i = 1; i < argc; i++) {
        bool more = i + 1 < argc;
        if (strcmp(argv[i], "--list") == 0) lists = true;
        else if (strcmp(argv[i], "--exact") == 0) exact = true;
        else if (strcmp(argv[i], "--settings") == 0 && more)
            settings = atoi(argv[++i]);
        else if (strcmp(argv[i], "--drawn") == 0 && more)
            nets = atoi(argv[++i]);
        else if (strcmp(argv[i], "-o") == 0 && more) output = argv[++i];
        else seed = argv[i];
    }
    if (lists) return list(exact), 0;
    if (seed == NULL)
        return fputs("usage: random_net SEED [--exact] [--settings N] "
                     "[-o FILE.cnn] [--drawn NETS]\n", stderr), 2;
    if (nets > 0)
        return print_words(strtoull(seed, NULL, 10), exact, nets), 0;
    return write_net(strtoull(seed, NULL, 10), exact, settings, output) ? 0 : 1;
}
