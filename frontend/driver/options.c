// The command line as a table.  A row has an option, its value, its line of
// help, and its function.  `--emit=ir` equals `--emit ir`, and `-D n=3` equals
// `-Dn=3`.
//
// -O is read first, whatever its place: it sets all passes, and -f changes
// single ones.  Names of passes are checked against the table of passes.  The
// message for an unknown word has the nearest known one.
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "../../codegen/codegen.h"
#include "../../ir/base/version.h"
#include "options.h"

enum { MOST_VALUES = 64 };

// Stores the words in names and returns their number.
static int list_words(Words *words, const char *names[MOST_VALUES])
{
    int count = 0;
    for (; count < MOST_VALUES && words(count) != NULL; count++)
        names[count] = words(count);
    if (count == MOST_VALUES) bug("%d words, or more", MOST_VALUES);
    return count;
}

int usage(const Options *o, const char *what, const char *word, Words *words)
{
    const char *names[MOST_VALUES] = { NULL };
    const char *near = words != NULL
        ? nearest_name(word, names, list_words(words, names)) : NULL;
    const char *hint = near != NULL
        ? arena_print(o->arena, "did you mean '%s'?", near)
        : "--help lists the options";
    command_message(o->diag, MESSAGE_ERROR, "%s '%s'; %s", what, word, hint);
    return EXIT_USAGE;
}

// Maps words to a name with the same beginning: inference to infer, training to
// train.
static const char *longer_name(const char *text, const char *const *words,
                               int count)
{
    enum { FEWEST = 3 };
    for (int i = 0; i < count; i++) {
        size_t word = strlen(words[i]), length = strlen(text);
        size_t common = word < length ? word : length;
        if (common >= FEWEST && strncasecmp(text, words[i], common) == 0)
            return words[i];
    }
    return NULL;
}

// Returns the index of text in words, or -1.
static int word_index(const char *text, Words *words)
{
    const char *word;
    for (int i = 0; (word = words(i)) != NULL; i++)
        if (strcmp(text, word) == 0) return i;
    return -1;
}

int choose(const Options *o, const char *flag, const char *text, Words *words)
{
    const char *names[MOST_VALUES] = { NULL }, *list = "";
    int count = list_words(words, names), index = word_index(text, words);
    if (index >= 0) return index;
    const char *near = nearest_name(text, names, count);
    if (near == NULL) near = longer_name(text, names, count);
    for (int i = 0; i < count; i++)
        list = arena_print(o->arena, "%s%s%s", list, i == 0 ? "" : ", ",
                           names[i]);
    command_message(o->diag, MESSAGE_ERROR, near != NULL
                    ? "%s '%s'; did you mean '%s'?"
                    : "%s '%s'; it is one of %s", flag, text,
                    near != NULL ? near : list);
    return -1;
}

// ---- the words of values ----------------------------------------------------

static const char *mode_word(int i)
{
    return i < MODE_COUNT ? mode_names[i] : NULL;
}

static const char *emit_word(int i)
{
    static const char *const kinds[] = { "cuda", "ir", "plan", "plan-csv",
                                         "names", "graph", "trace" };
    return i < (int)(sizeof kinds / sizeof *kinds) ? kinds[i] : NULL;
}

static const char *format_word(int i)
{
    static const char *const formats[] = { "text", "csv", "json" };
    return i < (int)(sizeof formats / sizeof *formats) ? formats[i] : NULL;
}

static const char *diagnostics_word(int i)
{
    static const char *const formats[] = { "text", "json", "sarif" };
    return i < (int)(sizeof formats / sizeof *formats) ? formats[i] : NULL;
}

static const char *pass_word(int i)
{
    return i < PASS_COUNT ? passes[i].name : NULL;
}

static const char *dump_word(int i)
{
    return i == 0 ? "all" : pass_word(i - 1);
}

static const char *stop_word(int i)
{
    return i == 0 ? "frontend" : pass_word(i - 1);
}

const char *optional_word(int i)
{
    if (i == 0) return "keep-gradients";
    for (int k = 0; k < PASS_COUNT; k++)
        if (passes[k].optional && --i == 0) return passes[k].name;
    return NULL;
}

// ---- the function of each option --------------------------------------------

