// What --help, --help-ops and --passes print, all of it from the tables.
#include <string.h>
#include "options.h"

void print_help(void)
{
    puts("cnnc [options] FILE.cnn\n\n"
         "Writes a standalone CUDA C file that trains the net of FILE.cnn or "
         "runs it.\n");
    for (const Flag *flag = flags; flag->name != NULL; flag++) {
        int width = printf("  %s%s%s", flag->name,
                           flag->value != NULL ? " " : "",
                           flag->value != NULL ? flag->value : "");
        printf("%*s%s\n", width < 22 ? 22 - width : 1, "", flag->help);
    }
    puts("  -f[no-]PASS         an optional pass on or off\n"
         "  -fkeep-gradients    every parameter's gradient outlives the step\n"
         "\n"
         "A FILE.ir is a graph as --emit ir and --dump print it.\n"
         "Exit: 0 done, 1 the input is wrong, 2 usage, 3 a file can't be read "
         "or\nwritten, 70 a fault of cnnc's own.");
}

void print_passes(void)
{
    for (int i = 0; i < PASS_COUNT; i++)
        printf("  %-16s%s%s\n", passes[i].name,
               passes[i].optional ? "" : "(always) ", passes[i].what);
}

// Name, type, meaning, and what it falls back to.
static void print_args(const Op *op)
{
    static const char *const types[] = {
        "integer", "number", "true/false", "dimensions", "padding",
    };
    for (const ArgSpec *spec = op->args;
         spec != NULL && spec->name != NULL; spec++)
        printf("    %-14s%-12s%s%s%s%s\n", spec->name, types[spec->type],
               spec->meaning, spec->fallback != NULL ? " (" : "",
               spec->fallback != NULL ? spec->fallback : "",
               spec->fallback != NULL ? ")" : "");
}

// The operands that a call gives: those that the row has no brackets around.
static void print_operands(const Op *op)
{
    const char *separator = "";
    for (const char *c = op->operands; *c != '\0';) {
        int length = (int)strcspn(c, " ");
        if (*c != '[' && !(op->flags & OPTIMIZER)) {
            printf("%s%.*s", separator, length, c);
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
        printf(")\n    %s\n", ops[i]->meaning);
        print_args(ops[i]);
    }
    putchar('\n');
}

void print_ops(void)
{
    print_group("Layers: x -> conv(16, 3), or conv(x, 16, 3).  Each takes "
                "name = \"...\" too.", LAYER);
    print_group("Losses: a number a sample, after the word loss.", LOSS);
    print_group("Metrics: likewise, after the word metric.", METRIC);
    print_group("Optimizers: of the train section.", OPTIMIZER);
}
