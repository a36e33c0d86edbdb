// Runs one graph through all passes to a verified plan.
#ifndef CNNC_RUN_PIPELINE_H
#define CNNC_RUN_PIPELINE_H

#include "../../codegen/codegen.h"
#include "../../codegen/page/page.h"
#include "../../ir/gpu/overhead.h"
#include "input.h"
#include "options.h"
#include "output.h"
#include "sheet.h"

// Returns the plan.  NULL if --stop-after ended it earlier, or after an error:
// the budget is exceeded.  A plan that the checker refuses is a bug().
Plan *run_pipeline(Graph *g, const PassOptions *o);
// Returns the options without dumps and times.
PassOptions without_dumps(const PassOptions *o);

// The size and cost of a plan.
typedef struct PlanSize {
    Mode      mode;
    int64_t   arena_bytes, state_bytes, bound;
    int64_t   batch;            // samples of a step
    PhaseCost cost;             // graph_cost
    int32_t   recomputed;       // recomputed launches
    int64_t   split_samples;    // of each slice; 0: not sliced
    int64_t   split_pixels;     // as in Graph
    bool      is_sliced;        // a program in the arena has slices
    bool      is_offloaded;        // maps are offloaded to host memory
} PlanSize;
// Returns the size of a placed graph.
PlanSize plan_size(const Graph *g);
// Measures the plan of a new graph, which is not kept.  False after errors,
// except one: if nothing fits in the budget, *size is the smallest found.
bool measure_plan(const Input *in, const FrontendOptions *frontend,
                  const PassOptions *o, PlanSize *size);

// write.c: writes all requested files, which appear together if everything
// succeeds.  Returns the exit status.
int write_output(const Input *in, const Options *o);

// compare.c: a table of arena sizes, where each row adds an optional pass, then
// a memory option of the command line.  NULL after errors.
Sheet *compare(const Input *in, const Options *o);
// Sets its rows, at most COMPARE_ROWS; the last is `last`, the plan with all of
// o.  Returns their number, or 0 after errors.
enum { COMPARE_ROWS = PASS_COUNT + 6 };
int compare_rows(const Input *in, const Options *o, const PlanSize *last,
                 PassRow *rows);
// Adds to sum a program that shares the file's arena.
void add_size(PlanSize *sum, const PlanSize *size);

// names.c: --emit names: prints the weights as JSON.  False after errors.
bool print_names(const Input *in, const Options *o, FILE *out);
// graph_json.c: --emit graph: prints the net before any pass as JSON.  False
// after errors.
bool print_graph_json(const Input *in, const Options *o, FILE *out);

// curve.c: training steps from the one without recomputation to the one with
// the smallest arena, as points or a table.  False or NULL after errors.
bool find_curve(const Input *in, const Options *o, ArenaCosts *curve);
Sheet *list_curve(const Input *in, const Options *o);

// report.c: writes the plan as a page.  False after errors.
bool report_plan(const Input *in, const Options *o, FILE *out);
// counts_file.c: reads the counts of the page's launches.  False after errors.
bool read_counts(const char *path, Diag *diag, PageInput *page);

// over_budget.c: notes for the error that a placed graph exceeds its budget:
// the values alive at its fullest step.
void explain_peak(Graph *g);
// Notes each lever's smallest arena, and the largest batches that fit.
void explain_levers(const Input *in, const Options *o);
// fit.c: --fit: sets the batch to the largest whose arena fits, and the budget.
// Returns -1, or the exit status after an error, which it reports.
int choose_batch(const Input *in, Options *o);

// microbatch.c: --microbatch auto: sets the slice size with the cheapest
// training step within the budget.  Returns -1.
int choose_slices(const Input *in, Options *o);

// tune.c: makes the input for the program of --tune.  False after errors.
bool make_tuning(const Input *in, const Options *o, TuneInput *tune);

// summary.c: prints layers and their costs as tables.  False after errors.
bool summarize(const Input *in, const Options *o, FILE *out);
// Returns the program, its mode and its options as a document's first record.
Sheet *program_sheet(const Input *in, const Options *o, const Graph *g);

// dependencies.c: -MD; they do nothing without it.  False if the file can't be
// written.
bool open_dependencies(const Options *o, Output *out);
void print_dependencies(const Options *o, const Input *in, FILE *out);

#endif