// Each returns -1 to continue, or the exit status.

static int set_output(Options *o, const char *value)
{
    o->output = value;
    return -1;
}

static int set_header(Options *o, const char *value)
{
    o->header = value;
    return -1;
}

static int set_prefix(Options *o, const char *value)
{
    const char *fault = prefix_fault(value);
    o->prefix = value;
    if (fault != NULL)
        command_message(o->diag, MESSAGE_ERROR, "--prefix '%s' %s", value,
                        fault);
    return fault != NULL ? EXIT_USAGE : -1;
}

static int set_calibrate(Options *o, const char *value)
{
    (void)value;
    o->frontend.calibrates = true;
    o->frontend.mode = INFER;
    o->frontend.map = I8;
    return -1;
}

static int set_main(Options *o, const char *value)
{
    (void)value;
    o->with_main = true;
    return -1;
}

static int set_trace(Options *o, const char *value)
{
    (void)value;
    o->with_trace = true;
    return -1;
}

static int set_mode(Options *o, const char *value)
{
    int mode = choose(o, "--mode", value, mode_word);
    if (mode >= 0) o->frontend.mode = (Mode)mode;
    return mode < 0 ? EXIT_USAGE : -1;
}

int set_count(const Options *o, const char *flag, const char *value,
              int64_t *count)
{
    char *end;
    errno = 0;
    *count = strtoll(value, &end, 10);
    if (errno == 0 && *end == '\0' && *count >= 1 && *count <= 1 << 24)
        return -1;
    command_message(o->diag, MESSAGE_ERROR, "%s is an integer from 1 to %d, "
                    "not '%s'", flag, 1 << 24, value);
    return EXIT_USAGE;
}

static int set_batch(Options *o, const char *value)
{
    return set_count(o, "--batch", value, &o->frontend.batch);
}

static int set_ghost(Options *o, const char *value)
{
    (void)value;
    o->frontend.ghost = true;
    return -1;
}

// Appends to a list of texts, which is copied.
static void append_text(Arena *arena, const char ***texts, int *count,
                        const char *text)
{
    const char **longer = NEW_ARRAY(arena, (size_t)*count + 1, const char *);
    for (int i = 0; i < *count; i++) longer[i] = (*texts)[i];
    longer[(*count)++] = text;
    *texts = longer;
}

// Later definitions win.  The resolver checks that the constant exists.
static int set_define(Options *o, const char *value)
{
    FrontendOptions *f = &o->frontend;
    if (strchr(value, '=') == NULL || value[0] == '=')
        return usage(o, "-D takes NAME=VALUE, not", value, NULL);
    append_text(o->arena, &f->defines, &f->define_count, value);
    return -1;
}

static int set_weights(Options *o, const char *value)
{
    o->weights = value;
    return -1;
}

static int set_freeze(Options *o, const char *value)
{
    FrontendOptions *f = &o->frontend;
    append_text(o->arena, &f->freeze, &f->freeze_count, value);
    return -1;
}

static int set_emit(Options *o, const char *value)
{
    int kind = choose(o, "--emit", value, emit_word);
    if (kind >= 0) o->emit = (Emit)kind;
    o->emit_given = true;
    return kind < 0 ? EXIT_USAGE : -1;
}

static int set_format(Options *o, const char *value)
{
    int format = choose(o, "--format", value, format_word);
    if (format >= 0) o->format = (Format)format;
    o->format_given = true;
    return format < 0 ? EXIT_USAGE : -1;
}

// The format was set before all other options; this reports unknown ones.
static int set_diagnostics(Options *o, const char *value)
{
    return choose(o, "--diagnostics", value, diagnostics_word) < 0
        ? EXIT_USAGE : -1;
}

// Printed after the whole command line is read.
static int set_gpus(Options *o, const char *value)
{
    (void)value;
    o->list = list_gpus;
    return -1;
}

static int set_passes(Options *o, const char *value)
{
    (void)value;
    o->list = list_passes;
    return -1;
}

static int set_compare(Options *o, const char *value)
{
    (void)value;
    o->compare = true;
    return -1;
}

static int set_curve(Options *o, const char *value)
{
    (void)value;
    o->curve = true;
    return -1;
}

