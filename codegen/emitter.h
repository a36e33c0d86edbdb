// Shared by the emitter's sections.  Each section has a file, in the order of the emitted file:
// banner.c, memory.c, steps.c, interface.c, program.c.  The files names.c and closure.c serve all
// of them.
#ifndef CNNC_EMITTER_H
#define CNNC_EMITTER_H

#include "../ir/families/prune.h"
#include "../ir/gpu/offload.h"
#include "../ir/gpu/gemm_tile.h"
#include "codegen.h"
#include "writer.h"

// One program of the file: a graph, its plan, and its place in the file.
typedef struct Program {
    const Graph *g;
    const Plan  *plan;
    const char  *space;         // the namespace of its tensors: train, eval, infer
    int          first_step;    // the number of its first step
    const char **name;          // by value: "conv1"
    const char **place;         // by value, qualified: "train::conv1"
    bool        *named;         // by value: the file contains its offset
} Program;

// A training file has two programs; tune.c compares up to MAX_PROGRAMS.
enum { MAX_PROGRAMS = 1 + TENSOR_TILES };

typedef struct Emitter {
    const EmitInput *in;
    Arena      *arena;
    Writer      w;
    const char *net, *upper;    // lenet, LENET
    Program     program[MAX_PROGRAMS];
    int         program_count;
    const Graph *g;             // program 0's: its state is the file's state
    bool       *printed;        // by chunk
    struct Names *chunk_names;  // maps each name to the chunk that defines it
    struct Names *taken;        // by tensors of any program and by shapes
    Launch     *launches;       // by step number
    const Node **nodes;         // by step number: the node that is launched
    const char **shapes;        // names of structs of constants
    int32_t     shape_count, shape_capacity;
    struct Names *shape_texts;  // maps their texts to indexes of shapes
    char       *constants;      // buffer for the text of one launch's constants
    int32_t     constants_capacity;
    const char **sources;       // aliases of types of operands on load
    int32_t     source_count, source_capacity;
    struct Names *source_texts;
    bool        uses_library;   // cuBLAS
    HostUse     host;           // use by the training step; events is 0 if it has no copies
    int         step_count;
} Emitter;

// ---- emit.c --------------------------------------------------------------------

// take_program appends a program to an Emitter whose input and writer are set. prepare_emitter then
// makes the Emitter ready to print.
void take_program(Emitter *e, const Graph *g, const Plan *plan, const char *space);
void prepare_emitter(Emitter *e);

// ---- names.c -------------------------------------------------------------------

// Returns a name with underscores for dots, for use within longer words.
const char *word_of(Emitter *e, const char *name);
// Returns the prefix of a net's symbols: its word.  A trailing underscore is added if the runtime
// or a header has names with that prefix.
const char *net_word(Emitter *e, const char *name);
// Returns the C identifier of a name.  A trailing underscore is added if the word has a meaning in
// C++, in a macro or in the file itself.
const char *identifier(Emitter *e, const char *name);
const char *upper_case(Arena *arena, const char *text);
// Sets the name and place of every value of every program.
void name_places(Emitter *e);
const char *c_type(const Emitter *e, DType dtype);
// Returns a shape as text, "64, 28, 28, 6", with this separator.
const char *dims_text(Emitter *e, Shape shape, const char *separator);

// ---- closure.c -------------------------------------------------------------------

// Prints the chunk that defines name after all chunks that it needs, unless it has been printed.
// Replaces `net_` and `NET_` by the net's name.  bug() if none exists.
void print_chunk(Emitter *e, const char *name);
// Prints the chunk of a word's first length characters; nothing if none exists.
void print_if_chunk(Emitter *e, const char *name, int length);
// Returns the table from each name to the chunk that defines it.
struct Names *chunk_names(Arena *arena);
// Like print_chunk, but replaces the first occurrence of edit->old in each line by edit->put. Edits
// end with a NULL. bug() if no line contains old.
typedef struct ChunkEdit {
    const char *old, *put;
} ChunkEdit;
void print_chunk_edited(Emitter *e, const char *name, const ChunkEdit *edits);
// Marks a chunk as printed, because the included header contains it.
void skip_chunk(Emitter *e, const char *name);
// Prints the system headers that these chunks and all chunks that they need include, as sorted
// #include lines.
void print_includes(Emitter *e, const char *const *names, int count);

