// One graph through all passes, to a plan that has been checked.
#ifndef CNNC_RUN_PIPELINE_H
#define CNNC_RUN_PIPELINE_H

#include "../../codegen/codegen.h"
#include "../../codegen/page/page.h"
#include "../../ir/gpu/overhead.h"
#include "input.h"
#include "options.h"
#include "output.h"
#include "sheet.h"

// The plan; NULL where --stop-after ended it before, or after an error: it is
// over the budget.  A plan that the checker refuses is a bug().
Plan *run_pipeline(Graph *g, const PassOptions *o);
// The same without what else it writes: dumps and times.
PassOptions without_dumps(const PassOptions *o);

// What a plan comes to.
typedef struct PlanSize {
    Mode      mode;
    int64_t   arena_bytes, state_bytes, bound;
    int64_t   batch;            // samples of a step, in whatever slices
    PhaseCost cost;             // graph_cost
    int32_t   again;            // launches that run again
    int64_t   split_samples;    // of each slice of the batch; 0: it is whole
    int64_t   split_pixels;     // as in Graph
    bool      is_sliced;        // so are launches of a program in the arena
    bool      is_offloaded;     // maps wait in host memory
} PlanSize;
// That of a placed graph.
PlanSize plan_size(const Graph *g);
// That of a fresh graph, of which nothing is kept.  False after errors, but
// one: where nothing fits in the budget it is the smallest that was found.
bool measure_plan(const Input *in, const FrontendOptions *frontend,
                  const PassOptions *o, PlanSize *size);

// write.c: all that the options ask for, into files that appear together, when
// all of it is right.  The status to exit with.
int write_output(const Input *in, const Options *o);

// compare.c: a table of arena sizes, each optional pass added in turn and then
// each lever of the command line.  NULL after errors.
Sheet *compare(const Input *in, const Options *o);
// Its rows, at most COMPARE_ROWS; the last is that of `last`, the plan with all
// of o.  Returns their number, or 0 after errors.
enum { COMPARE_ROWS = PASS_COUNT + 5 };
int compare_rows(const Input *in, const Options *o, const PlanSize *last,
                 PassRow *rows);
// Adds a program that shares the arena of the file with those in sum.
void add_size(PlanSize *sum, const PlanSize *size);

// curve.c: training steps from the one that computes nothing again to the one
// with the smallest arena; as a table.  False or NULL after errors.
bool find_curve(const Input *in, const Options *o, ArenaCosts *curve);
Sheet *list_curve(const Input *in, const Options *o);

// report.c: the plan as a page.  False after errors.
bool report_plan(const Input *in, const Options *o, FILE *out);

// over_budget.c: notes to the error that a placed graph is over its budget:
// what is alive at its fullest step.
void explain_peak(Graph *g);
// And what each lever makes of it: the smallest arenas, and the largest batches
// that fit.
void explain_levers(const Input *in, const Options *o);
// fit.c: --fit: sets the batch, the largest whose arena fits, and the budget.
// -1, or the status to exit with after what it reported.
int choose_batch(const Input *in, Options *o);

// microbatch.c: --microbatch auto: sets the slices that the batch comes in, so
// that a training step within the budget costs least.  -1.
int choose_slices(const Input *in, Options *o);

// tune.c: what the program of --tune is made from.  False after errors.
bool make_tuning(const Input *in, const Options *o, TuneInput *tune);

// summary.c: the layers and what they cost, as tables.  False after errors.
bool summarize(const Input *in, const Options *o, FILE *out);
// The program, its mode and its options as a record that starts a document.
Sheet *program_sheet(const Input *in, const Options *o, const Graph *g);

// dependencies.c: -MD; without it they do nothing.  False if the file can't be
// written.
bool open_dependencies(const Options *o, Output *out);
void print_dependencies(const Options *o, const Input *in, FILE *out);

#endif