static int set_report(Options *o, const char *value)
{
    o->report = value;
    return -1;
}

static int set_counts(Options *o, const char *value)
{
    o->counts = value;
    return -1;
}

static int set_summary(Options *o, const char *value)
{
    (void)value;
    o->summary = true;
    return -1;
}

// Nothing to do: -O was read before all others.
static int set_level(Options *o, const char *value)
{
    (void)o;
    (void)value;
    return -1;
}

// True if value is the first of the words or a pass; they are passes from the
// second on.  Reports an error otherwise.
static bool is_pass(const Options *o, const char *value, Words *words)
{
    if (strcmp(value, words(0)) == 0) return true;
    if (find_pass(value, strlen(value)) != NULL) return true;
    usage(o, "there is no pass", value, words);
    return false;
}

static int set_dump(Options *o, const char *value)
{
    o->passes.dump = value;
    return is_pass(o, value, dump_word) ? -1 : EXIT_USAGE;
}

// --dump-dir without --dump dumps all passes.
static int set_dump_dir(Options *o, const char *value)
{
    o->passes.dump_dir = value;
    if (o->passes.dump == NULL) o->passes.dump = "all";
    return -1;
}

static int set_stop_after(Options *o, const char *value)
{
    o->passes.stop_after = value;
    return is_pass(o, value, stop_word) ? -1 : EXIT_USAGE;
}

static int set_time(Options *o, const char *value)
{
    (void)value;
    o->passes.time = true;
    return -1;
}

static int set_depend(Options *o, const char *value)
{
    (void)value;
    o->depend = true;
    return -1;
}

static int set_depend_file(Options *o, const char *value)
{
    o->depend_file = value;
    return -1;
}

static int show_version(Options *o, const char *value)
{
    (void)o;
    (void)value;
    puts("cnnc " CNNC_VERSION);
    return EXIT_DONE;
}

// ---- the table --------------------------------------------------------------

