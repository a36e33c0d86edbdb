// The main program: reads options and the input, and writes the output.
#define _POSIX_C_SOURCE 200809L

#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include "../../ir/base/search_cache.h"
#include "input.h"
#include "instance.h"
#include "run_pipeline.h"

// Returns an output that is also an included file, or NULL.
static const char *overwritten(const Input *in, const Options *o)
{
    const char *const written[] = { o->output, o->header, o->report,
                                    depend_path(o) };
    for (size_t i = 0; i < sizeof written / sizeof *written; i++)
        for (int32_t k = 0; k < in->diag->source_count && written[i]; k++)
            if (same_file(written[i], in->diag->sources[k].name))
                return written[i];
    return NULL;
}

// Writes nothing until the whole compilation has succeeded.
static int run(const Input *in, const Options *o)
{
    const char *lost = overwritten(in, o);
    if (lost != NULL)
        return usage(o, "it is included, and would be written:", lost, NULL);
    if (in->ast == NULL && in->diag->error_count == 0 && !o->tune &&
        o->of_program != NULL)
        return usage(o, "the input is a graph, which has its batch, constants "
                     "and precision:", o->of_program, NULL);
    return write_output(in, o);
}

// Keeps freed memory in the process.  Measured plans each have their own arena,
// one after the other; returned pages would have to be cleared again for the
// next.
static void keep_freed_memory(void)
{
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 1 << 25);
    mallopt(M_TRIM_THRESHOLD, 1 << 28);
#endif
}

int main(int argc, char **argv)
{
    keep_freed_memory();
    Arena *arena = arena_new();
    Diag diag = { .arena = arena, .stream = stderr, .color = isatty(2) };
    Options o;
    Input in;
    PlanSize refused = { .arena_bytes = 0 };
    int status = options_read(&o, arena, &diag, argc, argv);
    o.passes.refused = &refused;
    o.passes.known = known_new(arena);
    if (status < 0) status = read_gpu_file(&o);
    if (status < 0 && o.plan) status = plan_instance(&o);
    if (status < 0 && !input_open(&in, arena, &diag, o.input))
        status = EXIT_FILE;
    if (status < 0 && diag.error_count > 0) status = EXIT_INPUT;
    if (status < 0 && o.fit > 0) status = choose_batch(&in, &o);
    if (status < 0 && o.auto_slices) status = choose_slices(&in, &o);
    if (status < 0) status = run(&in, &o);
    if (diag.over_budget && !o.plan) explain_levers(&in, &o);
    if (diag.over_budget) status = EXIT_OVER;
    if (diag.file_failed) status = EXIT_FILE;
    // The output of --help and of lists can fail too.
    Output out = { .stream = stdout, .diag = &diag };
    if (status == EXIT_DONE && !output_close(&out, 1)) status = EXIT_FILE;
    print_diagnostics(&o, status);
    arena_free(arena);
    return status;
}
