// Writes the output of a program: a graph for each mode that it needs, through
// the passes to a plan, then text and files.
#include <string.h>
#include "../../codegen/codegen.h"
#include "../../ir/base/sizes.h"
#include "batch_search.h"
#include "run_pipeline.h"

// NULL for NULL.
static const char *name_without_folders(const char *path)
{
    const char *slash = path != NULL ? strrchr(path, '/') : NULL;
    return slash != NULL ? slash + 1 : path;
}

// Returns the largest arena of an evaluation or inference program within the
// budget.
static int64_t largest_beside(const Input *in, const Options *o)
{
    BatchSearch *s = NEW(in->arena, BatchSearch);
    FrontendOptions frontend = o->frontend;
    int64_t most = 0;
    begin_batches(s, in, o);
    s->passes.enabled[PASS_batch_split] = o->passes.enabled[PASS_batch_split];
    for (frontend.mode = EVAL; frontend.mode <= INFER; frontend.mode++) {
        PlanSize size;
        s->quiet.error_count = 0;
        if (measure_plan(&s->in, &frontend, &s->passes, &size))
            most = larger(most, size.arena_bytes);
    }
    return most;
}

// Compiles the graph of one mode; NULL after errors.  A program that does not
// fit is freed before its levers are searched.
static Graph *compile(const Input *in, const Options *o, Mode mode, Plan **plan)
{
    Arena *arena = arena_new();
    Input apart = input_apart(in, arena);
    FrontendOptions frontend = o->frontend;
    PassOptions passes_on = o->passes;
    frontend.mode = mode;
    if (mode == TRAIN && in->ast != NULL && o->passes.budget > 0)
        passes_on.beside = largest_beside(in, o);
    Graph *g = input_graph(&apart, &frontend);
    if (g != NULL) *plan = run_pipeline(g, &passes_on);
    if (g != NULL && in->ast != NULL) check_trained(g, in->ast->net->pos);
    if (g != NULL && *plan != NULL) note_slices(g, &frontend);
    if (in->diag->error_count == 0) {
        arena_adopt(in->arena, arena);
        return g;
    }
    arena_free(arena);
    *plan = NULL;
    return NULL;
}

static bool print_program(const Input *in, const Options *o, FILE *out)
{
    Plan *plan = NULL;
    if (o->emit == EMIT_NAMES) return print_names(in, o, out);
    if (o->emit == EMIT_GRAPH) return print_graph_json(in, o, out);
    const Graph *g = compile(in, o, o->frontend.mode, &plan);
    if (g == NULL) return false;
    if (o->emit == EMIT_IR) graph_print(g, out);
    else if (o->emit == EMIT_PLAN) plan_print_json(plan, out);
    else if (o->emit == EMIT_PLAN_CSV) plan_print_csv(plan, out);
    else plan_print_trace(in->arena, plan, out);
    return true;
}

// A training file holds train and eval, and the needs of inference.  The text
// of a graph is one program, of mode infer.
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
    error(in->diag, emit->infer->places->net, "of graphs as text, only "
          "those of mode infer are a whole file");
    return false;
}

// Reads the weights for the emitted file.  False after an error.
static bool take_weights(const Input *in, const Options *o, EmitInput *emit)
{
    const Graph *g = emit->train != NULL ? emit->train : emit->infer;
    emit->weights = read_weights(o, g);
    emit->weights_name = name_without_folders(o->weights);
    return in->diag->error_count == 0;
}

static bool print_tables(const Input *in, const Options *o, FILE *out)
{
    Sheet *sheets[3];
    int count = 0;
    if (o->summary) return summarize(in, o, out);
    const Graph *g = input_graph(in, &o->frontend);
    if (g == NULL) return false;
    sheets[count++] = program_sheet(in, o, g);
    sheets[0]->use |= NOT_IN_CSV | NOT_IN_TEXT;
    if (o->compare && (sheets[count++] = compare(in, o)) == NULL) return false;
    if (o->curve && (sheets[count++] = list_curve(in, o)) == NULL) return false;
    sheets_print(sheets, count, o->format, out);
    return true;
}

// Writes all files, which appear together if all succeed.
static int write_files(const Input *in, const Options *o, const EmitInput *emit,
                       const TuneInput *tune)
{
    enum { MAIN, HEADER, REPORT, DEPENDENCIES, FILES };
    Output out[FILES] = { { .stream = NULL } };
    bool ok = true;
    bool has_main = !only_report(o);
    if ((has_main && !output_open(&out[MAIN], o->diag, o->output)) ||
        (o->report != NULL &&
         !output_open(&out[REPORT], o->diag, o->report)) ||
        (o->header != NULL &&
         !output_open(&out[HEADER], o->diag, o->header)) ||
        !open_dependencies(o, &out[DEPENDENCIES]))
        return output_discard(out, FILES), EXIT_FILE;
    if (!has_main) ok = true;
    else if (prints_table(o)) ok = print_tables(in, o, out[MAIN].stream);
    else if (o->tune) emit_tune(tune, out[MAIN].stream);
    else if (o->emit == EMIT_CUDA) emit_cuda(emit, out[MAIN].stream);
    else ok = print_program(in, o, out[MAIN].stream);
    if (o->report != NULL) ok = ok && report_plan(in, o, out[REPORT].stream);
    if (!ok || in->diag->error_count > 0)
        return output_discard(out, FILES), EXIT_INPUT;
    if (o->header != NULL) emit_header(emit, out[HEADER].stream);
    print_dependencies(o, in, out[DEPENDENCIES].stream);
    return output_close(out, FILES) ? EXIT_DONE : EXIT_FILE;
}

int write_output(const Input *in, const Options *o)
{
    EmitInput emit = { .command_line = o->command_line,
                       .with_main = o->with_main,
                       .with_trace = o->with_trace,
                       .prefix = o->prefix };
    emit.header_name = name_without_folders(o->header);
    TuneInput tune = { .gpu = NULL };
    if (o->tune && !make_tuning(in, o, &tune)) return EXIT_INPUT;
    if (!o->tune && o->emit == EMIT_CUDA && !prints_table(o) &&
        !only_report(o) && !make_programs(in, o, &emit))
        return EXIT_INPUT;
    if (emit.infer != NULL && !take_weights(in, o, &emit)) return EXIT_INPUT;
    return write_files(in, o, &emit, &tune);
}
