// --man: the manual page, in troff's man macros.  Options come from the tables.
#include <string.h>
#include "../../ir/base/version.h"
#include "options.h"

// Prints text with troff's characters escaped, so that each stands for itself.
static void print_text(const char *text)
{
    static const struct { char c; const char *escape; } escapes[] = {
        { '\\', "\\e" }, { '-', "\\-" }, { '\'', "\\(aq" }, { '`', "\\(ga" },
        { '^', "\\(ha" }, { '~', "\\(ti" },
    };
    for (; *text != '\0'; text++) {
        const char *shown = NULL;
        for (size_t i = 0; i < sizeof escapes / sizeof *escapes; i++)
            if (escapes[i].c == *text) shown = escapes[i].escape;
        if (shown != NULL) fputs(shown, stdout);
        else putchar(*text);
    }
}

// Prints the words of a value that its help does not name, a line each.
static void print_words(const Flag *flag)
{
    const char *separator = "\n.br\nAlso ";
    for (int i = 0; flag->words != NULL && flag->words(i) != NULL; i++) {
        if (strstr(flag->help, flag->words(i)) != NULL) continue;
        fputs(separator, stdout);
        print_text(flag->words(i));
        separator = ",\n";
    }
}

static void print_option(const Flag *flag)
{
    fputs(".TP\n\\fB", stdout);
    print_text(flag->name);
    fputs("\\fR", stdout);
    if (flag->value != NULL) {
        fputs(" \\fI", stdout);
        print_text(flag->value);
        fputs("\\fR", stdout);
    }
    putchar('\n');
    print_text(flag->help);
    print_words(flag);
    putchar('\n');
}

static void print_options(const Flag *flag)
{
    for (; flag->name != NULL; flag++) {
        if (group_title(flag) != NULL)
            printf(".SS %s\n", group_title(flag));
        print_option(flag);
    }
}

static void print_statuses(void)
{
    puts(".SH EXIT STATUS");
    for (const ExitMeaning *e = exit_meanings; e->meaning != NULL; e++) {
        printf(".TP\n\\fB%d\\fR\n", e->status);
        print_text(e->meaning);
        putchar('\n');
    }
}

static const char opening[] =
    ".SH NAME\n"
    "cnnc \\- compile a convolutional network to one CUDA C file\n"
    ".SH SYNOPSIS\n"
    ".B cnnc\n"
    "[\\fIoptions\\fR] \\fIFILE.cnn\\fR\n"
    ".SH DESCRIPTION\n"
    "\\fBcnnc\\fR compiles a convolutional network and its training to one\n"
    "standalone CUDA C file.\n"
    "The file contains a training step, inference and a C99 interface.\n"
    "All of it runs inside one static arena, whose size is known to the byte\n"
    "before anything runs.\n"
    "With \\fB\\-\\-main\\fR the file is a whole trainer.\n"
    ".PP\n"
    "A memory budget is an option of the compiler: with \\fB\\-\\-budget\\fR\n"
    "it chooses which values the backward pass recomputes.\n"
    ".PP\n"
    "The input \\fB\\-\\fR is standard input.\n"
    "Long options take their value as the next word, or after \\fB=\\fR.\n"
    ".SH OPTIONS\n";

static const char closing[] =
    ".SH FILES\n"
    ".TP\n"
    "\\fIFILE.cnn\\fR\n"
    "A program: a net, and the section that says how it is trained.\n"
    ".TP\n"
    "\\fIFILE.ir\\fR\n"
    "A graph, as \\fB\\-\\-emit ir\\fR and \\fB\\-\\-dump\\fR print it.\n"
    ".TP\n"
    "\\fIFILE.gpu\\fR\n"
    "The rates of a GPU, for \\fB\\-\\-gpu\\fR.\n"
    "\\fB\\-\\-tune\\fR writes the program that measures its tiles.\n"
    ".TP\n"
    "\\fIshare/doc/cnnc\\fR\n"
    "The manual: the language, the options, memory budgets, the trainer;\n"
    "\\fIreference.md\\fR with all operators and settings; examples.\n"
    ".SH EXAMPLES\n"
    "A trainer, compiled by nvcc:\n"
    ".PP\n"
    ".EX\n"
    "cnnc \\-\\-main digits.cnn \\-o digits.cu\n"
    "nvcc \\-O3 \\-arch=native \\-fmad=false digits.cu \\-lcublas \\-o digits\n"
    "\\&./digits train \\-\\-data data \\-\\-save digits.safetensors\n"
    ".EE\n"
    ".PP\n"
    "The same on a CPU, through the host runtime:\n"
    ".PP\n"
    ".EX\n"
    "g++ \\-O2 \\-xc++ digits.cu $(pkg\\-config \\-\\-cflags \\-\\-libs "
    "cnnc\\-host) \\-o digits\n"
    ".EE\n"
    ".PP\n"
    "A training step in at most 2 GiB, and the largest batch for 8 GiB:\n"
    ".PP\n"
    ".EX\n"
    "cnnc net.cnn \\-\\-budget 2GiB \\-o net.cu \\-\\-header net.h\n"
    "cnnc net.cnn \\-\\-fit 8GiB \\-o net.cu\n"
    ".EE\n"
    ".PP\n"
    "The place of every byte, as a page of HTML:\n"
    ".PP\n"
    ".EX\n"
    "cnnc \\-\\-report net.html net.cnn\n"
    ".EE\n"
    ".SH SEE ALSO\n"
    ".BR nvcc (1),\n"
    ".BR g++ (1),\n"
    ".BR pkg\\-config (1)\n";

int show_manual(Options *o, const char *value)
{
    (void)o;
    (void)value;
    puts(".TH CNNC 1 " CNNC_RELEASED " \"cnnc " CNNC_VERSION "\" "
         "\"User Commands\"");
    fputs(opening, stdout);
    print_options(flags);
    print_options(pass_flags);
    print_statuses();
    fputs(closing, stdout);
    return EXIT_DONE;
}
