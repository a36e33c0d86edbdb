// What the emitter's sections share.  One file a section, in the order of the
// emitted file: banner.c, memory.c, steps.c, interface.c, program.c; names.c
// and closure.c serve them.
#ifndef CNNC_EMITTER_H
#define CNNC_EMITTER_H

#include "../ir/gpu/offload.h"
#include "../ir/gpu/gemm_tile.h"
#include "codegen.h"
#include "writer.h"

// One of the file's programs: a graph, its plan, and its place in the file.
typedef struct Program {
    const Graph *g;
    const Plan  *plan;
    const char  *space;         // the namespace of its tensors: train, eval, infer
    int          first_step;    // the number its steps start from
    const char **name;          // of every value: "conv1"
    const char **place;         // and in full: "train::conv1"
    bool        *named;         // of every value: the file says its place
} Program;

// At most: two, or those that tune.c compares.
enum { MAX_PROGRAMS = 1 + TENSOR_TILES };

typedef struct Emitter {
    const EmitInput *in;
    Arena      *arena;
    Writer      w;
    const char *net, *upper;    // lenet, LENET
    Program     program[MAX_PROGRAMS];
    int         program_count;
    const Graph *g;             // of program 0: whose state is the file's
    bool       *printed;        // of every chunk
    struct Names *chunk_names;  // of each name: which chunk defines it
    struct Names *taken;        // by tensors of any program, and by shapes
    Launch     *launches;       // of every step, in order of step numbers
    const Node **nodes;         // likewise, what is launched
    const char **shapes;        // the structs of constants
    int32_t     shape_count, shape_capacity;
    struct Names *shape_texts;  // of each: which it is
    char       *constants;      // the text of one launch's
    int32_t     constants_capacity;
    const char **sources;       // likewise types of operands on load
    int32_t     source_count, source_capacity;
    struct Names *source_texts;
    bool        uses_library;   // cuBLAS
    HostUse     host;           // of the training step; no events: it has no copies
    int         step_count;
} Emitter;

// ---- emit.c --------------------------------------------------------------------

// A file's programs are taken in order by an Emitter that has its input and its writer; then it is
// made ready to print.
void take_program(Emitter *e, const Graph *g, const Plan *plan, const char *space);
void prepare_emitter(Emitter *e);

// ---- names.c -------------------------------------------------------------------

// A name with underscores for dots, to be a part of longer words.
const char *word_of(Emitter *e, const char *name);
// What the symbols of a net of this name begin with: its word, and a trailing
// underscore where the runtime or a header has names that begin with it.
const char *net_word(Emitter *e, const char *name);
// The C identifier of a name: likewise, and what C++, macros or the file itself
// may mean by it gets a trailing underscore.
const char *identifier(Emitter *e, const char *name);
const char *upper_case(Arena *arena, const char *text);
// Gives every value of every program its place.
void name_places(Emitter *e);
const char *c_type(const Emitter *e, DType dtype);
// "64, 28, 28, 6", with this separator.
const char *dims_text(Emitter *e, Shape shape, const char *separator);

// ---- closure.c -------------------------------------------------------------------

// Prints the chunk that defines name, after all it needs, unless printed
// before; `net_` and `NET_` become the net's name.  bug() if there is none.
void print_chunk(Emitter *e, const char *name);
// The same of a word's first length characters, and nothing if there is none.
void print_if_chunk(Emitter *e, const char *name, int length);
// Which chunk defines each name that chunks define: new_emitter's.
struct Names *chunk_names(Arena *arena);
// As print_chunk, but in each of its lines that has what an edit looks for, the first of it is
// edited; edits end with a NULL.  bug() if no line has it.
typedef struct ChunkEdit {
    const char *old, *put;
} ChunkEdit;
void print_chunk_edited(Emitter *e, const char *name, const ChunkEdit *edits);
// Takes it as printed: the header that the file includes has it.
void skip_chunk(Emitter *e, const char *name);
// The system headers that the chunks of these names, and all they need, want:
// printed as #include lines, sorted.
void print_includes(Emitter *e, const char *const *names, int count);

// ---- arguments.c -----------------------------------------------------------------

// What a launch is given in the emitted text, as items of a list: its kernel
// with the template arguments, behind a head such as "STEP(", or its arguments.
// Return how many.
enum { MAX_ITEMS = 1280 };
int kernel_items(Emitter *e, const char *head, const Launch *l, const char **items);
int argument_items(Emitter *e, const Program *p, const Launch *l, const char **items);
// Gives long types of operands on load a name, and prints that.
void name_sources(Emitter *e, const Launch *l);
// Prints the chunks that the template arguments name.
void print_types(Emitter *e, const Launch *l);
// Marks the values that a launch is given.
void mark_arguments(const Launch *l, bool *named);
// steps.c: the struct of a launch's constants; NULL if it has none.
const char *shape_name(Emitter *e, const Launch *l);
// Prints these structs, and the names of long types, of some of the steps.
void emit_shapes(Emitter *e, const int *steps, int count);
// Whether it takes an argument of this kind.
bool launch_takes(const Launch *l, LaunchArgKind kind);

// ---- banner.c --------------------------------------------------------------------

// A file's name, or several, as a comment can have them.
const char *in_comment(Emitter *e, const char *text);
// The program, as comments.
void quote_program(Emitter *e);

// memory.c: whether some tensor that the file names is a slice of so many rows or more.
bool any_slice(const Emitter *e, int64_t rows);

// ---- offload.c -------------------------------------------------------------------

// Of a file whose training step copies maps to host memory: what its header has beside the
// others', the types among that, or (skip) not, since the header that it includes has them.
void declare_host_sizes(Emitter *e);
void print_host_types(Emitter *e);
void skip_host_types(Emitter *e);
// The parameter of init and attach, behind a comma; of other files "".
const char *host_parameter(const Emitter *e);
// The interface's init and attach with that.
void emit_host_init(Emitter *e);

// ---- the sections ----------------------------------------------------------------

void emit_banner(Emitter *e);
void emit_memory(Emitter *e);
void make_launches(Emitter *e);
void emit_kernels(Emitter *e);
void emit_steps(Emitter *e);
// What the header holds; printed there, or in place.
extern const char *const declared_chunks[];     // of the runtime; ends with NULL
void emit_declarations(Emitter *e);
void emit_interface(Emitter *e);
void emit_program(Emitter *e);          // the trainer, --main
uint64_t state_hash(const Graph *g);
// Of what inference reads; averages in the place of parameters make another.
uint64_t params_hash(const Graph *g);
// Bytes of the state up to the last parameter or statistic: header included.
int64_t params_bytes(const Graph *g);
// The offset of the first running statistic; params_bytes where there is none.
int64_t statistics_offset(const Graph *g);
uint64_t plan_hash(const Plan *plan);

// The inputs of a graph in order; returns their number.
int graph_inputs(const Graph *g, ValueId *inputs, int limit);
int graph_outputs(const Graph *g, ValueId *outputs, int limit);
// The samples that a call takes at most, of which a program takes g->batch at a
// time.
int64_t call_batch(const Graph *g);
// Bytes of one sample of a batched value.
int64_t sample_bytes(const Graph *g, ValueId v);
enum { MAX_PORTS = 64 };

#endif
