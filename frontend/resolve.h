// What the resolver's files share: values of the language, scopes, and the
// state of one walk over the tree.
#ifndef CNNC_RESOLVE_H
#define CNNC_RESOLVE_H

#include "../ir/op/op.h"
#include "ast.h"
#include "compile.h"

// What an expression comes to.
typedef enum DatumKind {
    POISON,                     // nothing, and the error has been reported
    TENSOR,                     // a value of the graph
    INT, FLOAT, BOOL,
    DIMS,                       // 3x5, 0x1x2x3
    WORD,                       // same, valid, nearest
    TEXT,                       // "stem"
    LIST,                       // [1, 0.5]
} DatumKind;

typedef struct Datum {
    DatumKind   kind;
    ValueId     value;          // TENSOR
    int64_t     i;              // INT, BOOL
    double      f;              // FLOAT
    int         count;          // DIMS
    int64_t     dim[4];
    const char *text;           // WORD, TEXT
    const List *list;           // LIST
} Datum;

typedef struct Variable {
    const char *name;
    Pos         pos;
    Datum       datum;
    bool        is_input, used;
} Variable;

// The net's names, or those of one instance of a block.  if and repeat have no
// scope of their own.
typedef struct Scope {
    const char  *prefix;        // of its layers: "" or "basic_2."
    const Block *block;
    Table        variables;     // Variable
    Table        layers;        // what took each layer's name: its Expr
    Table        counters;      // int: of conv, how many conv_N there are
    Table        repeated;      // int: of a name given, its last stem_N
    int          repeats;       // how many repeats it is inside of
    bool         returned;
    Datum        result;
} Scope;

typedef struct Resolver {
    Arena       *arena;
    Diag        *diag;
    const Ast   *ast;
    const FrontendOptions *options;
    Graph       *g;
    Scope       *scope;         // NULL: at top level
    Table        constants;     // Variable
    const char  *layer;         // the name for the next layer, or NULL
    const Expr  *layer_call;    // the call that is to have it
    Table        broken;        // blocks in which errors were reported
    Variable   **inputs;
    int32_t      input_count, input_capacity;
    ValueId     *outputs;
    int32_t      output_count, output_capacity;
    int          depth;         // of blocks
    int64_t      steps;         // statements and calls, against endless ones
    ValueId      losses[MAX_LOSSES], metrics[MAX_METRICS];  // their rows
    int          loss_count, metric_count;
    Pos          loss_pos;
    int64_t      batch, epochs, accumulate; // the last: 0 if not said
    const Expr  *optimizer, *schedule;  // of the train section, or NULL
    bool         decays_vectors;        // what has rank 1 decays too
    bool         scale_moves, scale_stays;  // loss_scale, if it is said
    int64_t      scale_interval;        // 0 if not said
    Pos          scale_interval_pos;
    const Expr  *word;          // an argument that may be a word, or NULL:
    const char  *words, *words_for;     // what it may be, and its name
} Resolver;

// A value that a call gets before its own arguments: what a chain threads
// through it, or both sides of a sum.
typedef struct Operand {
    Datum datum;
    Pos   pos;
} Operand;

// ---- expr_value.c -----------------------------------------------------------

extern const char *const kind_words[];          // "an integer", ...
Datum no_datum(void);
Datum int_datum(int64_t i);
Datum float_datum(double f);
Datum bool_datum(bool b);
Datum tensor_datum(ValueId value);
// 3, 1e-3, true, 3x3, same, []: what -D gives and what tables fall back to.
bool datum_of_text(const char *text, Datum *datum);
// Whether word is one of words, which stand between |.
bool is_word_of(const char *word, const char *words);

// ---- evaluate.c: expressions ------------------------------------------------

Datum evaluate(Resolver *r, const Expr *expr);
// Of a condition, a count: POISON where it is anything else.
Datum evaluate_as(Resolver *r, const Expr *expr, DatumKind kind,
                  const char *what);
// expr is given for an argument: an unknown name is answered by what it can be.
void expect_word(Resolver *r, const Expr *expr, const ArgSpec *spec);
// The variable that a name stands for here, or NULL.
Variable *find_variable(const Resolver *r, const char *name);

