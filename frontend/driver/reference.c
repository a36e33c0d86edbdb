// --reference: operators, train settings, functions, passes and options as one
// page of Markdown.  The texts are in the rows of the tables; this file has the
// layout.
#include <math.h>
#include <string.h>
#include "options.h"
#include "../resolve.h"

// Prints the text of a cell or paragraph, with Markdown's characters escaped.
static void print_text(const char *text)
{
    for (const char *c = text; *c != '\0'; c++) {
        if (strchr("\\|*_<>`[]", *c) != NULL) putchar('\\');
        putchar(*c);
    }
}

static void print_cell(const char *text)
{
    fputs("| ", stdout);
    print_text(text);
    putchar(' ');
}

// ---- operators --------------------------------------------------------------

static const struct Group {
    const char *title, *text, *example;
    unsigned    flag;
} groups[] = {
    { "Layers", "Called on values, as `x -> f(...)` or `f(x, ...)`. Each takes "
      "`name = \"...\"` too, and one with parameters `train = none` and "
      "`weights = \"...\"`. Formulas hold for \\[batch, height, width, "
      "channels\\].",
      "y = x -> conv(16, 3x5, stride = 2, init = he_normal, name = \"stem\")",
      LAYER },
    { "Losses", "After the word `loss`. Several losses are added up. "
      "A loss is a mean over samples, and a sample counts 1. With `ignore`, "
      "`class_weights` or a label a pixel it is a mean over labels, and a "
      "label counts its class weight, or 0 if it is ignored. `multibox` is a "
      "mean over anchors that stand for boxes. In training the mean is that of "
      "the batch, which the gradient is of, as in PyTorch. Over an epoch or an "
      "evaluation both sums are added up before one is divided by the other, "
      "so that the batch size does not matter. Where nothing counts the loss "
      "is 0, without a gradient; the trainer prints `nan` for a mean of "
      "nothing. PyTorch's reduction `sum` is the mean with the `weight` that "
      "is the number of elements, or of labels. Labels are `i32` in memory, "
      "and data files have integers of any size; `ignore = -100` leaves out "
      "the labels that PyTorch leaves out by default. A target that is no "
      "label has the shape of the scores: probabilities in "
      "`softmax_cross_entropy`, of any sum.",
      "loss softmax_cross_entropy(logits, label, label_smoothing = 0.1)",
      LOSS },
    { "Metrics", "After the word `metric`, where any loss can stand too. "
      "Their means are those of losses.",
      "metric top_k(logits, label, k = 3)", METRIC },
    { "Optimizers", "For the train section, each launched once for every "
      "parameter.",
      "optimizer = sgd(lr = 0.1, momentum = 0.9, nesterov = true)", OPTIMIZER },
    { "Schedules", "For the train section. The rate of a training step is the "
      "optimizer's `lr` times the factor. `t` counts training steps from the "
      "end of the warmup, in whose steps the factor rises evenly to 1; `T` is "
      "`t` at `steps`.",
      "schedule = cosine(steps = 10000, warmup = 500)", SCHEDULE },
    { "Internal operators", "Made by passes and other operators. No program "
      "calls them, but graphs and plans show them.", NULL, INTERNAL },
};
enum { GROUP_COUNT = sizeof groups / sizeof groups[0] };

// The flags' meanings, for the reference.
static const struct Trait {
    unsigned    flag;
    const char *text;
} traits[] = {
    { VIEW, "Its result aliases its operand: nothing is launched." },
    { ACT, "Can be fused into the launch that computes its operand." },
    { STORES_ACT, "Its launch can apply an activation to its result." },
};

// True if fallback lists all allowed words.
static bool has_words(const ArgSpec *spec)
{
    return spec->fallback != NULL && takes_words(spec);
}

// Prints "1 to 4096" or "at least 0"; bounds of 1e30 and more mean none.
static void print_range(const ArgSpec *spec)
{
    bool low = fabs(spec->low) < 1e30, high = fabs(spec->high) < 1e30;
    bool is_word = spec->type == ARG_BOOL || spec->type == ARG_WORD ||
                   spec->type == ARG_INIT;

    fputs("| ", stdout);
    if (!is_word && low && high)
        printf("%.15g to %.15g ", spec->low, spec->high);
    else if (!is_word && low)
        printf("at least %.15g ", spec->low);
    else if (!is_word && high)
        printf("at most %.15g ", spec->high);
}

// Returns the length of the default; of a list of words, the first.
static int fallback_length(const ArgSpec *spec)
{
    return (int)(has_words(spec) ? strcspn(spec->fallback, "|")
                                 : strlen(spec->fallback));
}

static void print_fallback(const ArgSpec *spec)
{
    if (spec->fallback == NULL) fputs("| must be given ", stdout);
    else printf("| `%.*s` ", fallback_length(spec), spec->fallback);
}

static void print_words(const char *words)
{
    const char *separator = "(";
    while (*words != '\0') {
        int length = (int)strcspn(words, "|");
        printf("%s`%.*s`", separator, length, words);
        words += length + (words[length] == '|');
        separator = ", ";
    }
    fputs(") ", stdout);
}

