// What is done with the graph of ir.h, which includes this: building, printing,
// checking, running.
#ifndef CNNC_GRAPH_H
#define CNNC_GRAPH_H

// ---- names ------------------------------------------------------------------

// dtype.c; f32 f64 f16 bf16 i32 u8
extern const char *const dtype_names[DTYPE_COUNT];
extern const char *const kind_names[KIND_COUNT];
extern const char *const phase_names[PHASE_COUNT];
extern const char *const mode_names[MODE_COUNT];
extern const char *const fact_names[FACT_COUNT];     // of 1 << i
extern const char *const init_names[INIT_COUNT];
int dtype_bytes(DType dtype);
// Whether values of this kind live from training step to training step.
bool is_persistent(Kind kind);
// Whether a training step of g sums gradients over batches before its update.
bool is_accumulating(const Graph *g);
// Whether the loss is scaled in training, so that an update waits for all
// gradients.
bool is_scaled(const Graph *g);
// Whether inference needs values of this kind: parameters and statistics.
bool is_weight(Kind kind);
// Parameters are what training changes by gradients; running statistics are
// counted apart.
typedef struct WeightCount {
    int64_t parameters, statistics;     // numbers
    int     parameter_tensors, statistic_tensors;
} WeightCount;
WeightCount count_weights(const Graph *g);
// "639 in 18 tensors; 32 running statistics in 8 tensors", in arena.
const char *weights_text(Arena *arena, const WeightCount *count);

// ---- graph.c: building and changing -----------------------------------------

Graph *graph_new(Arena *arena, Diag *diag, const char *name, Mode mode,
                 int64_t batch, DType real);

// A new value; the rest of its fields are for the caller to set.  name is made
// unique by _2, _3, ... where it is taken.
ValueId graph_value(Graph *g, const char *name, Kind kind, DType dtype,
                    Shape shape, Pos pos);
// A new value that holds what v holds, or a part of that: as wide, of as many
// classes.
ValueId graph_value_like(Graph *g, ValueId v, const char *name, Kind kind,
                         Shape shape, Pos pos);

// A new last node: a kernel of op, in phase; operands and results are copied
// and each result's def is set.
NodeId graph_node(Graph *g, const Op *op, int kernel, Phase phase,
                  const char *name, Pos pos, int operand_count,
                  const ValueId *operands, int result_count,
                  const ValueId *results);

// A copy that may be changed without g: the arrays and names are its own, what
// they point to is not.  What it makes lies in arena.
Graph *graph_copy(const Graph *g, Arena *arena);

// Makes every reader of a read b.  Outputs move along: b takes a's mark.
void graph_replace(Graph *g, ValueId a, ValueId b);

// Where a is marked, or keep_f32, so is b from now on; but not what no node
// makes, which is there anyway.
void graph_mark_too(Graph *g, ValueId a, ValueId b);

// Drops deleted nodes, and values that nothing names; both are renumbered, in
// order.  Persistent values and outputs stay.
void graph_compact(Graph *g);
// The i-th node becomes what order[i] was; each stands in order[node_count]
// once.
void graph_reorder(Graph *g, const NodeId *order);

// The nodes that read each value: those of v are
// list[start[v]] .. list[start[v + 1] - 1], ascending, each once.
typedef struct Uses {
    int32_t *start;
    NodeId  *list;
} Uses;
Uses graph_uses(const Graph *g);

// The one node that reads v, through however many slots.  NONE: nobody does,
// or several do, or v is an output, which is read when all nodes have run.
NodeId only_reader(const Graph *g, const Uses *uses, ValueId v);

// ---- fused_reads.c: what is launched, what it reads -------------------------

// Whether n is a launch: neither a view, nor a copy in place, nor computed on
// load.
bool is_launch(const Node *n);
// Whether v has bytes: it is not computed where it is read.
bool is_stored(const Graph *g, ValueId v);
// The values with bytes that n reads, each once, in order of its operands; in
// the place of one that is computed on load, those that it is computed from.
// Returns how many; a fused_load node itself reads none.
enum { MAX_READS = 512 };
int node_reads(const Graph *g, const Node *n, ValueId reads[MAX_READS]);
// Of these, the ones that it computes an operand from: not element by element.
int node_loads(const Graph *g, const Node *n, ValueId loads[MAX_READS]);
// Whether result r of n may be written over v, element by element, as far as
// that node can tell: in each way that n reads v, itself or through fused_load
// nodes, the element that is written is the one that is read.
bool may_lie_over(const Graph *g, const Node *n, int r, ValueId v);
// How many fused_load nodes compute an operand that fused_load node n makes,
// itself among them, or most + 1 if there are more: a chain of them, or a tree.
enum { MOST_ON_LOAD = 16 };     // that a launch may compute an operand by
int nodes_on_load(const Graph *g, const Node *n, int most);