const Flag flags[] = {
    { "-o", "FILE", "output; '-', the default, is standard output",
      set_output, NULL },
    { "--header", "FILE", "write the C interface too", set_header, NULL },
    { "--prefix", "NAME", "prefix of symbols, instead of the net's name",
      set_prefix, NULL },
    { "--main", NULL, "add the trainer program", set_main, NULL },
    { "--trace", NULL, "a trainer whose train --trace times each launch",
      set_trace, NULL },
    { "--weights", "FILE", "safetensors to put into the output as constants, "
      "for NAME_init_trained", set_weights, NULL },
    { "--emit", "KIND", "cuda (default), ir, plan, plan-csv, trace, names "
      "or graph",
      set_emit, emit_word },
    { "-MD", NULL, "write dependencies, for make and ninja", set_depend, NULL },
    { "-MF", "FILE", "the file of these dependencies", set_depend_file, NULL },
    { "--mode", "MODE", "train (default), eval or infer", set_mode,
      mode_word },
    { "--batch", "N", "the batch, instead of the train section's", set_batch,
      NULL },
    { "-D", "NAME=V", "the value of a constant, instead of the program's",
      set_define, NULL },
    { "--freeze", "GLOB", "parameters with such names are not trained; may be "
      "repeated", set_freeze, NULL },
    { "--precision", "P", "f32 (default), tf32, f16, bf16, f64, or int8 to "
      "infer", set_precision, precision_word },
    { "--calibrate", NULL, "a program that finds the scales of --precision "
      "int8", set_calibrate, NULL },
    { "--gpu", "NAME|FILE", "GPU of the model: h200 (default), another of "
      "--gpus, or rates",
      set_gpu, gpu_word },
    { "--budget", "SIZE", "the largest arena allowed: 5GiB",
      set_budget, NULL },
    { "--prefer", "WHAT", "memory, balanced (default) or time",
      set_prefer, prefer_word },
    { "--inputs", "WHERE", "arena (default), or caller: read in the caller's "
      "memory", set_inputs, inputs_word },
    { "--fit", "SIZE", "find the largest batch whose arena fits in SIZE",
      set_fit, NULL },
    { "--microbatch", "N", "take the batch in slices of N samples, or auto",
      set_microbatch, microbatch_word },
    { "--ghost", NULL, "slices may have their own statistics",
      set_ghost, NULL },
    { "--checkpoint", "MODE",
      "recompute: auto (default), elementwise, marked, every N, off",
      set_checkpoint, checkpoint_word },
    { "--split", "N[:HxW]",
      "N samples at a time through maps of HxW pixels and more",
      set_split, NULL },
    { "--offload", NULL, "keep maps in host memory if a budget needs it",
      set_offload, NULL },
    { "--plan", "FILE", "addresses for the buffers of a CSV file",
      set_plan, NULL },
    { "--capacity", "N", "bytes that --plan may use; minimized if absent",
      set_capacity, NULL },
    { "--time-limit", "S", "seconds that --plan may take",
      set_time_limit, NULL },
    { "--summary", NULL, "layers, shapes, parameters, FLOPs, activation bytes",
      set_summary, NULL },
    { "--compare", NULL, "the arena after each pass and memory option",
      set_compare, NULL },
    { "--curve", NULL, "memory against cost, as a table, or in --report's page",
      set_curve, NULL },
    { "--report", "FILE", "the plan as a page of HTML", set_report, NULL },
    { "--counts", "FILE", "counts of each launch for that page (runtime/ptx)",
      set_counts, NULL },
    { "--tune", NULL, "write a program that measures tiles for --gpu",
      set_tune, NULL },
    { "--gpus", NULL, "list the GPUs", set_gpus, NULL },
    { "--passes", NULL, "list the passes", set_passes, NULL },
    { "--format", "F", "of these tables: text (default), csv or json",
      set_format, format_word },
    { "--help", NULL, "the options", show_help, NULL },
    { "--help-ops", NULL, "list the operators", show_ops, NULL },
    { "--reference", NULL, "operators, language and options, as Markdown",
      show_reference, NULL },
    { "--man", NULL, "the manual page, for man -l -", show_manual, NULL },
    { "--completion", "SHELL", "a script that completes these options in bash, "
      "zsh or fish", show_completion, shell_word },
    { "--grammar", "EDITOR", "the language's syntax for vim or textmate",
      show_grammar, editor_word },
    { "--version", NULL, "the version", show_version, NULL },
    { "--diagnostics", "FORMAT", "of errors and warnings: text (default), json "
      "or sarif", set_diagnostics, diagnostics_word },
    { "--dump", "PASS", "the graph after a pass, or all", set_dump,
      dump_word },
    { "--dump-dir", "DIR", "dumps go to files there", set_dump_dir, NULL },
    { "--stop-after", "PASS", "stop after this pass, or after frontend",
      set_stop_after, stop_word },
    { "--time", NULL, "the time of each pass", set_time, NULL },
    { "-O0", NULL, "no optional pass: no buffer is shared", set_level, NULL },
    { "-O1", NULL, "passes that add no arithmetic: as -O2", set_level, NULL },
    { "-O2", NULL, "everything (default)", set_level, NULL },
    { "-O3", NULL, "the same as -O2", set_level, NULL },
    { .name = NULL },
};

static const char *flag_word(int i)
{
    return flags[i].name;
}

// Reports an unknown option with the nearest name, for --bacth=64 too.
static int unknown_flag(const Options *o, const char *arg)
{
    const char *word = arg;
    char name[32];
    size_t length = strcspn(arg, "=");

    // The value after = is ignored.
    if (length < sizeof name) {
        memcpy(name, arg, length);
        name[length] = '\0';
        word = name;
    }
    for (const Flag *flag = flags; flag->name != NULL; flag++)
        if (strcmp(flag->name, word) == 0)
            return usage(o, "no value goes with", word, NULL);
    return usage(o, "unknown option", word, flag_word);
}

// True if arg is this option.  Sets *value to the value that it includes, or
// NULL.
static bool is_flag(const Flag *flag, const char *arg, const char **value)
{
    size_t length = strlen(flag->name);

    *value = NULL;
    if (strncmp(arg, flag->name, length) != 0) return false;
    if (arg[length] == '\0') return true;
    if (flag->value == NULL) return false;
    if (arg[1] == '-' && arg[length] != '=') return false;
    *value = arg + length + (arg[1] == '-');
    return arg[1] == '-' || length == 2;
}