static void print_arguments(const Op *op)
{
    if (op->args == NULL || op->args[0].name == NULL) return;
    puts("| argument | type | default | range | meaning |\n"
         "|---|---|---|---|---|");
    for (const ArgSpec *spec = op->args; spec->name != NULL; spec++) {
        printf("| `%s` ", spec->name);
        print_cell(arg_type_words(spec->type));
        print_fallback(spec);
        print_range(spec);
        print_cell(spec->meaning);
        if (has_words(spec) && strchr(spec->fallback, '|') != NULL)
            print_words(spec->fallback);
        puts("|");
    }
    putchar('\n');
}

// Prints the operands in brackets in the row: parameters, mostly.
static void print_own_operands(const Op *op)
{
    const char *separator = "Not given by the call: ";
    for (const char *c = op->operands; *c != '\0'; c++) {
        if (*c != '[') continue;
        printf("%s`%.*s`", separator, slot_name_length(c + 1), c + 1);
        separator = ", ";
    }
    if (separator[0] == ',') puts(".\n");
}

// Prints conv(x, channels, kernel, stride = 1): operands, then arguments.
static void print_call(const Op *op)
{
    printf("    %s(", op->name);
    print_operands(op);
    const char *separator = op->flags & (OPTIMIZER | SCHEDULE) ? "" : ", ";
    for (const ArgSpec *spec = op->args; spec != NULL && spec->name != NULL;
         spec++) {
        printf("%s%s", separator, spec->name);
        if (spec->fallback != NULL)
            printf(" = %.*s", fallback_length(spec), spec->fallback);
        separator = ", ";
    }
    puts(")\n");
}

static void print_operator(const Op *op)
{
    printf("### %s\n\n", op->name);
    print_call(op);
    printf("    %s\n\n", op->meaning);
    if (op->alias != NULL) printf("Also called `%s`.\n\n", op->alias);
    if (op->flags & LAYER) print_own_operands(op);
    if (op->state != NULL && op->state[0] != NULL) {
        fputs("Keeps for each parameter, at most:", stdout);
        for (const char *const *state = op->state; *state != NULL; state++)
            printf("%s `%s`", state > op->state ? "," : "", *state);
        puts(".\n");
    }
    for (size_t i = 0; i < sizeof traits / sizeof traits[0]; i++)
        if (op->flags & traits[i].flag) printf("%s\n\n", traits[i].text);
    print_arguments(op);
}

static void print_groups(void)
{
    for (int i = 0; i < GROUP_COUNT; i++) {
        printf("## %s\n\n%s\n\n", groups[i].title, groups[i].text);
        if (groups[i].example != NULL)
            printf("    %s\n\n", groups[i].example);
        for (int k = 0; k < OP_COUNT; k++)
            if (ops[k]->flags & groups[i].flag) print_operator(ops[k]);
    }
}

// ---- arguments --------------------------------------------------------------

// The syntax of each ArgType in a program.
static const char *const spellings[] = {
    [ARG_INT] = "`32`, `64 * 0.5`: an integral number",
    [ARG_FLOAT] = "`0.1`, `1e-3`, `1/255`",
    [ARG_BOOL] = "`true`, `false`, or a comparison",
    [ARG_DIMS] = "`3x5`, height first; `3` is `3x3`",
    [ARG_PADDING] = ("`1`, at every side; `1x2`, rows and columns; `0x1x2x3`, "
                     "top, bottom, left, right; of windows `same`, `valid` "
                     "too"),
    [ARG_WORD] = "one of the words that the table lists",
    [ARG_LIST] = "`[1, 2, 0.5]`, numbers; `[]` is the empty one",
    [ARG_INIT] = "one of those words, or a number",
    [ARG_LABEL] = "`255`, `-100`: an integral number; or `none`",
};

static void print_types(void)
{
    puts("## Arguments\n\nValues come first, then arguments, in the order of "
         "the tables below or by name. A range holds for each number of "
         "dimensions, paddings and lists.\n\n"
         "| type | written as |\n|---|---|");
    for (size_t i = 0; i < sizeof spellings / sizeof spellings[0]; i++)
        printf("| %s | %s |\n", arg_type_words((ArgType)i), spellings[i]);
    putchar('\n');
}

// ---- other tables -----------------------------------------------------------

static void print_train(void)
{
    const char *name, *meaning;
    puts("## The train section\n\n| setting | meaning |\n|---|---|");
    for (int i = 0; setting_row(i, &name, &meaning); i++) {
        printf("| `%s` ", name);
        print_cell(meaning);
        puts("|");
    }
}