// ---- functions.c: channels(x), min(a, b) ------------------------------------

bool is_function(const char *name);
Datum call_function(Resolver *r, const Expr *call);
const char **function_names(Arena *arena, int *count);
// Row i of the table, for the reference; false past its end.
bool function_row(int i, const char **name, int *fewest, int *most,
                  const char **meaning);

// ---- call.c: operators and blocks -------------------------------------------

// A call in a chain gets the value that is threaded through it; others NULL.
Datum evaluate_call(Resolver *r, const Expr *call, const Operand *threaded);
// A call of op that gets count operands before the call's own.
Datum call_operator(Resolver *r, const Expr *call, const Op *op,
                    const Operand *given, int count);
// The operator of this name or alias, or NULL.
const Op *op_called(const char *name);
// The operator that a call names, which must have one of flags; NULL after an
// error, where `what` is what such operators are called.
const Op *find_flagged(Resolver *r, const Expr *call, unsigned flags,
                       const char *what);
// Counts what a program does; false, and an error once, when it is too much.
bool count_steps(Resolver *r, Pos pos, int count);

// ---- arguments.c: of operators ----------------------------------------------

enum { MAX_ARGS = 32 };

// Fills in b's operands and arguments (arg has room for MAX_ARGS) from those
// given and the call's; false after an error.
bool bind_arguments(Resolver *r, Build *b, const Expr *call,
                    const Operand *given, int count);
// True if the precision's type holds the number called name; an error at pos if
// it is too small.
bool check_small(Resolver *r, Pos pos, const char *name, double number);
// The call's name = "...", or NULL.
const Arg *name_argument(const Expr *call);
// Whether an operator makes parameters.
bool makes_params(const Op *op);

// ---- naming.c ---------------------------------------------------------------

// The full name of the layer that a call of `what` makes.
const char *name_layer(Resolver *r, const Expr *call, const char *what);
// The call within an assigned expression that takes the assigned name, or NULL.
const Expr *call_to_name(const Resolver *r, const Expr *expr);
// Whether this assignment's name is for good.
bool names_for_good(const Resolver *r, const char *name);
// The last value of a statement gets the assigned name; its values are those
// from first on.
void name_result(Resolver *r, ValueId value, ValueId first, const char *name);

// ---- checkpoint_marks.c: checkpoints, and what stays float32 ----------------

// x -> checkpoint, x -> float32: gives the operand, marked; POISON after an
// error.
Datum mark_operand(Resolver *r, const Expr *expr, const Operand *operand);
void run_mark(Resolver *r, const Stmt *stmt);

// ---- finish.c ---------------------------------------------------------------

// After the net's body: what the mode asks for, and whether it can have it.
void finish_net(Resolver *r);

// ---- train.c ----------------------------------------------------------------

void read_train(Resolver *r);
// Setting i, for the reference; false past the last.
bool setting_row(int i, const char **name, const char **meaning);
// What the train section calls, and the state that it keeps.
void build_training(Resolver *r);

// ---- foreign.c --------------------------------------------------------------

// How to say a word of another framework, or NULL: a sentence for an operator;
// the name for an argument or the type of an input.
const char *foreign_operator(const char *word);
const char *foreign_argument(const char *word);
const char *foreign_type(const char *word);

// ---- warnings.c -------------------------------------------------------------

// Warns at a loss, which makes rows, if its logits come from an operator that
// it applies itself, or from one that LIMITS.
void warn_of_logits(Resolver *r, ValueId rows);
// Warns of an input [batch, dims...] of stmt that seems to be [channels,
// height, width].
void warn_of_layout(Resolver *r, const Stmt *stmt, Shape shape);

// ---- resolve.c --------------------------------------------------------------

void run_body(Resolver *r, const Body *body);
// Whether a value is an input, or views alone lead from one to it: no launch
// would make it.
bool is_view_of_input(const Graph *g, ValueId v);
void set_variable(Resolver *r, const char *name, Pos pos, Datum datum);

#endif