// ---- shapes -----------------------------------------------------------------

Shape   shape_of(int rank, ...);        // dimensions as int64_t
bool    same_shape(Shape a, Shape b);
// Whether all dimensions are positive and the bytes do not pass 2^62.
bool    is_addressable(Shape shape, DType dtype);
// Whether all values together take so few bytes (2^52) that no sum of sizes
// overflows, whatever passes add.
bool    fits_together(const Graph *g);
// Elements of a shape; bytes of a value.  Shapes whose product passes 2^62 are
// refused when the value is made, so these never overflow.
int64_t elements(Shape shape);
int64_t value_bytes(const Value *value);
// "[64, 28, 28, 32]", in the graph's arena.
const char *shape_text(Graph *g, Shape shape);

enum { ALIGNMENT = 256 };       // of every buffer, in bytes

// Bytes rounded up to the alignment of buffers.
static inline int64_t padded(int64_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

// ---- verify.c ---------------------------------------------------------------

// Checks the graph and all that its facts promise; bug() on the first fault,
// naming the pass that has just run.
void verify(const Graph *g, const char *after);
// The same of a graph that was read: false, after an error at the line of what
// is wrong, where it has a fault.
bool is_sound(const Graph *g);

// ---- print.c and read.c: the text of a graph --------------------------------

void   graph_print(const Graph *g, FILE *out);
// Prints the settings of training that decide its results, without a new line:
// "adam lr=0.001 beta1=0.9, schedule cosine steps=1000, clip_norm=1".  Nothing
// where there is no optimizer.
void   graph_print_training(const Graph *g, FILE *out);
// Reads what graph_print wrote, from source number `file` of diag.  NULL after
// errors, which are reported like any other.
Graph *graph_read(Arena *arena, Diag *diag, int32_t file);

// ---- interpret.c: the reference ---------------------------------------------

// One array of doubles per value, indexed by ValueId and holding it in
// row-major order.  Runs every node once, in order, by its scalar reference.
// samples is how many of the batch are real; the rest have no loss.
typedef struct Tensors {
    double **data;
    // Called with `with` when node n has run, and may change what it has made;
    // NULL: nobody.
    void   (*after)(void *with, const Node *n);
    void    *with;
} Tensors;
Tensors tensors_new(const Graph *g);
void    interpret(const Graph *g, Tensors *t, int64_t samples);

// The most losses and metrics of a net; a figure is one or the other.
enum { MAX_LOSSES = 16, MAX_METRICS = 7,
       MAX_FIGURES = MAX_LOSSES + MAX_METRICS };

// The header as the interpreter holds it: a double a slot.
enum HeaderSlot {
    HEADER_SEED,                // of the random numbers
    HEADER_STEP,                // training steps taken, skipped ones too
    HEADER_UPDATES,             // of which changed the parameters
    HEADER_RATE,                // learning rate
    HEADER_BASE_RATE,           // that rate as the caller set it, which the
                                // schedule's factor is of
    HEADER_GRADIENT_SCALE,      // of this step's gradients; with clip_norm or
                                // loss_scale
    HEADER_SKIP,                // 1: the loss of this step was not finite, or
                                // a gradient of a scaled loss
    HEADER_LOSS_SCALE,          // one that moves; 0: it is the first
    HEADER_GOOD,                // steps since it moved
    HEADER_SAMPLES,             // since the last reset, like the sums
    HEADER_SUM_0,               // of each loss, then of each metric, its sum
                                // and the weight of that sum
    // Of the batches since the last update, where gradients are summed:
    HEADER_ACCUMULATED = HEADER_SUM_0 + 2 * MAX_FIGURES,  // samples, without
                                // those of the current batch
    HEADER_ACCUMULATED_SKIP,    // 1: the loss of one was not finite
    HEADER_ACCUMULATED_BATCHES,
    HEADER_ACCUMULATED_SUM_0,   // as HEADER_SUM_0
    HEADER_SLOTS = HEADER_ACCUMULATED_SUM_0 + 2 * MAX_FIGURES
};

// Returns the bytes of a header with room for the sums of so many losses and
// metrics, padded to 256; and how many a graph's header has room for.
int64_t header_bytes(int figures);
int     header_figures(const Graph *g);

#endif
