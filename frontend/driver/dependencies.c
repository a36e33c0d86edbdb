// Writes a make rule from the output to every file that was read.  Each
// included file is also an empty target, so that a deleted file does not stop
// make.
#include <string.h>
#include "input.h"
#include "run_pipeline.h"

static void print_word(const char *word, FILE *out)
{
    for (const char *c = word; *c != '\0'; c++) {
        if (*c == ' ' || *c == '#') fputc('\\', out);
        if (*c == '$') fputc('$', out);
        fputc(*c, out);
    }
}

static bool is_repeated(const Diag *diag, int32_t i)
{
    for (int32_t j = 0; j < i; j++)
        if (strcmp(diag->sources[j].name, diag->sources[i].name) == 0)
            return true;
    return false;
}

enum { ALSO = 3 };              // files of options

// Prints the rules; each of also is one more dependency, or NULL.
static void print_rules(const Diag *diag, const char *const also[ALSO],
                        const char *target, FILE *out)
{
    print_word(target, out);
    fputc(':', out);
    for (int32_t i = 0; i < diag->source_count; i++) {
        if (is_repeated(diag, i)) continue;
        fputc(' ', out);
        print_word(diag->sources[i].name, out);
    }
    for (int i = 0; i < ALSO; i++)
        if (also[i] != NULL) fputc(' ', out), print_word(also[i], out);
    fputc('\n', out);
    for (int i = 0; i < ALSO; i++)
        if (also[i] != NULL) print_word(also[i], out), fputs(":\n", out);
    for (int32_t i = 1; i < diag->source_count; i++) {
        if (is_repeated(diag, i)) continue;
        print_word(diag->sources[i].name, out);
        fputs(":\n", out);
    }
}

static const char *target_of(const Options *o, const Input *in)
{
    return o->output != NULL ? o->output
         : only_report(o)    ? o->report : in->path;
}

bool open_dependencies(const Options *o, Output *out)
{
    return !o->depend || output_open(out, o->diag, depend_path(o));
}

void print_dependencies(const Options *o, const Input *in, FILE *out)
{
    const char *const also[ALSO] = { o->gpu_file, o->counts,
                                     o->weights };
    if (o->depend) print_rules(in->diag, also, target_of(o, in), out);
}
