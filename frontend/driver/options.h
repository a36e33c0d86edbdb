// The command line.
#ifndef CNNC_OPTIONS_H
#define CNNC_OPTIONS_H

#include "../../passes/pass.h"
#include "../compile.h"
#include "sheet.h"

typedef enum Emit { EMIT_CUDA, EMIT_IR, EMIT_PLAN, EMIT_PLAN_CSV } Emit;

enum ExitStatus {
    EXIT_DONE = 0,
    EXIT_INPUT = 1,             // the program is wrong
    EXIT_USAGE = 2,             // the command line is
    EXIT_FILE = 3,              // a file can't be read or written
    EXIT_OVER = 4,              // over the bytes that there are
};

typedef struct Options Options;
struct Options {
    Arena          *arena;
    const char     *input, *output, *header, *report;
    const char     *prefix;         // of the emitted file's symbols, or NULL
    const char     *command_line;   // as typed, without directories
    FrontendOptions frontend;
    PassOptions     passes;
    Emit            emit;
    bool            emit_given;
    Format          format;         // of tables
    bool            format_given;
    int           (*list)(const Options *o);    // --gpus and the like: what is
                                                // printed instead; or NULL
    bool            with_main, compare, summary, curve;
    bool            tune;           // --tune: a program that measures tiles
    bool            depend;         // -MD
    const char     *depend_file;
    const char     *gpu_file;       // of --gpu, or NULL: it was a name
    bool            plan;           // --plan: the input is its file
    const char     *beside_plan;    // an option that goes not with it, or NULL
    const char     *of_program;     // one that a graph as text has no use for
    int64_t         capacity;       // bytes it must fit in; 0: as few as can be
    int64_t         fit;            // --fit: bytes that the batch is for, or 0
    bool            auto_slices;    // --microbatch auto
    double          time_limit;     // seconds; 0: none
};

// Reads the command line.  Returns -1 to go on, or the status to exit with:
// after a mistake, which it reports, or --help and the like.
int options_read(Options *o, Arena *arena, int argc, char **argv);

// options_check.c: the file of -MD; NULL: it is not asked for.
const char *depend_path(const Options *o);
// -1, or the status to exit with after what it reported.
int options_check(const Options *o);
// Of an option that is given, by its name: what it would not go with.
void note_company(Options *o, const char *name);
// Whether the page is all that is asked for; else it comes beside the output.
bool only_report(const Options *o);
// Whether the output is text for people: --compare, --summary or --curve, which
// is in the page where there is one.
bool prints_table(const Options *o);
// Reports a mistake in the command line, with the nearest of count names, and
// returns the status to exit with.
int usage(const char *what, const char *word, const char *const *names,
          int count);
// Which of count words text is; -1, reported, if none.
int choose(const char *flag, const char *text, const char *const *words,
           int count);
// gpu_file.c: --gpu, --gpus, and the file that --gpu names, if any: -1, or the
// status to exit with after what it reported on diag's stream.
int set_gpu(Options *o, const char *value);
int list_gpus(const Options *o);
int read_gpu_file(Options *o, const Diag *diag);
// The numbers of a GPU, as such a file has them.
const char *gpu_text(Arena *arena, const Gpu *gpu);
// tune.c: --tune, and what is wrong with the options beside it, or NULL.
int set_tune(Options *o, const char *value);
const char *tune_fault(const Options *o);
// plan_instance.c: what sets --plan and its options, and their rules.
int set_plan(Options *o, const char *value);
int set_capacity(Options *o, const char *value);
int set_time_limit(Options *o, const char *value);
int check_plan(const Options *o);

// An integer from 1 to 2^24, of that flag; -1, or the status to exit with.
int set_count(const char *flag, const char *value, int64_t *count);

// memory_options.c: how much memory there is.
int set_budget(Options *o, const char *value);
int set_fit(Options *o, const char *value);
int set_checkpoint(Options *o, const char *value);
int set_microbatch(Options *o, const char *value);
int set_precision(Options *o, const char *value);
int set_split(Options *o, const char *value);
int set_offload(Options *o, const char *value);

// A row of the table of options; the table ends with a NULL name.
typedef struct Flag {
    const char *name;           // --batch
    const char *value;          // what it takes, or NULL: nothing
    const char *help;
    // Returns -1, or the status to exit with.
    int       (*set)(Options *o, const char *value);
} Flag;
extern const Flag flags[];

// help.c, reference.c: what options print to standard output, from the tables.
int show_help(Options *o, const char *value);
int show_ops(Options *o, const char *value);
int list_passes(const Options *o);
int show_reference(Options *o, const char *value);

// help.c: options that are no rows of flags.
extern const Flag pass_flags[];
// The operands that a call of op gives.
void print_operands(const Op *op);
// What arguments of this type are called.
const char *arg_type_words(ArgType type);

#endif
