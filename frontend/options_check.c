// What of the command line can be said to be wrong without reading the input.
#include <string.h>
#include "options.h"

bool only_report(const Options *o)
{
    return o->report != NULL && o->output == NULL && o->header == NULL &&
           !o->emit_given && !o->with_main && !o->compare && !o->summary;
}

bool prints_table(const Options *o)
{
    return o->compare || o->summary || (o->curve && o->report == NULL);
}

// A file that is written twice, or over the input: NULL if there is none.
static const char *clash(const Options *o)
{
    const char *file[] = { o->input, o->output, o->header, o->report,
                           o->depend_file };
    for (int i = 1; i < 5; i++)
        for (int j = 0; j < i && file[i] != NULL; j++)
            if (file[j] != NULL && strcmp(file[i], file[j]) == 0 &&
                strncmp(file[i], "/dev/", 5) != 0)
                return file[i];
    return NULL;
}

int options_check(const Options *o)
{
    const char *input = o->input;

    if (input == NULL) {
        fputs("cnnc: no input; cnnc [options] FILE.cnn, and --help lists the "
              "options\n", stderr);
        return EXIT_USAGE;
    }
    bool is_table = prints_table(o);
    bool is_file = !is_table && !only_report(o);
    bool stops = o->passes.stop_after != NULL, is_cuda = o->emit == EMIT_CUDA;
    const struct { bool wrong; const char *what; } rules[] = {
        { strcmp(input, "-") == 0,
          "the input is a file; standard input is /dev/stdin, not" },
        { o->compare && o->summary, "--compare or --summary, not both:" },
        { o->curve && o->summary, "--curve or --summary, not both:" },
        { o->curve && o->frontend.mode != TRAIN, "--curve is of training:" },
        { is_table && (o->emit_given || stops), "--compare, --curve and --"
          "summary are tables, and go with neither --emit nor --stop-after:" },
        { o->report != NULL && strcmp(o->report, "-") == 0 && !only_report(o) &&
          o->output == NULL, "the page and the output are both for standard "
          "output:" },
        { o->report != NULL && stops, "--report is of a whole plan, and does "
          "not go with --stop-after:" },
        { stops && o->emit != EMIT_IR, "--stop-after goes with --emit ir:" },
        { is_cuda && o->frontend.mode == EVAL && is_file, "--mode eval is a "
          "part of train and has no file of its own:" },
        { (o->header != NULL || o->with_main) && !(is_cuda && is_file),
          "--header and --main go with --emit cuda:" },
        { o->fit > 0 && o->frontend.batch > 0, "--fit finds the batch, and "
          "does not go with --batch:" },
        { o->fit > 0 && o->passes.budget > 0, "--fit or --budget, not both:" },
        { o->passes.offload && o->passes.budget == 0 && o->fit == 0,
          "--offload goes with --budget or --fit:" },
        { o->passes.offload && o->passes.checkpoint.kind == CHECKPOINT_MARKED,
          "--checkpoint marked keeps to the marks, and goes not with "
          "--offload:" },
        { o->auto_slices && o->fit == 0 && o->passes.budget == 0,
          "--microbatch auto needs a budget (--budget, --fit):" },
        { (o->frontend.microbatch > 0 || o->auto_slices) &&
          o->frontend.mode == INFER,
          "--microbatch is for training, and goes not with --mode infer:" },
        { o->depend_file != NULL && !o->depend, "-MF goes with -MD:" },
        { o->depend && o->depend_file == NULL && (o->output == NULL ||
          strcmp(o->output, "-") == 0), "-MD wants -MF or -o:" },
    };
    if (clash(o) != NULL)
        return usage("two of the files are", clash(o), NULL, 0);
    if (o->plan || o->capacity || o->time_limit > 0) return check_plan(o);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].wrong) return usage(rules[i].what, input, NULL, 0);
    if (tune_fault(o) != NULL) return usage(tune_fault(o), input, NULL, 0);
    return -1;
}
