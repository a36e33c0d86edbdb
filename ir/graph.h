// Functions on the graph of ir.h, which includes this: building, printing,
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
// True if values of this kind persist between training steps.
bool is_persistent(Kind kind);
// True if v is an input in the caller's memory (--inputs caller).  It is no
// part of the arena, and no step writes it.  Vectors have at most
// GIVEN_ALIGNMENT bytes: 8 floats or 4 doubles.
enum { GIVEN_ALIGNMENT = 32 };
bool is_given(const Value *v);
// Bytes of a persistent value in the arena, padded; 0 if it has none there.
int64_t state_bytes_of(const Value *v);
// True if a training step of g sums gradients over batches before its update.
bool is_accumulating(const Graph *g);
// True if the loss is scaled in training, so that an update needs all gradients
// first.
bool is_scaled(const Graph *g);
// True if inference needs values of this kind: parameters and statistics.
bool is_weight(Kind kind);
// True for a parameter that training changes.
bool is_trained(const Value *value);
// Numbers of weights.  Training changes parameters by gradients; running
// statistics are counted separately.
typedef struct WeightCount {
    int64_t parameters, statistics;     // numbers
    int     parameter_tensors, statistic_tensors;
} WeightCount;
WeightCount count_weights(const Graph *g);
// Formats "639 in 18 tensors; 32 running statistics in 8 tensors", in arena.
const char *weights_text(Arena *arena, const WeightCount *count);

// ---- graph.c: building and changing -----------------------------------------

Graph *graph_new(Arena *arena, Diag *diag, const char *name, Mode mode,
                 int64_t batch, DType real);

// Returns a value of this kind with the default of each field.
Value plain_value(Kind kind);
// Makes a new value; the caller sets its other fields.  A name that is taken
// gets a suffix _2, _3, ...
ValueId graph_value(Graph *g, const char *name, Kind kind, DType dtype,
                    Shape shape, Pos pos);
// Makes a new value for the contents of v or a part of them, with v's float32
// mark and classes.
ValueId graph_value_like(Graph *g, ValueId v, const char *name, Kind kind,
                         Shape shape, Pos pos);

// Appends a node: part `part` of op, in phase.  Copies operands and results,
// and sets def of each result.
NodeId graph_node(Graph *g, const Op *op, int kernel, Phase phase,
                  const char *name, Pos pos, int operand_count,
                  const ValueId *operands, int result_count,
                  const ValueId *results);

// Makes room for this many nodes and values.
void graph_make_room(Graph *g, int64_t nodes, int64_t values);

// Returns a copy that may change independently of g: its arrays are copied,
// names and other pointers are shared, so g must live as long.  It is stored in
// arena.
Graph *graph_copy(const Graph *g, Arena *arena);

// Returns g, with the same nodes and values, but with a new arena.  That arena
// frees the results of rules that are called on it.
Graph graph_with_new_arena(const Graph *g);

// Replaces operand a by b in all nodes.  If a is an output, b becomes one.
void graph_replace(Graph *g, ValueId a, ValueId b);

// Copies the marks checkpoint and float32 from a to b, unless b is made by no
// node, which is kept anyway.
void graph_mark_too(Graph *g, ValueId a, ValueId b);

// Drops deleted nodes and values without a use, and renumbers both in order.
// Persistent values and outputs stay.
void graph_compact(Graph *g);
// Reorders nodes: the new i-th node is the old order[i].  order[node_count]
// must be a permutation.
void graph_reorder(Graph *g, const NodeId *order);
// Moves the nodes from `first` on to before node `to`, which precedes them.
void graph_move_last(Graph *g, NodeId first, NodeId to);

// The nodes that read each value: those of v are list[start[v]] to
// list[start[v + 1] - 1], ascending, each once.
typedef struct Uses {
    int32_t *start;
    NodeId  *list;
} Uses;
Uses graph_uses(const Graph *g);

// Returns the only node that reads v, through any number of slots.  NONE if
// there are no or several readers, or if v is an output, which is read at the
// end.
NodeId only_reader(const Graph *g, const Uses *uses, ValueId v);

// ---- fused_reads.c: launches and the values they read -----------------------

// True if n is a launch: neither a view, nor a copy in place, nor inlined.
bool is_launch(const Node *n);
// True if v has bytes: it is not computed on load.
bool is_stored(const Graph *g, ValueId v);
// Sets reads to the stored values that n reads, each once, in order of its
// operands; an operand computed on load contributes the values that it is
// computed from.  Returns their number; an inlined node itself reads none.
enum { MAX_READS = 512 };
int node_reads(const Graph *g, const Node *n, ValueId reads[MAX_READS]);
// Sets loads to those that n computes operands from other than elementwise.
int node_loads(const Graph *g, const Node *n, ValueId loads[MAX_READS]);
// True if result r of n may overwrite v element by element, by the node's own
// rules.  On each path by which n reads v, directly or through inlined nodes,
// the element written is then the only one read.
bool may_lie_over(const Graph *g, const Node *n, int r, ValueId v);
// Returns the number of inlined nodes, n included, that compute the result of
// inlined node n, a chain or a tree; most + 1 if there are more.
enum { MOST_ON_LOAD = 16 };     // limit for an operand of a launch
int nodes_on_load(const Graph *g, const Node *n, int most);