// Reads -f[no-]PASS.
static int set_pass(Options *o, const char *arg)
{
    bool on = strncmp(arg, "-fno-", 5) != 0;
    const char *name = arg + (on ? 2 : 5);

    if (strcmp(name, optional_word(0)) == 0) {
        o->frontend.keep_gradients = on;
        return -1;
    }
    if (pass_options_set(&o->passes, name, on)) return -1;
    return usage(o, "there is no optional pass", name, optional_word);
}

// Reads the option at argument *i, and advances *i past its value.
static int read_flag(Options *o, int argc, char **argv, int *i)
{
    const char *arg = argv[*i], *value;

    if (strncmp(arg, "-f", 2) == 0) {
        note_company(o, arg);
        return set_pass(o, arg);
    }
    for (const Flag *flag = flags; flag->name != NULL; flag++) {
        if (!is_flag(flag, arg, &value)) continue;
        note_company(o, flag->name);
        if (flag->value != NULL && value == NULL) {
            if (++*i == argc)
                return usage(o, "a value is missing after", arg, NULL);
            value = argv[*i];
        }
        // `--checkpoint every N` is the only value of two words.
        if (flag->set == set_checkpoint && value != NULL &&
            strcmp(value, "every") == 0 && *i + 1 < argc)
            value = arena_print(o->arena, "%s %s", value, argv[++*i]);
        return flag->set(o, value);
    }
    return unknown_flag(o, arg);
}

// Finds the format of messages, for errors of all options.
static void find_diagnostics(Options *o, int argc, char **argv)
{
    const Flag *flag = flags;
    while (flag->set != set_diagnostics) flag++;
    for (int i = 1; i < argc; i++) {
        const char *value;
        if (!is_flag(flag, argv[i], &value)) continue;
        if (value == NULL && i + 1 < argc) value = argv[i + 1];
        int format = value != NULL ? word_index(value, diagnostics_word) : -1;
        if (format >= 0) o->diagnostics = (Diagnostics)format;
    }
    if (o->diagnostics != DIAGNOSTICS_TEXT)
        o->diag->kept = NEW(o->arena, Messages);
}

// ---- the whole command line -------------------------------------------------

// Removes folders, so that the output does not depend on where files are.
static const char *without_folder(const char *arg)
{
    const char *start = arg[0] == '-' ? strchr(arg, '=') : arg;
    const char *slash = start != NULL ? strrchr(start, '/') : NULL;
    return slash != NULL ? slash + 1 : start != NULL ? start + (*start == '=')
                                                     : arg;
}

static const char *command_line(Arena *arena, int argc, char **argv)
{
    const char *line = "cnnc";
    for (int i = 1; i < argc; i++) {
        const char *equals = argv[i][0] == '-' ? strchr(argv[i], '=') : NULL;
        int kept = equals != NULL ? (int)(equals - argv[i] + 1) : 0;
        line = arena_print(arena, "%s %.*s%s", line, kept, argv[i],
                           without_folder(argv[i]));
    }
    return line;
}

int options_read(Options *o, Arena *arena, Diag *diag, int argc, char **argv)
{
    int level = 2, status = -1;

    *o = (Options){ .arena = arena, .diag = diag,
                    .command_line = command_line(arena, argc, argv) };
    find_diagnostics(o, argc, argv);
    for (int i = 1; i < argc; i++)
        if (strncmp(argv[i], "-O", 2) == 0 && argv[i][2] >= '0' &&
            argv[i][2] <= '3' && argv[i][3] == '\0')
            level = argv[i][2] < '2' ? argv[i][2] - '0' : 2;
    pass_options_default(&o->passes, level);
    for (int i = 1; i < argc && status < 0; i++) {
        if (argv[i][0] == '-' && argv[i][1] != '\0')
            status = read_flag(o, argc, argv, &i);
        else if (o->input != NULL)
            status = usage(o, "one input at a time; a second is", argv[i],
                           NULL);
        else
            o->input = argv[i];
    }
    if (o->input != NULL && strcmp(o->input, "-") == 0)
        o->input = "/dev/stdin";
    if (status >= 0) return status;
    if (o->list != NULL) return o->list(o);
    if (o->passes.stop_after != NULL && !o->emit_given) o->emit = EMIT_IR;
    return options_check(o);
}
