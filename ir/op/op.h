// An operator: a row of ops.def and what ops/<name>.c says of it.  All that
// differs from operator to operator is reached through these; there is no
// switch over operators anywhere.
#ifndef CNNC_OP_H
#define CNNC_OP_H

#include "cost.h"
#include "launch.h"

typedef struct Build Build;
typedef struct Gradient Gradient;
typedef struct Ref Ref;
typedef struct Momentum Momentum;

// What the language may do with an operator, and what passes may.
typedef enum OpFlags {
    LAYER      = 1 << 0,        // called on values
    LOSS       = 1 << 1,        // after the word loss
    METRIC     = 1 << 2,        // after the word metric
    OPTIMIZER  = 1 << 3,        // of the train section
    INTERNAL   = 1 << 4,        // made by passes and other operators only
    VIEW       = 1 << 5,        // its result is its operand's bytes: no launch
    ACT        = 1 << 6,        // elementwise, gradient from its result: can be
                                // applied as another operator stores.  It never
                                // falls; where it does not rise, its gradient
                                // is 0
    STORES_ACT = 1 << 7,        // its forward launch can apply an ACT
    ADDS_BIAS  = 1 << 8,        // its forward launch has a last operand "bias?"
    SCHEDULE   = 1 << 9,        // of the train section: sets the header's rate
    EXACT      = 1 << 10,       // forward and backward, results are maxima of
                                // operands, or sums of products of at most one
                                // element of each operand (LOSS: two) and a
                                // number, all of one sign that come of the same
                                // operands: of whole numbers and numbers that
                                // are powers of two nothing is rounded
    POOLS      = 1 << 11,       // its forward launch can make its operand 0
                                // itself, window by window: Op.pooling
    SELECTS    = 1 << 12,       // forward, its results are the largest of some
                                // elements: an ACT can come before or after
    GATES      = 1 << 13,       // ACT whose gradient is dy or 0; of y = 1, dy
    COPIES     = 1 << 14,       // its steps are no launches: copies to or from
                                // host memory, and waits for them (offload.h)
    BY_SIGN    = 1 << 15,       // GATES, and y is not below 0 and its gradient
                                // dy but where y is 0: so of y times a
                                // positive number, too
    LIMITS     = 1 << 16,       // its results are no logits: none is below 0,
                                // or all are within fixed limits
} OpFlags;

// ---- arguments in the language ----------------------------------------------

typedef enum ArgType {
    ARG_INT,                    // 64
    ARG_FLOAT,                  // 1/255, 0.2
    ARG_BOOL,                   // true, false
    ARG_DIMS,                   // 3 or 3x5: height x width
    ARG_PADDING,                // same, valid, 1, 1x2 (rows x columns), or
                                // 0x1x2x3: top x bottom x left x right
    ARG_WORD,                   // one of those that fallback lists
    ARG_LIST,                   // [1, 0.5, 2]
    ARG_INIT,                   // one of those words, or a number
} ArgType;

typedef struct ArgSpec {        // a list of these ends with a NULL name
    const char *name;
    ArgType     type;
    const char *fallback;       // as in the language; NULL: must be given.  Of
                                // words all, a|b|c; the first if none is given
    double      low, high;      // every number must lie within
    const char *meaning;        // for the reference
} ArgSpec;

typedef struct ArgValue {
    Pos         pos;            // of the argument, or of the call
    bool        given;
    int64_t     i;              // ARG_INT, ARG_BOOL
    double      f;              // ARG_FLOAT; ARG_INIT where it is no word
    int         count;          // ARG_DIMS 2; ARG_PADDING 4, 0 for a word
    int64_t     dim[4];
    const char *word;           // ARG_PADDING, ARG_WORD, ARG_INIT; or NULL
    const List *list;           // ARG_LIST, in the graph's arena
} ArgValue;

// What an operator keeps of its arguments, by name, for graph text.  Ends with
// a NULL name; at most MAX_ATTRS.
typedef enum AttrType {
    ATTR_INT, ATTR_FLOAT,       // Attr.i, Attr.f
    ATTR_LIST,                  // Attr.list; NULL where there is none
} AttrType;

typedef struct AttrSpec {
    const char *name;
    AttrType    type;
    double      low, high;      // every number must lie within; both 0: those
                                // of the argument of this name
} AttrSpec;

// The most splits of a sum that any rule makes.
enum { MOST_SPLITS = 1 << 16 };

// ---- the operator -----------------------------------------------------------

// How a value lies in a larger one, in elements: in each of `rows` rows, which
// are `stride` long, `width` side by side from `start` on.
typedef struct Slice { int64_t rows, width, stride, start; } Slice;

