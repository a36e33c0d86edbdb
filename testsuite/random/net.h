// A net while it is drawn: its text so far, and the front end's result for it.
// Nothing here or in the files that use it names an operator: the tables alone
// determine the draws.
#ifndef TESTSUITE_RANDOM_NET_H
#define TESTSUITE_RANDOM_NET_H

#include "../../frontend/compile.h"
#include "../../ir/op/op.h"
#include "draw.h"

enum { MOST_LINES = 64, MOST_DRAWN = 1024 };

// A value that calls can be given.
typedef struct Pooled {
    const char *name;
    Shape       shape;          // of a sample: without the batch
    DType       dtype;
    int64_t     classes;        // of a label, else 0
    int         uses;
    bool        is_input;
    bool        trained;        // a parameter leads to it
    int         from;           // in the pool: the call's first operand
} Pooled;

typedef struct Lines {
    const char *at[MOST_LINES];
    int         count;
} Lines;

// Weights with a name, and the call that has them.
typedef struct Named {
    const Op   *op;
    Shape       x;              // of its operand
    const char *arguments;      // with the name
} Named;

typedef struct Net {
    Arena   *arena;
    Draw     draw;
    uint64_t seed;
    bool     exact;             // integer mode
    bool     scales_loss;       // in it
    int64_t  batch;
    int64_t  side, channels;    // about how large maps are
    int64_t  statements;        // how many are tried
    Pooled   pool[MOST_LINES];
    int      pool_count;
    Lines    inputs, body, ends, train;
    int      input_number, value_number;
    int      first_operand;     // of the last call drawn: in the pool
    Named    named[MOST_LINES];
    int      named_count;
    const Op *last;             // of the last statement
    // conv, conv.stride, ...: the words drawn, for coverage.
    const char *drawn[MOST_DRAWN];
    int         drawn_count;
    const char *path;           // of the file that the front end reads
} Net;

// ---- net.c ------------------------------------------------------------------

void add_line(Lines *lines, const char *line);
void add_drawn(Net *n, const char *what);
// The program, with its train section where there is one.
void print_net(const Net *n, FILE *out);
// The graph of the program so far, in arena; NULL where the front end refuses
// it.
Graph *try_net(const Net *n, Arena *arena, Mode mode);

// ---- arguments.c ------------------------------------------------------------

// A dimension as it is, but in the integer mode mostly a power of two: means
// divide by counts.
int64_t round_dim(Net *n, int64_t dim);
// The arguments of a call, each with ", " before it; x is the shape of its
// first operand's samples.  `given`: the text of the first argument, or NULL.
const char *draw_arguments(Net *n, const Op *op, Shape x, const char *given);
// The forms an argument can have, a|b|c: its words, and how many numbers; NULL:
// it has one alone.  ARG_INIT and ARG_LABEL have n, a number, besides.
const char *forms_of(const ArgSpec *spec);

// ---- operands.c -------------------------------------------------------------

// Draws a call of op: operands from the pool or from new inputs (which are
// added to n), and arguments.  If `first` is not NULL, that value is among
// them. Its text, as `op(a, b, arg = 1)`.
const char *draw_call(Net *n, const Op *op, const Pooled *first);
// A value of the pool, one that nothing has used if it can be; NULL: none.
Pooled *draw_pooled(Net *n);

// ---- training.c -------------------------------------------------------------

// Losses, metrics and outputs; false where no loss fits.
bool draw_ends(Net *n);
void draw_train(Net *n);
// Prints the settings that draw_train draws, a line each.
void list_settings(bool exact);
// Likewise the words for nets of several outputs, losses or metrics.
void list_ends(void);
// A line of options: passes and modes at random, the first of a net plain.
const char *draw_options(Net *n, int number);

// ---- generate.c -------------------------------------------------------------

// An operator of one of these flags, those with more to try more often; of the
// exact alone in the integer mode.
const Op *draw_op(Net *n, unsigned flags);
// A whole net.
void draw_net(Net *n);

#endif
