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
#include "options.h"

int usage(const char *what, const char *word, const char *const *names,
          int count)
{
    const char *near = names != NULL ? nearest_name(word, names, count) : NULL;
    fprintf(stderr, "cnnc: %s '%s'", what, word);
    if (near != NULL) fprintf(stderr, "; did you mean '%s'?", near);
    fputs(near != NULL ? "\n" : "; --help lists the options\n", stderr);
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

int choose(const char *flag, const char *text, const char *const *words,
           int count)
{
    for (int i = 0; i < count; i++)
        if (strcmp(text, words[i]) == 0) return i;
    const char *near = nearest_name(text, words, count);
    if (near == NULL) near = longer_name(text, words, count);
    fprintf(stderr, "cnnc: %s '%s'", flag, text);
    if (near != NULL) fprintf(stderr, "; did you mean '%s'?", near);
    else
        for (int i = 0; i < count; i++)
            fprintf(stderr, "%s%s", i == 0 ? "; it is one of " : ", ",
                    words[i]);
    fputc('\n', stderr);
    return -1;
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
        fprintf(stderr, "cnnc: --prefix '%s' %s\n", value, fault);
    return fault != NULL ? EXIT_USAGE : -1;
}

static int set_main(Options *o, const char *value)
{
    (void)value;
    o->with_main = true;
    return -1;
}

static int set_mode(Options *o, const char *value)
{
    int mode = choose("--mode", value, mode_names, MODE_COUNT);
    if (mode >= 0) o->frontend.mode = (Mode)mode;
    return mode < 0 ? EXIT_USAGE : -1;
}

int set_count(const char *flag, const char *value, int64_t *count)
{
    char *end;
    errno = 0;
    *count = strtoll(value, &end, 10);
    if (errno == 0 && *end == '\0' && *count >= 1 && *count <= 1 << 24)
        return -1;
    fprintf(stderr, "cnnc: %s is an integer from 1 to %d, not '%s'\n", flag,
            1 << 24, value);
    return EXIT_USAGE;
}

static int set_batch(Options *o, const char *value)
{
    return set_count("--batch", value, &o->frontend.batch);
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
        return usage("-D takes NAME=VALUE, not", value, NULL, 0);
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
    static const char *const kinds[] = { "cuda", "ir", "plan", "plan-csv",
                                         "names" };
    int kind = choose("--emit", value, kinds, 5);
    if (kind >= 0) o->emit = (Emit)kind;
    o->emit_given = true;
    return kind < 0 ? EXIT_USAGE : -1;
}

static int set_format(Options *o, const char *value)
{
    static const char *const formats[] = { "text", "csv", "json" };
    int format = choose("--format", value, formats, 3);
    if (format >= 0) o->format = (Format)format;
    o->format_given = true;
    return format < 0 ? EXIT_USAGE : -1;
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

// True if value names a pass or equals `also`; reports an error otherwise.
static bool is_pass(const char *value, const char *also)
{
    const char *names[PASS_COUNT + 1] = { also };
    if (strcmp(value, also) == 0) return true;
    if (find_pass(value, strlen(value)) != NULL) return true;
    for (int i = 0; i < PASS_COUNT; i++) names[i + 1] = passes[i].name;
    usage("there is no pass", value, names, PASS_COUNT + 1);
    return false;
}

static int set_dump(Options *o, const char *value)
{
    o->passes.dump = value;
    return is_pass(value, "all") ? -1 : EXIT_USAGE;
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
    return is_pass(value, "frontend") ? -1 : EXIT_USAGE;
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
    puts("cnnc 0.1");
    return EXIT_DONE;
}

// ---- the table --------------------------------------------------------------

const Flag flags[] = {
    { "-o", "FILE", "output; '-', the default, is standard output",
      set_output },
    { "--header", "FILE", "write the C interface too", set_header },
    { "--prefix", "NAME", "prefix of symbols, instead of the net's name",
      set_prefix },
    { "--main", NULL, "add the trainer program", set_main },
    { "--weights", "FILE", "safetensors to put into the output as constants, "
      "for NAME_init_trained", set_weights },
    { "--emit", "KIND", "cuda (default), ir, plan, plan-csv or names",
      set_emit },
    { "-MD", NULL, "write dependencies, for make and ninja", set_depend },
    { "-MF", "FILE", "where to write them", set_depend_file },
    { "--mode", "MODE", "train (default), eval or infer", set_mode },
    { "--batch", "N", "instead of the train section's", set_batch },
    { "-D", "NAME=V", "instead of a constant's value", set_define },
    { "--freeze", "GLOB", "parameters with such names are not trained; may be "
      "repeated", set_freeze },
    { "--precision", "P", "f32 (default), tf32, f16, bf16 or f64",
      set_precision },
    { "--gpu", "NAME", "GPU of the model: h200 (default), another, or a file",
      set_gpu },
    { "--budget", "SIZE", "the largest arena allowed: 5GiB",
      set_budget },
    { "--prefer", "WHAT", "memory, balanced (default) or time",
      set_prefer },
    { "--fit", "SIZE", "find the largest batch whose arena fits in SIZE",
      set_fit },
    { "--microbatch", "N", "take the batch in slices of N samples, or auto",
      set_microbatch },
    { "--ghost", NULL, "slices may have their own statistics", set_ghost },
    { "--checkpoint", "MODE",
      "recompute: auto (default), elementwise, marked, every N, off",
      set_checkpoint },
    { "--split", "N[:HxW]",
      "N samples at a time through maps of HxW pixels and more", set_split },
    { "--offload", NULL, "keep maps in host memory if a budget needs it",
      set_offload },
    { "--plan", "FILE", "addresses for the buffers of a CSV file", set_plan },
    { "--capacity", "N", "bytes that --plan may use; minimized if absent",
      set_capacity },
    { "--time-limit", "S", "seconds that --plan may take", set_time_limit },
    { "--summary", NULL, "layers, shapes, parameters, FLOPs, activation bytes",
      set_summary },
    { "--compare", NULL, "the arena after each pass and memory option",
      set_compare },
    { "--curve", NULL, "memory against cost, as a table, or in --report's page",
      set_curve },
    { "--report", "FILE", "the plan as a page of HTML", set_report },
    { "--counts", "FILE", "counts of each launch for that page (runtime/ptx)",
      set_counts },
    { "--tune", NULL, "write a program that measures tiles for --gpu",
      set_tune },
    { "--gpus", NULL, "list the GPUs", set_gpus },
    { "--passes", NULL, "list the passes", set_passes },
    { "--format", "F", "of these tables: text (default), csv or json",
      set_format },
    { "--help-ops", NULL, "list the operators", show_ops },
    { "--reference", NULL, "operators, language and options, as Markdown",
      show_reference },
    { "--help", NULL, "this text", show_help },
    { "--version", NULL, "the version", show_version },
    { "--dump", "PASS", "the graph after a pass, or all", set_dump },
    { "--dump-dir", "DIR", "dumps go to files there", set_dump_dir },
    { "--stop-after", "PASS", "stop after this pass, or after frontend",
      set_stop_after },
    { "--time", NULL, "the time of each pass", set_time },
    { "-O0", NULL, "no optional pass: no buffer is shared", set_level },
    { "-O1", NULL, "passes that add no arithmetic: as -O2", set_level },
    { "-O2", NULL, "everything (default)", set_level },
    { "-O3", NULL, "the same as -O2", set_level },
    { .name = NULL },
};

// Reports an unknown option with the nearest name, for --bacth=64 too.
static int unknown_flag(const char *arg)
{
    const char *names[sizeof flags / sizeof *flags];
    const char *word = arg;
    char name[32];
    size_t length = strcspn(arg, "=");
    int count = 0;

    // The value after = is ignored.
    if (length < sizeof name) {
        memcpy(name, arg, length);
        name[length] = '\0';
        word = name;
    }
    while (flags[count].name != NULL) {
        names[count] = flags[count].name;
        if (strcmp(names[count], word) == 0)
            return usage("no value goes with", word, NULL, 0);
        count++;
    }
    return usage("unknown option", word, names, count);
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
    const char *names[PASS_COUNT + 1] = { "keep-gradients" };
    bool on = strncmp(arg, "-fno-", 5) != 0;
    const char *name = arg + (on ? 2 : 5);
    int count = 1;

    if (strcmp(name, names[0]) == 0) {
        o->frontend.keep_gradients = on;
        return -1;
    }
    if (pass_options_set(&o->passes, name, on)) return -1;
    for (int i = 0; i < PASS_COUNT; i++)
        if (passes[i].optional) names[count++] = passes[i].name;
    return usage("there is no optional pass", name, names, count);
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
            if (++*i == argc) return usage("a value is missing after", arg,
                                           NULL, 0);
            value = argv[*i];
        }
        // `--checkpoint every N` is the only value of two words.
        if (flag->set == set_checkpoint && value != NULL &&
            strcmp(value, "every") == 0 && *i + 1 < argc)
            value = arena_print(o->arena, "%s %s", value, argv[++*i]);
        return flag->set(o, value);
    }
    return unknown_flag(arg);
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

int options_read(Options *o, Arena *arena, int argc, char **argv)
{
    int level = 2, status = -1;

    *o = (Options){ .arena = arena,
                    .command_line = command_line(arena, argc, argv) };
    for (int i = 1; i < argc; i++)
        if (strncmp(argv[i], "-O", 2) == 0 && argv[i][2] >= '0' &&
            argv[i][2] <= '3' && argv[i][3] == '\0')
            level = argv[i][2] < '2' ? argv[i][2] - '0' : 2;
    pass_options_default(&o->passes, level);
    for (int i = 1; i < argc && status < 0; i++) {
        if (argv[i][0] == '-' && argv[i][1] != '\0')
            status = read_flag(o, argc, argv, &i);
        else if (o->input != NULL)
            status = usage("one input at a time; a second is", argv[i], NULL,
                           0);
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
