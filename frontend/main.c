// The compiler on one screen: a program in, and for each mode that the output
// needs a graph, through the passes, to a plan; then text out.
#define _POSIX_C_SOURCE 200809L

#include <string.h>
#include <unistd.h>
#include "../codegen/codegen.h"
#include "input.h"
#include "output.h"
#include "pipeline.h"

// The graph of one mode, placed; NULL after errors.
static Graph *compile(const Input *in, const Options *o, Mode mode, Plan **plan)
{
    FrontendOptions frontend = o->frontend;
    frontend.mode = mode;
    Graph *g = input_graph(in, &frontend);
    if (g != NULL) *plan = run_pipeline(g, &o->passes);
    return in->diag->error_count == 0 ? g : NULL;
}

static bool print_program(const Input *in, const Options *o, FILE *out)
{
    Plan *plan = NULL;
    const Graph *g = compile(in, o, o->frontend.mode, &plan);
    if (g == NULL) return false;
    if (o->emit == EMIT_IR) graph_print(g, out);
    else if (o->emit == EMIT_PLAN) plan_print_json(plan, out);
    else plan_print_csv(plan, out);
    return true;
}

// A file that trains holds the programs train and eval, and knows what
// inference needs; the text of a graph is one program, and must be infer.
static bool make_programs(const Input *in, const Options *o, EmitInput *emit)
{
    Plan *plan[MODE_COUNT] = { NULL };
    bool trains = o->frontend.mode == TRAIN && in->ast != NULL;

    if (trains) emit->train = compile(in, o, TRAIN, &plan[TRAIN]);
    if (trains && emit->train != NULL)
        emit->eval = compile(in, o, EVAL, &plan[EVAL]);
    if (in->diag->error_count == 0)
        emit->infer = compile(in, o, INFER, &plan[INFER]);
    emit->train_plan = plan[TRAIN];
    emit->eval_plan = plan[EVAL];
    emit->infer_plan = plan[INFER];
    if (emit->infer == NULL || emit->infer->mode == INFER)
        return emit->infer != NULL;
    error(in->diag, (Pos){ .file = in->source }, "of graphs as text, only "
          "those of mode infer are a whole file");
    return false;
}

static int write_header(const EmitInput *emit, const Options *o)
{
    Output header;
    if (o->header == NULL) return EXIT_DONE;
    if (!output_open(&header, o->arena, o->header)) return EXIT_FILE;
    emit_header(emit, header.stream);
    return output_close(&header) ? EXIT_DONE : EXIT_FILE;
}

static int write_dependencies(const Input *in, const Options *o)
{
    Output depend;
    const char *target = o->output != NULL ? o->output : in->path;
    const char *path = o->depend_file != NULL
        ? o->depend_file : arena_print(o->arena, "%s.d", target);
    if (!o->depend) return EXIT_DONE;
    if (!output_open(&depend, o->arena, path)) return EXIT_FILE;
    print_dependencies(in->diag, target, depend.stream);
    return output_close(&depend) ? EXIT_DONE : EXIT_FILE;
}

// Nothing is opened before all is known to be right.
static int run(const Input *in, const Options *o)
{
    EmitInput emit = { .command_line = o->command_line,
                       .with_main = o->with_main };
    Output out;
    ...
}
