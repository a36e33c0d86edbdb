// The command line.
#ifndef CNNC_OPTIONS_H
#define CNNC_OPTIONS_H

#include "../../ir/base/tensors.h"
#include "../../passes/pass.h"
#include "../compile.h"
#include "sheet.h"

typedef enum Emit {
    EMIT_CUDA, EMIT_IR, EMIT_PLAN, EMIT_PLAN_CSV, EMIT_NAMES, EMIT_GRAPH,
    EMIT_TRACE
} Emit;

// The formats of messages.
typedef enum Diagnostics {
    DIAGNOSTICS_TEXT, DIAGNOSTICS_JSON, DIAGNOSTICS_SARIF,
} Diagnostics;

enum ExitStatus {
    EXIT_DONE = 0,
    EXIT_INPUT = 1,             // the program is wrong
    EXIT_USAGE = 2,             // the command line is wrong
    EXIT_FILE = 3,              // a file can't be read or written
    EXIT_OVER = 4,              // over the budget or capacity
    EXIT_BUG = 70,              // of bug()
};

typedef struct Options Options;
struct Options {
    Arena          *arena;
    Diag           *diag;           // where messages go
    Diagnostics     diagnostics;
    const char     *input, *output, *header, *report;
    const char     *counts;         // file of counts for the report, or NULL
    const char     *weights;        // file of the emitted constants, or NULL
    const char     *prefix;         // of the emitted file's symbols, or NULL
    const char     *command_line;   // as typed, without directories
    FrontendOptions frontend;
    PassOptions     passes;
    Emit            emit;
    bool            emit_given;
    Format          format;         // of tables
    bool            format_given;
    int           (*list)(const Options *o);    // --gpus or --passes, printed
                                                // instead; or NULL
    bool            with_main, with_trace, compare, summary, curve;
    bool            tune;           // --tune: a program that measures tiles
    bool            depend;         // -MD
    const char     *depend_file;
    const char     *gpu_file;       // of --gpu; NULL if it is a name
    bool            plan;           // --plan: input is its file
    const char     *beside_plan;    // an option --plan excludes, or NULL
    const char     *of_program;     // an option not for graphs as text
    int64_t         capacity;       // bytes to fit in; 0: minimize
    int64_t         fit;            // --fit: bytes to fit in, or 0
    bool            auto_slices;    // --microbatch auto
    double          time_limit;     // seconds; 0: none
};

// Reads the command line.  Returns -1 to continue, or the exit status: after an
// error, which it reports, and after --help and the like.
int options_read(Options *o, Arena *arena, Diag *diag, int argc, char **argv);

// options_check.c: returns the file of -MD, or NULL without -MD.
const char *depend_path(const Options *o);
// Returns -1, or the exit status after an error, which it reports.
int options_check(const Options *o);
// Records an option by name, for the check of options that exclude each other.
void note_company(Options *o, const char *name);
// True if the page is the only output; otherwise it is written with the output.
bool only_report(const Options *o);
// True if the output is a table: --compare, --summary or --curve.  With a page,
// the curve is in the page.
bool prints_table(const Options *o);
// The words that an option's value can be: returns word i, or NULL after the
// last one.
typedef const char *Words(int i);
// Reports an error of the command line, with the nearest of the words if there
// are any, and returns the exit status.
int usage(const Options *o, const char *what, const char *word, Words *words);
// Returns the index of text in words; -1, with an error, if absent.
int choose(const Options *o, const char *flag, const char *text, Words *words);
// gpu_file.c: --gpu, --gpus, and the file that --gpu names, if any.  Return -1,
// or the exit status after an error, which they report.
int set_gpu(Options *o, const char *value);
Words gpu_word;
int list_gpus(const Options *o);
int read_gpu_file(Options *o);
// Returns the numbers of a GPU in the format of its file.
const char *gpu_text(Arena *arena, const Gpu *gpu);
// tune.c: --tune, and the error of options that exclude it, or NULL.
int set_tune(Options *o, const char *value);
const char *tune_fault(const Options *o);
// weights_file.c: reads the tensors of --weights for a graph.  NULL without the
// option, and after an error.
const TensorFile *read_weights(const Options *o, const Graph *g);
// plan_instance.c: --plan, its options, and their checks.
int set_plan(Options *o, const char *value);
int set_capacity(Options *o, const char *value);
int set_time_limit(Options *o, const char *value);
int check_plan(const Options *o);

// Reads an integer from 1 to 2^24; returns -1, or the exit status.
int set_count(const Options *o, const char *flag, const char *value,
              int64_t *count);

// memory_options.c: memory sizes and the means to fit.
int set_budget(Options *o, const char *value);
int set_fit(Options *o, const char *value);
int set_prefer(Options *o, const char *value);
int set_inputs(Options *o, const char *value);
int set_checkpoint(Options *o, const char *value);
int set_microbatch(Options *o, const char *value);
int set_precision(Options *o, const char *value);
Words prefer_word, inputs_word, checkpoint_word, microbatch_word;
Words precision_word;
int set_split(Options *o, const char *value);
int set_offload(Options *o, const char *value);

// diagnostics.c: prints the messages that were kept for a format other than
// text.
void print_diagnostics(const Options *o, int status);

// A row of the table of options; the table ends with a NULL name.
typedef struct Flag {
    const char *name;           // --batch
    const char *value;          // its placeholder; NULL: no value
    const char *help;
    // Returns -1, or the exit status.
    int       (*set)(Options *o, const char *value);
    Words      *words;          // of its value; NULL: any text
} Flag;
extern const Flag flags[];

// help.c, reference.c, manual.c, completion.c, grammar.c: print to standard
// output, from the tables.
int show_help(Options *o, const char *value);
int show_manual(Options *o, const char *value);
int show_completion(Options *o, const char *value);
int show_grammar(Options *o, const char *value);
Words shell_word, editor_word;
int show_ops(Options *o, const char *value);
int list_passes(const Options *o);
int show_reference(Options *o, const char *value);

// help.c: the title of the group that an option begins, or NULL.
const char *group_title(const Flag *flag);
// The exit statuses; the table ends with a NULL meaning.
typedef struct ExitMeaning {
    int         status;
    const char *meaning;
} ExitMeaning;
extern const ExitMeaning exit_meanings[];
// help.c: options that have no row in flags, for passes.
extern const Flag pass_flags[];
// Words for -f and -fno-.
Words optional_word;
// Prints the operands that a call of op has.
void print_operands(const Op *op);
// Returns the name of an argument type.
const char *arg_type_words(ArgType type);

#endif
