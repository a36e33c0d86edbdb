// Checks of the command line that need no input.
#include <string.h>
#include "options.h"
#include "output.h"

bool only_report(const Options *o)
{
    return o->report != NULL && o->output == NULL && o->header == NULL &&
           !o->emit_given && !o->with_main && !o->compare && !o->summary;
}

bool prints_table(const Options *o)
{
    return o->compare || o->summary || (o->curve && o->report == NULL);
}

static bool is_among(const char *name, const char *const *names)
{
    while (*names != NULL && strcmp(*names, name) != 0) names++;
    return *names != NULL;
}

void note_company(Options *o, const char *name)
{
    static const char *const of_plan[] = { "--plan", "-o", "--capacity",
                                           "--time-limit", "--diagnostics",
                                           NULL };
    static const char *const of_program[] = { "--batch", "-D", "--freeze",
                                              "--microbatch", "--ghost",
                                              "--precision", "--inputs", NULL };
    if (!is_among(name, of_plan)) o->beside_plan = name;
    if (is_among(name, of_program)) o->of_program = name;
}

const char *depend_path(const Options *o)
{
    if (!o->depend || o->depend_file != NULL || o->output == NULL ||
        strcmp(o->output, "-") == 0)
        return o->depend_file;
    return arena_print(o->arena, "%s.d", o->output);
}

// Returns a file that is written twice, or both read and written; NULL if none.
static const char *clash(const Options *o)
{
    enum { READ = 4, FILES = 8 };
    const char *file[FILES] = { o->input, o->gpu_file, o->counts, o->weights,
                                o->output, o->header, o->report,
                                depend_path(o) };
    for (int i = READ; i < FILES; i++)
        for (int j = 0; j < i && file[i] != NULL; j++)
            if (file[j] != NULL && same_file(file[i], file[j])) return file[i];
    return NULL;
}

// True, with an error, if an option that takes a file took the program: there
// is no input, and the option's value ends in .cnn.
static bool taken_program(const Options *o)
{
    const struct { const char *option, *file, *example; } takes[] = {
        { "--report", o->report, "--report page.html" },
        { "--counts", o->counts, "--counts counts.txt" },
        { "--weights", o->weights, "--weights best.safetensors" },
        { "-o", o->output, "-o net.cu" },
        { "--header", o->header, "--header net.h" },
        { "-MF", o->depend_file, "-MF net.d" },
        { "--gpu", o->gpu_file, "--gpu h200" },
        { "--dump-dir", o->passes.dump_dir, "--dump-dir dumps" },
    };
    for (size_t i = 0; i < sizeof takes / sizeof *takes; i++) {
        const char *dot = takes[i].file ? strrchr(takes[i].file, '.') : NULL;
        if (dot == NULL || strcmp(dot, ".cnn") != 0) continue;
        command_message(o->diag, MESSAGE_ERROR, "no input; %s takes a file, "
                        "and took '%s' for it: cnnc %s %s", takes[i].option,
                        takes[i].file, takes[i].example, takes[i].file);
        return true;
    }
    return false;
}

// Warns of training options in a file for inference.  It is no error, since a
// build may pass the same options to both of its files.
static void warn_of_useless(const Options *o)
{
    const struct { bool given; const char *option; } of_training[] = {
        { o->frontend.ghost, "--ghost" },
        { o->frontend.keep_gradients, "-fkeep-gradients" },
        { o->passes.offload, "--offload" },
        { o->passes.checkpoint.kind != CHECKPOINT_AUTO, "--checkpoint" },
    };
    if (o->frontend.mode != INFER) return;
    for (size_t i = 0; i < sizeof of_training / sizeof *of_training; i++)
        if (of_training[i].given)
            command_message(o->diag, MESSAGE_WARNING, "%s is for training "
                            "steps, and has no effect with --mode infer",
                            of_training[i].option);
}

