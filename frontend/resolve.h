// Shared by the resolver's files: values of the language, scopes, and the state
// of one walk over the tree.
#ifndef CNNC_RESOLVE_H
#define CNNC_RESOLVE_H

#include "../ir/op/op.h"
#include "ast.h"
#include "compile.h"
#include "param_globs.h"
#include "parameters.h"

// The kinds of expression values.
typedef enum DatumKind {
    POISON,                     // after an error that has been reported
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

// The names of the net or of one instance of a block.  if and repeat have no
// scope of their own.
typedef struct Scope {
    const char  *prefix;        // of its layers: "" or "basic_2."
    const char  *weights;       // of their parameters: the prefix, or that of
    bool         shares;        // the block's `weights`, which it then shares
    const Block *block;
    Table        variables;     // Variable
    Table        layers;        // Expr: the call of each layer name
    Table        counters;      // int: the number of conv_N so far
    Table        repeated;      // int: last N of each given name
    int          repeats;       // depth of nested repeats
    bool         returned;
    Datum        result;
} Scope;

struct Resolver {
    Arena       *arena;
    Diag        *diag;
    const Ast   *ast;
    const FrontendOptions *options;
    Graph       *g;
    Scope       *scope;         // NULL: at top level
    Table        constants;     // Variable
    const char  *layer;         // the name for the next layer, or NULL
    const Expr  *layer_call;    // the call that gets it
    Claims       claims;        // names of parameters
    Table        broken;        // blocks in which errors were reported
    Variable   **inputs;
    int32_t      input_count, input_capacity;
    ValueId     *outputs;
    int32_t      output_count, output_capacity;
    int          depth;         // of blocks
    int64_t      steps;         // executed, to stop endless programs
    ValueId      losses[MAX_LOSSES], metrics[MAX_METRICS];  // their rows
    int          loss_count, metric_count;
    Pos          loss_pos;
    int64_t      batch, epochs, accumulate; // accumulate: 0 if unset
    const Expr  *optimizer, *schedule;  // of the train section, or NULL
    bool         decays_vectors;        // rank 1 decays too
    bool         scale_moves, scale_stays;  // dynamic; constant
    int64_t      scale_interval;        // 0 if unset
    Pos          scale_interval_pos;
    const char  *part;          // of the running block's parameters that are
                                // trained: the word of `train`
    Globs        freeze, rate, prune;   // of the train section, and of
                                // --freeze
    const Expr  *word;          // an argument that may be a word, or NULL
    const char  *words, *words_for;     // the words allowed; its name
};

// A value that a call gets before its own arguments: the value threaded by a
// chain, or a side of a sum.
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
// Reads 3, 1e-3, true, 3x3, same or [] from -D or from a default in a table.
bool datum_of_text(const char *text, Datum *datum);
// Returns a number, dimensions, a word, a string or a list in the language.
const char *text_of_datum(Arena *arena, Datum datum);
// True if word is in words, which are separated by |.
bool is_word_of(const char *word, const char *words);

// ---- evaluate.c: expressions ------------------------------------------------

Datum evaluate(Resolver *r, const Expr *expr);
// Evaluates expr, which must be of one kind; POISON otherwise.
Datum evaluate_as(Resolver *r, const Expr *expr, DatumKind kind,
                  const char *what);
// Declares expr an argument, so that an unknown name lists the allowed words.
void expect_word(Resolver *r, const Expr *expr, const ArgSpec *spec);
// Returns the variable visible under name, or NULL.
Variable *find_variable(const Resolver *r, const char *name);

// ---- functions.c: channels(x), min(a, b) ------------------------------------

bool is_function(const char *name);
Datum call_function(Resolver *r, const Expr *call);
const char **function_names(Arena *arena, int *count);
// Gets row i of the table, for the reference; false past its end.
bool function_row(int i, const char **name, int *fewest, int *most,
                  const char **meaning);

// ---- call.c: operators and blocks -------------------------------------------

// threaded is the value of a chain, or NULL.
Datum evaluate_call(Resolver *r, const Expr *call, const Operand *threaded);
// Calls op with count operands before the call's own.
Datum call_operator(Resolver *r, const Expr *call, const Op *op,
                    const Operand *given, int count);
// Returns the operator of this name or alias, or NULL.
const Op *op_called(const char *name);
// Returns the operator that a call names, which must have one of flags.  NULL
// after an error; `what` names such operators in it.
const Op *find_flagged(Resolver *r, const Expr *call, unsigned flags,
                       const char *what);
// Counts steps of the program; false, with one error, past the limit.
bool count_steps(Resolver *r, Pos pos, int count);

// ---- arguments.c: arguments of operators ------------------------------------

enum { MAX_ARGS = 32 };

// Fills b's operands and arguments from `given` and the call.  b->arg has space
// for MAX_ARGS.  False after an error.
bool bind_arguments(Resolver *r, Build *b, const Expr *call,
                    const Operand *given, int count);
// True if the precision's type can hold the number called name; otherwise
// reports at pos that it is too small.
bool check_small(Resolver *r, Pos pos, const char *name, double number);
// Returns the call's argument of this name, or NULL.
const Arg *call_argument(const Expr *call, const char *name);
// Returns the call's argument name = "...", or NULL.
const Arg *name_argument(const Expr *call);
// True if an operator makes parameters.
bool makes_params(const Op *op);

// ---- combine.c: operators between values, or a value and a number -----------

bool is_number(Datum a);
// Returns a number as a float.
double as_float(Datum a);
// True if one is a value of the net, and the other a value or a number.
bool can_combine(Datum a, Datum b);
// Combines two that can_combine accepts, as op does.
Datum combine(Resolver *r, const Expr *expr, const Op *op,
              const Operand *sides);
Datum negate(Resolver *r, const Expr *expr, const Operand *value);
// Makes a launch that copies the value, as real numbers.
Datum copy_value(Resolver *r, const Expr *expr, const Operand *value);
// True for a call that gives an operator of two operands two data by position.
bool is_combining(const Op *op, const Expr *call, const Operand *threaded);
Datum call_combining(Resolver *r, const Expr *call, const Op *op,
                     const Operand *threaded);

// ---- naming.c ---------------------------------------------------------------

// True if name is a word; otherwise reports at pos the form of a name.
bool check_name(Resolver *r, Pos pos, const char *name);
// Returns the full name of the layer that a call of `what` makes.
const char *name_layer(Resolver *r, const Expr *call, const char *what);
// Returns the call in an assigned expression that takes the variable's name, or
// NULL.
const Expr *call_to_name(const Resolver *r, const Expr *expr);
// True if the variable is assigned once, so that it may name a layer.
bool names_for_good(const Resolver *r, const char *name);
// Gives the last value of a statement the assigned name.  The statement's
// values begin at `first`.
void name_result(Resolver *r, ValueId value, ValueId first, const char *name);

// ---- checkpoint_marks.c: checkpoints and float32 values ---------------------

// Marks the operand of x -> checkpoint or x -> float32 and returns it; POISON
// after an error.
Datum mark_operand(Resolver *r, const Expr *expr, const Operand *operand);
void run_mark(Resolver *r, const Stmt *stmt);

// ---- finish.c ---------------------------------------------------------------

// Completes the graph after the net's body, and checks it for the mode.
void finish_net(Resolver *r);

// ---- train.c ----------------------------------------------------------------

void read_train(Resolver *r);
// Returns a number above 0 and below most; 0 after an error about `name`.
#define MOST_NUMBER 1e30
double number_between(Resolver *r, const Expr *expr, const char *name,
                      double most);
// Gets setting i, for the reference; false past the last.
bool setting_row(int i, const char **name, const char **meaning);
// Builds the optimizer and schedule of the train section, and their state.
void build_training(Resolver *r);

// ---- foreign.c --------------------------------------------------------------

// Translate a word of another framework, or return NULL: a sentence for an
// operator; a name for an argument or the type of an input.
const char *foreign_operator(const char *word);
const char *foreign_argument(const char *word);
const char *foreign_type(const char *word);

// ---- warnings.c -------------------------------------------------------------

// Warns at a loss, given by its rows, if its logits come from the function that
// it applies, or from an operator with flag LIMITS.
void warn_of_logits(Resolver *r, ValueId rows);
// Warns of an input [batch, dims...] that appears to be [channels, height,
// width].
void warn_of_layout(Resolver *r, const Stmt *stmt, Shape shape);

// ---- resolve.c --------------------------------------------------------------

void run_body(Resolver *r, const Body *body);
// True if a value is an input or a view of one, so that no launch makes it.
bool is_view_of_input(const Graph *g, ValueId v);
void set_variable(Resolver *r, const char *name, Pos pos, Datum datum);

#endif