// ---- arguments.c -----------------------------------------------------------------

// Both set items to parts of a launch as emitted, and return their number. Function kernel_items
// sets the kernel with its template arguments, after a head such as "STEP(".  Function
// argument_items sets its arguments.
enum { MAX_ITEMS = 1280 };
int kernel_items(Emitter *e, const char *head, const Launch *l, const char **items);
int argument_items(Emitter *e, const Program *p, const Launch *l, const char **items);
// Names long types of operands on load and prints the aliases.
void name_sources(Emitter *e, const Launch *l);
// Prints the chunks that the launch's template arguments name.
void print_types(Emitter *e, const Launch *l);
// Sets named for each value among the launch's arguments.
void mark_arguments(const Launch *l, bool *named);
// steps.c: returns the name of the struct of a launch's constants, NULL if it has none.
const char *shape_name(Emitter *e, const Launch *l);
// Prints these structs and the aliases of long types for the given steps.
void emit_shapes(Emitter *e, const int *steps, int count);
// True if the launch has an argument of this kind.
bool launch_takes(const Launch *l, LaunchArgKind kind);

// ---- caller_inputs.c -------------------------------------------------------------

// Returns the pointer to v, if it is an input in the caller's memory or a view of one; else NULL.
const char *input_text(Emitter *e, const Program *p, ValueId v);

// ---- banner.c --------------------------------------------------------------------

// Returns the text without characters that would end or distort a comment.
const char *in_comment(Emitter *e, const char *text);
// Prints the program's source as comments.
void quote_program(Emitter *e);

// memory.c: true if some tensor that the file names is a slice of at least this many rows.
bool any_slice(const Emitter *e, int64_t rows);

// ---- trained.c -------------------------------------------------------------------

// Print the weights that the file contains with the call that takes them, and its declaration.
// They print nothing without --weights.
void emit_trained(Emitter *e);
void declare_trained(Emitter *e);

// ---- offload.c -------------------------------------------------------------------

// For files whose training step copies maps to host memory: print the sizes and types that their
// header has in addition. Function skip_host_types omits the types, since the included header
// contains them.
void declare_host_sizes(Emitter *e);
void print_host_types(Emitter *e);
void skip_host_types(Emitter *e);

// ---- init.c ----------------------------------------------------------------------

// Print the type of the context, the prototypes of init and attach, and these calls.
void print_context(Emitter *e);
void declare_init(Emitter *e);
void emit_init_calls(Emitter *e);

// ---- the sections ----------------------------------------------------------------

void emit_banner(Emitter *e);
void emit_memory(Emitter *e);
void make_launches(Emitter *e);
void emit_kernels(Emitter *e);
void emit_steps(Emitter *e);
// Prints the header's content, in the header or in place.
extern const char *const declared_chunks[];     // of the runtime; ends with NULL
void emit_declarations(Emitter *e);
void emit_interface(Emitter *e);
void emit_program(Emitter *e);          // the trainer, --main
uint64_t state_hash(const Graph *g);
// Returns the hash of the values that inference reads.  Averages in place of parameters change it.
uint64_t params_hash(const Graph *g);
// True if parameters are stored in 8 or 16 bits, in a file that only infers.
bool has_small_weights(const Graph *g);
// True if they have 16 bits.  Then a file that trains has these bytes of header, parameters and
// statistics, and this PARAMS_HASH.
bool has_half_weights(const Graph *g);
int64_t f32_params_bytes(const Graph *g);
uint64_t f32_params_hash(const Graph *g);
// Returns the bytes of the state up to the end of the last parameter or statistic, header included.
int64_t params_bytes(const Graph *g);
// Returns the offset of the first running statistic; params_bytes if there is none.
int64_t statistics_offset(const Graph *g);
uint64_t plan_hash(const Plan *plan);

// Set the inputs or outputs of a graph, in order, and return their number.
int graph_inputs(const Graph *g, ValueId *inputs, int limit);
int graph_outputs(const Graph *g, ValueId *outputs, int limit);
// Returns the largest number of samples of one call.  A program processes g->batch samples at a
// time.
int64_t call_batch(const Graph *g);
// Returns the bytes of one sample of a batched value.
int64_t sample_bytes(const Graph *g, ValueId v);
enum { MAX_PORTS = 64 };

#endif