// One kind of launch that the operator has: forward is kernel 0.  operands and
// results are lists of slots: op_table.c has their marks.
typedef struct Kernel {
    const char *name;           // "" for forward; else as in conv.dgrad
    const char *operands;       // forward: NULL, the row's (without brackets)
    const char *results;
    const char *in_place;       // "y/x": y may be written over x, element by
                                // element; pairs between spaces; NULL: none.
                                // On load, too, an element of y is made of
                                // that one of x
    int masking;                // the kernel that makes result 0 times an
                                // activation's derivative: it has a last
                                // operand "mask" more, and no other result
    int gated;                  // the kernel that does to a gradient what this
                                // and then the gradient of an activation
                                // BY_SIGN do: operands are the gradient and
                                // "mask", what this makes, forward, of the
                                // activation's result
    int ending;                 // the kernel that does this and then, in the
                                // block that ends last, what the only reader
                                // of result 0 does.  It has this one's
                                // operands, the reader's others by name and
                                // the header; the reader's results and, last,
                                // result 0.  0: there is none
    int with_momentum;          // the kernel that adds these results to momenta
                                // as it stores (momentum.h); 0: there is none
    void (*cost)(const Graph *g, const Node *n, Cost *cost);    // cost.h
    void (*launch)(const Graph *g, const Node *n, Launch *l);
    void (*reference)(const Ref *r);
    // Says by which struct the block of another launch that ends last does
    // what this one does: with few threads, and to what no block of the other
    // still needs (is_last_block).  NULL: it must be launched.
    void (*last)(const Graph *g, const Node *n, Launch *l);
    // Says by which struct result 0 is computed where it is read.  False, or
    // NULL: it must be launched.
    bool (*load)(const Graph *g, const Node *n, Launch *l);
    // How the result lies in operand 0 or, where it joins, operand k in the
    // result.  NULL: it does more than copy.  What joins is computed on load
    // where one of its operands is.
    Slice (*slice)(const Graph *g, const Node *n, int k);
    bool joins;
    // The operand whose last axis is the result's: a slice of the one makes
    // that of the other.  NONE, or NULL: there is none.
    int (*divided)(const Graph *g, const Node *n);
} Kernel;

// How a map can be made by the launch of the pool that alone reads it, which
// has the flag POOLS; n, the forward node that makes the map, is then
// fused_load.
typedef struct Pooling {
    // Whether there is such a launch, and it is worth what it computes twice.
    bool    (*fits)(const Graph *g, const Node *n, const Node *pool);
    // What it computes twice.
    int64_t (*again)(const Graph *g, const Node *n, const Node *pool);
    // The pool's launch rule then.  functor: what the kernel makes of a window.
    void    (*launch)(const Graph *g, const Node *n, const Node *pool,
                      const char *functor, Launch *l);
} Pooling;

struct Op {
    // From the row of ops.def:
    const char *name, *operands, *meaning;
    unsigned    flags;
    // From ops/<name>.c:
    const ArgSpec  *args;       // NULL: none
    const AttrSpec *attrs;      // NULL: none
    // Checks operands and arguments, says error() where they are wrong, makes
    // parameters and nodes.  Returns the result, or NONE after an error.
    // Optimizers set g->optimizer_attr and schedules g->schedule_attr; both
    // return NONE.
    ValueId (*build)(Build *b);
    // The shape of forward result 0 from the node's operands and attributes,
    // for the verifier; NULL: that of operand 0.
    Shape (*shape)(const Graph *g, const Node *n);
    // Rewrites a forward node that can be simpler: returns the value that may
    // stand for its result 0, or NONE; it may also change the node.  NULL:
    // never.
    ValueId (*simplify)(Graph *g, NodeId n);
    // Makes the backward nodes of a forward node of kernel 0; NULL: no gradient
    // passes.
    void (*gradient)(Gradient *c);
    // Of a forward node of a training step: makes the nodes of the update phase
    // that take from it what the state keeps, as running statistics; NULL:
    // nothing.  They must leave the state alone where the header says skip; the
    // k-th value that one updates follows its k-th that is not of the state.
    void (*update)(Graph *g, NodeId n);
    // Of a forward node of a training step: what it needs all samples of the
    // step for at once, as "mean and variance", or NULL: a sample's results
    // depend on that sample alone.  NULL: so they always do.
    const char *(*needs_whole_batch)(const Graph *g, const Node *n);
    // Makes n, which asks for its samples' numbers, one of those from `first`
    // on; NULL: none asks.
    void (*rebase_samples)(Node *n, int64_t first);
    // Another name of it in the language, or NULL.  Its layers and values have
    // the first.
    const char *alias;
    // What it is called in the kernels, as the functor that a template takes;
    // NULL: as here.
    const char *functor;
    // ACT only: f(x), and dx from dy and y = f(x).
    double (*act)(double x);
    double (*act_gradient)(double dy, double y);
    // Shapes of a call's operands, where random ones would hardly ever fit:
    // "a 4, b:c; [1]" wants a value [a, 4] and a label class[b, c], for any a,
    // b, c, with [1] for its first argument.  After ! it is an input that is
    // wanted, for no gradient goes there.  Ways stand between |.
    const char *fits;
    // LOSS: the operator that it applies to its logits itself, or NULL, and
    // which operand these are.
    const Op *applies;
    int       logits;
    // OPTIMIZER: names of its state per parameter, ends with NULL.
    const char *const *state;
    // OPTIMIZER: whether it begins with m = keep * m + (gradient + decay *
    // weight), on its one state, and needs the gradient for nothing else; its
    // kernel 1 is then the rest.  NULL: it does not.
    bool (*momentum)(const Graph *g, Momentum *m);
    const Pooling *pooling;     // NULL: its result is stored for a pool to read
    const Kernel *kernels;      // ends with a NULL results
};

// op_table.c: the table.
enum OpId {
#define OP(name, operands, flags, meaning) OP_##name,
#include "../ops.def"
#undef OP
    OP_COUNT
};
extern const Op *const ops[OP_COUNT];
const Op *find_op(const char *name, size_t length);     // NULL: there is none
// The operator with this alias, or NULL.
const Op *find_alias(const char *name);

#include "rule_context.h"
#include "slots.h"

#endif