int options_check(const Options *o)
{
    const char *input = o->input;

    if (input == NULL && taken_program(o)) return EXIT_USAGE;
    if (input == NULL) {
        command_message(o->diag, MESSAGE_ERROR, "no input; cnnc [options] "
                        "FILE.cnn, and --help lists the options");
        return EXIT_USAGE;
    }
    bool is_table = prints_table(o);
    bool is_file = !is_table && !only_report(o);
    bool stops = o->passes.stop_after != NULL, is_cuda = o->emit == EMIT_CUDA;
    const struct { bool wrong; const char *what; } rules[] = {
        { o->compare && o->summary, "--compare or --summary, not both:" },
        { o->curve && o->summary, "--curve or --summary, not both:" },
        { o->format_given && !is_table, "--format is for the tables --compare, "
          "--curve, --summary, --gpus and --passes:" },
        { o->curve && o->frontend.mode != TRAIN, "--curve is for training:" },
        { is_table && (o->emit_given || stops), "--compare, --curve and --"
          "summary are tables, and go with neither --emit nor --stop-after:" },
        { o->report != NULL && strcmp(o->report, "-") == 0 && !only_report(o) &&
          o->output == NULL, "the page and the output are both for standard "
          "output:" },
        { o->report != NULL && stops, "--report needs a whole plan, and does "
          "not go with --stop-after:" },
        { o->counts != NULL && o->report == NULL, "--counts is for the page "
          "of --report:" },
        { stops && o->emit != EMIT_IR, "--stop-after goes with --emit ir:" },
        { is_cuda && o->frontend.mode == EVAL && is_file, "--mode eval is a "
          "part of train and has no file of its own:" },
        { (o->header != NULL || o->with_main || o->prefix != NULL ||
           o->weights != NULL) && !(is_cuda && is_file),
          "--header, --main, --prefix and --weights go with --emit cuda:" },
        { o->with_trace && !(o->with_main && o->frontend.mode == TRAIN),
          "--trace is for the trainer of --main:" },
        { o->header != NULL && strcmp(o->header, "-") == 0,
          "--header is a file, which the output includes:" },
        { o->header != NULL && strpbrk(o->header, "\"\\\n") != NULL,
          "--header can't be included by a name with a quote, a backslash or a "
          "new line:" },
        { o->frontend.map == I8 && o->frontend.mode != INFER, "--precision "
          "int8 is for --mode infer; training has f32 or 16 bits:" },
        { o->frontend.calibrates && o->frontend.map != I8, "--calibrate is "
          "for --precision int8:" },
        { o->fit > 0 && o->frontend.batch > 0, "--fit finds the batch, and "
          "does not go with --batch:" },
        { o->fit > 0 && o->passes.budget > 0, "--fit or --budget, not both:" },
        { o->passes.offload && o->passes.budget == 0 && o->fit == 0,
          "--offload goes with --budget or --fit:" },
        { o->passes.offload && o->passes.checkpoint.kind == CHECKPOINT_MARKED,
          "--checkpoint marked uses the marks only, and excludes "
          "--offload:" },
        { o->auto_slices && o->fit == 0 && o->passes.budget == 0,
          "--microbatch auto needs a budget (--budget, --fit):" },
        { (o->frontend.microbatch > 0 || o->auto_slices) &&
          o->frontend.mode == INFER,
          "--microbatch is for training, and excludes --mode infer:" },
        { o->diagnostics != DIAGNOSTICS_TEXT && (o->passes.time ||
          (o->passes.dump != NULL && o->passes.dump_dir == NULL)),
          "--time, and --dump without --dump-dir, print text, and go with "
          "--diagnostics text:" },
        { o->frontend.caller_inputs && (o->auto_slices ||
          (o->frontend.microbatch > 0 && o->fit > 0)), "--inputs caller wants "
          "slices and batches of known sizes, and goes with neither "
          "--microbatch auto nor --microbatch and --fit:" },
        { o->depend_file != NULL && !o->depend, "-MF goes with -MD:" },
        { o->depend && o->depend_file == NULL && (o->output == NULL ||
          strcmp(o->output, "-") == 0), "-MD needs -MF or -o:" },
    };
    if (clash(o) != NULL)
        return usage(o, "two of the files are", clash(o), NULL);
    if (o->plan || o->capacity || o->time_limit > 0) return check_plan(o);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].wrong) return usage(o, rules[i].what, input, NULL);
    if (tune_fault(o) != NULL) return usage(o, tune_fault(o), input, NULL);
    warn_of_useless(o);
    return -1;
}