static void print_checkpoints(void)
{
    puts("\n## Checkpoints\n\n"
         "    checkpoint a, b\n"
         "    x = x -> f -> checkpoint -> g\n\n"
         "A statement in the net or a block, or a word in a chain: a training "
         "step keeps these values. The values between two checkpoints, or "
         "between an input and a checkpoint, are recomputed when the backward "
         "pass first reads them, except the statistics of a batch. Values that "
         "lead to no checkpoint are kept. Each use of a block and each "
         "iteration of a `repeat` is a checkpoint of its own. No bit of the "
         "result changes.\n\n"
         "| `--checkpoint` | values that are recomputed |\n|---|---|\n"
         "| `auto` | with `--budget`, those that it needs, ignoring the marks; "
         "without, those of the marks |\n"
         "| `elementwise` | likewise, but no launch with matrix products |\n"
         "| `marked` | those of the marks; a budget is then only checked |\n"
         "| `off` | none; a budget is then only checked |");
}

static void print_halves(void)
{
    puts("\n## Maps in 16 bits\n\n"
         "    float32 a, b\n"
         "    x = x -> f -> float32 -> g\n\n"
         "With `--precision f16` or `bf16` activations and their gradients "
         "are stored in 16 bits. Kernels convert each element to float when "
         "they load it and round it to nearest even when they store it; "
         "no extra launch is needed. Arithmetic is float. Parameters, their "
         "gradients, optimizer states, statistics, sums, losses, metrics, "
         "inputs and outputs are float. `float32` is a statement in the net "
         "or a block, or a word in a chain. Its values and their gradients are "
         "stored as float; in other precisions it has no effect. The state is "
         "the same in all these precisions.");
}

static void print_functions(void)
{
    const char *name, *meaning;
    int fewest, most;
    puts("\n## Functions\n\n| function | arguments | gives |\n|---|---|---|");
    for (int i = 0; function_row(i, &name, &fewest, &most, &meaning); i++) {
        printf("| `%s` | %d", name, fewest);
        if (most > fewest) printf(" to %d", most);
        putchar(' ');
        print_cell(meaning);
        puts("|");
    }
}

static void print_passes(void)
{
    puts("\n## Passes\n\nIn the order in which they run. `-f[no-]PASS` turns "
         "those on and off that can be left out.\n\n"
         "| pass | can be left out | effect |\n|---|---|---|");
    for (int i = 0; i < PASS_COUNT; i++) {
        printf("| `%s` | %s ", passes[i].name,
               passes[i].optional ? "yes" : "no");
        print_cell(passes[i].summary);
        puts("|");
    }
}

static void print_flags(const Flag *flag)
{
    for (; flag->name != NULL; flag++) {
        printf("| `%s%s%s` ", flag->name, flag->value != NULL ? " " : "",
               flag->value != NULL ? flag->value : "");
        print_cell(flag->help);
        puts("|");
    }
}

static void print_options(void)
{
    puts("\n## Options\n\n| option | effect |\n|---|---|");
    print_flags(flags);
    print_flags(pass_flags);
}

// Links to every heading; an operator's heading is its name.
static void print_contents(void)
{
    puts("* [Arguments](#arguments)");
    for (int i = 0; i < GROUP_COUNT; i++) {
        // A heading's anchor has small letters, and hyphens for spaces.
        printf("* [%s](#", groups[i].title);
        for (const char *c = groups[i].title; *c != '\0'; c++)
            putchar(*c == ' ' ? '-' : *c >= 'A' && *c <= 'Z' ? *c + 32 : *c);
        putchar(')');
        const char *separator = ": ";
        for (int k = 0; k < OP_COUNT; k++) {
            if (!(ops[k]->flags & groups[i].flag)) continue;
            printf("%s[%s](#%s)", separator, ops[k]->name, ops[k]->name);
            separator = ", ";
        }
        putchar('\n');
    }
    puts("* [The train section](#the-train-section)\n"
         "* [Checkpoints](#checkpoints)\n"
         "* [Maps in 16 bits](#maps-in-16-bits)\n* [Functions](#functions)\n"
         "* [Passes](#passes)\n* [Options](#options)\n");
}

static const char opening[] =
    "# cnnc: the reference\n\n"
    "Written by `cnnc --reference` from the tables that the compiler itself "
    "uses.\n\n"
    "A program is a net and how it is trained:\n\n"
    "```cnn\n"
    "net example {\n"
    "    input image : u8[28, 28, 1]\n"
    "    input label : class[10]\n\n"
    "    x = image -> scale(1/255) -> conv(16, 3) -> relu -> maxpool(2)\n"
    "    logits = x -> flatten -> dense(10)\n\n"
    "    output logits\n"
    "    loss   softmax_cross_entropy(logits, label)\n"
    "    metric accuracy(logits, label)\n"
    "}\n\n"
    "train {\n"
    "    batch     = 64\n"
    "    optimizer = adam(lr = 1e-3)\n"
    "}\n"
    "```\n";

int show_reference(Options *o, const char *value)
{
    (void)o;
    (void)value;
    puts(opening);
    print_contents();
    print_types();
    print_groups();
    print_train();
    print_checkpoints();
    print_halves();
    print_functions();
    print_passes();
    print_options();
    return EXIT_DONE;
}