// ---- shapes -----------------------------------------------------------------

Shape   shape_of(int rank, ...);        // dimensions as int64_t
bool    same_shape(Shape a, Shape b);
// True if all dimensions are positive and the bytes do not exceed 2^62.
bool    is_addressable(Shape shape, DType dtype);
// True if all values together have at most 2^52 bytes, so that sums of sizes do
// not overflow, whatever passes add.
bool    fits_together(const Graph *g);
// Elements of a shape; bytes of a value.  They never overflow: values past 2^62
// bytes are refused when made.
int64_t elements(Shape shape);
int64_t value_bytes(const Value *value);
// Formats "[64, 28, 28, 32]", in the graph's arena.
const char *shape_text(Graph *g, Shape shape);

enum { ALIGNMENT = 256 };       // of every buffer, in bytes

// Rounds bytes up to the alignment of buffers.
static inline int64_t padded(int64_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

// ---- verify.c ---------------------------------------------------------------

// Verifies the graph and the invariants of its facts.  Calls bug() at the first
// fault, with the name of the pass that ran last.
void verify(const Graph *g, const char *after);
// Verifies a graph that was read: false, after an error at the faulty line, if
// it is not sound.
bool is_sound(const Graph *g);

// ---- print.c and read.c: the text of a graph --------------------------------

void   graph_print(const Graph *g, FILE *out);
// Prints the training settings that decide the results, without a newline:
// "adam lr=0.001 beta1=0.9, schedule cosine steps=1000, clip_norm=1".  Prints
// nothing without an optimizer.
void   graph_print_training(const Graph *g, FILE *out);
// Reads the output of graph_print from source number `file` of diag.  NULL
// after errors, which are reported.
Graph *graph_read(Arena *arena, Diag *diag, int32_t file);

// ---- interpret.c: the reference ---------------------------------------------

// The values as doubles in row-major order, one array for each ValueId.
// Function interpret runs every node once, in order, by its scalar reference.
// `samples` is the number of valid samples of the batch; the others have no
// loss.
typedef struct Tensors {
    double **data;
    // Called with `with` after node n has run; may change its results.  May be
    // NULL.
    void   (*after)(void *with, const Node *n);
    void    *with;
} Tensors;
Tensors tensors_new(const Graph *g);
void    interpret(const Graph *g, Tensors *t, int64_t samples);

// Limits of the losses and metrics of a net.
enum { MAX_LOSSES = 16, MAX_METRICS = 7,
       MAX_FIGURES = MAX_LOSSES + MAX_METRICS };

// The header in the interpreter, one double for each slot.
enum HeaderSlot {
    HEADER_SEED,                // of the random numbers
    HEADER_STEP,                // training steps, with skipped ones
    HEADER_UPDATES,             // those that changed the parameters
    HEADER_RATE,                // learning rate
    HEADER_BASE_RATE,           // learning rate set by the caller, which the
                                // schedule multiplies by its factor
    HEADER_GRADIENT_SCALE,      // factor of this step's gradients, of
                                // clip_norm and loss_scale
    HEADER_SKIP,                // 1: this step's loss, or a gradient of a
                                // scaled loss, was not finite
    HEADER_LOSS_SCALE,          // a dynamic one; 0: the initial one
    HEADER_GOOD,                // steps since it changed
    HEADER_SAMPLES,             // since the last reset, like the sums
    HEADER_SUM_0,               // for each loss, then each metric: the sum and
                                // its weight
    // Of the batches since the last update, where gradients are summed:
    HEADER_ACCUMULATED = HEADER_SUM_0 + 2 * MAX_FIGURES,  // samples, without
                                // those of the current batch
    HEADER_ACCUMULATED_SKIP,        // 1: a batch's loss was not finite
    HEADER_ACCUMULATED_BATCHES,
    HEADER_ACCUMULATED_SUM_0,       // as HEADER_SUM_0
    HEADER_SLOTS = HEADER_ACCUMULATED_SUM_0 + 2 * MAX_FIGURES
};

// header_bytes: the bytes of a header for this number of losses and metrics,
// padded to 256.  header_figures: the number that a graph's header has space
// for.
int64_t header_bytes(int figures);
int     header_figures(const Graph *g);

#endif
