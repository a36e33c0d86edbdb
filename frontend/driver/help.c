// --help, --help-ops and --passes, printed from the tables.
#include <string.h>
#include "options.h"

// Options that options.c reads by prefix, as rows of help.
const Flag pass_flags[] = {
    { .name = "-f[no-]PASS", .help = "turn an optional pass on or off" },
    { .name = "-fkeep-gradients",
      .help = "every parameter's gradient outlives the step" },
    { .name = NULL },
};

// Groups of the rows of flags, each by its first row.
static const struct { const char *first, *title; } groups[] = {
    { "-o", "Output" }, { "--mode", "Network" }, { "--budget", "Memory" },
    { "--summary", "Inspect" }, { "--help", "Help" },
    { "--diagnostics", "Debug" },
};

const ExitMeaning exit_meanings[] = {
    { EXIT_DONE, "done" },
    { EXIT_INPUT, "the input is wrong" },
    { EXIT_USAGE, "usage" },
    { EXIT_FILE, "a file can't be read or written" },
    { EXIT_OVER, "no plan fits in the budget, or in the capacity of --plan" },
    { EXIT_BUG, "an internal error of cnnc" },
    { .meaning = NULL },
};

const char *group_title(const Flag *flag)
{
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        if (strcmp(groups[i].first, flag->name) == 0) return groups[i].title;
    return NULL;
}

static void print_flags(const Flag *flag)
{
    for (; flag->name != NULL; flag++) {
        if (group_title(flag) != NULL) printf("\n%s:\n", group_title(flag));
        int width = printf("  %s%s%s", flag->name,
                           flag->value != NULL ? " " : "",
                           flag->value != NULL ? flag->value : "");
        printf("%*s%s\n", width < 22 ? 22 - width : 1, "", flag->help);
    }
}

int show_help(Options *o, const char *value)
{
    (void)o;
    (void)value;
    puts("cnnc [options] FILE.cnn, or - for standard input\n\n"
         "Writes a standalone CUDA C file that trains the net of FILE.cnn or "
         "runs it.");
    print_flags(flags);
    print_flags(pass_flags);
    puts("\nA FILE.ir is a graph as --emit ir and --dump print it.\n"
         "\nExit status:");
    for (const ExitMeaning *e = exit_meanings; e->meaning != NULL; e++)
        printf("  %-20d%s\n", e->status, e->meaning);
    return EXIT_DONE;
}

int list_passes(const Options *o)
{
    static const SheetColumn columns[] = {
        { "pass", "pass", AS_TEXT },
        { "optional", "optional", AS_TRUTH },
        { "rounding", "rounding", AS_TRUTH },
        { "description", "effect", AS_TEXT },
    };
    Sheet *s = sheet_new(o->arena, "passes", columns,
                         sizeof columns / sizeof *columns);
    for (int i = 0; i < PASS_COUNT; i++) {
        sheet_row(s);
        put_text(s, passes[i].name);
        put_truth(s, passes[i].optional);
        put_truth(s, passes[i].optional == ROUNDING);
        put_text(s, passes[i].summary);
    }
    sheets_print(&s, 1, o->format, stdout);
    return EXIT_DONE;
}

const char *arg_type_words(ArgType type)
{
    static const char *const words[] = {
        [ARG_INT] = "integer", [ARG_FLOAT] = "number",
        [ARG_BOOL] = "true/false", [ARG_DIMS] = "dimensions",
        [ARG_PADDING] = "padding", [ARG_WORD] = "word", [ARG_LIST] = "list",
        [ARG_INIT] = "word/number", [ARG_LABEL] = "label",
    };
    return words[type];
}

// Prints the name, type, meaning and default of each argument.
static void print_args(const Op *op)
{
    for (const ArgSpec *spec = op->args;
         spec != NULL && spec->name != NULL; spec++)
        printf("    %-18s%-13s%s%s%s%s\n", spec->name,
               arg_type_words(spec->type),
               spec->meaning, spec->fallback != NULL ? " (" : "",
               spec->fallback != NULL ? spec->fallback : "",
               spec->fallback != NULL ? ")" : "");
}

// Prints the operands that are not in brackets in the row, without marks.
// Optional ones are printed in brackets, variadic ones as x, ....
void print_operands(const Op *op)
{
    const char *separator = "";
    for (const char *c = op->operands; *c != '\0';) {
        int length = (int)strcspn(c, " "), name = slot_name_length(c);
        bool optional = memchr(c, '?', (size_t)length) != NULL;
        if (*c != '[' && !(op->flags & (OPTIMIZER | SCHEDULE))) {
            printf("%s%s%.*s%s%s", separator, optional ? "[" : "", name, c,
                   memchr(c, '*', (size_t)length) != NULL ? ", ..." : "",
                   optional ? "]" : "");
            separator = ", ";
        }
        c += length + (int)strspn(c + length, " ");
    }
}

static void print_group(const char *title, unsigned flag)
{
    printf("%s\n", title);
    for (int i = 0; i < OP_COUNT; i++) {
        if (!(ops[i]->flags & flag)) continue;
        printf("\n  %s(", ops[i]->name);
        print_operands(ops[i]);
        printf(")%s%s\n    %s\n", ops[i]->alias != NULL ? ", or " : "",
               ops[i]->alias != NULL ? ops[i]->alias : "", ops[i]->meaning);
        print_args(ops[i]);
    }
    putchar('\n');
}

int show_ops(Options *o, const char *value)
{
    (void)o;
    (void)value;
    print_group("Layers: x -> conv(16, 3), or conv(x, 16, 3).  Each takes "
                "name = \"...\" too.", LAYER);
    print_group("Losses: one number per sample, after the word loss.", LOSS);
    print_group("Metrics: likewise, after the word metric.", METRIC);
    print_group("Optimizers: for the train section.", OPTIMIZER);
    print_group("Schedules: for the train section; the learning rate is the "
                "optimizer's times a factor.", SCHEDULE);
    return EXIT_DONE;
}
