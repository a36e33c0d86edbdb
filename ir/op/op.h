// An operator: a row of ops.def and the struct in ops/<name>.c.  All
// differences between operators are in these fields; no code switches over
// operators.
#ifndef CNNC_OP_H
#define CNNC_OP_H

#include "cost.h"
#include "fusion.h"

typedef struct Build Build;
typedef struct Gradient Gradient;
typedef struct Ref Ref;
typedef struct Momentum Momentum;

// Properties of an operator, for the language and for passes.
typedef enum OpFlags {
    LAYER      = 1 << 0,        // called on values
    LOSS       = 1 << 1,        // after the word loss
    METRIC     = 1 << 2,        // after the word metric
    OPTIMIZER  = 1 << 3,        // of the train section
    INTERNAL   = 1 << 4,        // made by passes and other operators only
    VIEW       = 1 << 5,        // its result aliases its operand: no launch
    ACT        = 1 << 6,        // elementwise, and its gradient depends on its
                                // result: fusible into an epilogue.  Monotonic;
                                // the gradient is 0 where it is constant
    STORES_ACT = 1 << 7,        // its forward launch can apply an ACT
    ADDS_BIAS  = 1 << 8,        // its forward launch has a last operand "bias?"
    SCHEDULE   = 1 << 9,        // of the train section: sets the header's rate
    EXACT      = 1 << 10,       // forward and backward results are maxima of
                                // operands, or sums of products with at most
                                // one element of each operand (LOSS: two) and
                                // one number; those of the same operands have
                                // one sign.  Integers and powers of two are
                                // not rounded
    POOLS      = 1 << 11,       // its forward launch can compute operand 0,
                                // window by window: Op.pooling
    SELECTS    = 1 << 12,       // forward: maxima; an ACT commutes with it
    GATES      = 1 << 13,       // ACT whose gradient is dy or 0; dy where y = 1
    COPIES     = 1 << 14,       // no launches: copies to or from host memory,
                                // and waits for them (offload.h)
    BY_SIGN    = 1 << 15,       // GATES with y >= 0, whose gradient is dy
                                // except where y = 0: so it may be taken from
                                // y times a positive number
    LIMITS     = 1 << 16,       // no logits: results are >= 0, or bounded
    POSITIVE   = 1 << 17,       // not finite, unless its operand is positive
    NONNEGATIVE = 1 << 18,      // its results are >= 0
    KEEPS_SIGN = 1 << 19,       // forward, result 0 is >= 0 if operand 0 is
} OpFlags;

// ---- arguments in the language ----------------------------------------------

typedef enum ArgType {
    ARG_INT,                    // 64
    ARG_FLOAT,                  // 1/255, 0.2
    ARG_BOOL,                   // true, false
    ARG_DIMS,                   // 3 or 3x5: height x width
    ARG_PADDING,                // same, valid, 1, 1x2 (rows x columns), or
                                // 0x1x2x3: top x bottom x left x right
    ARG_WORD,                   // one of the words in fallback
    ARG_LIST,                   // [1, 0.5, 2]
    ARG_INIT,                   // a word, or a number
    ARG_LABEL,                  // none, or an integer
} ArgType;

typedef struct ArgSpec {        // a list of these ends with a NULL name
    const char *name;
    ArgType     type;
    const char *fallback;       // default in the language's syntax; NULL:
                                // required.  For words all, as a|b|c, the first
                                // is the default
    double      low, high;      // limits of every number
    const char *meaning;        // for the reference
} ArgSpec;

typedef struct ArgValue {
    Pos         pos;            // of the argument, or of the call
    bool        given;
    int64_t     i;              // ARG_INT, ARG_BOOL; ARG_LABEL, or NO_LABEL
    double      f;              // ARG_FLOAT; ARG_INIT if a number
    int         count;          // ARG_DIMS 2; ARG_PADDING 4, 0 for a word
    int64_t     dim[4];
    const char *word;           // of an argument that takes words; or NULL
    const List *list;           // ARG_LIST, in the graph's arena
} ArgValue;

// The attributes that an operator keeps of its arguments, for graph text.  Ends
// with a NULL name; at most MAX_ATTRS.
typedef enum AttrType {
    ATTR_INT, ATTR_FLOAT,       // Attr.i, Attr.f
    ATTR_LIST,                  // Attr.list, or NULL
} AttrType;

typedef struct AttrSpec {
    const char *name;
    AttrType    type;
    double      low, high;      // limits of every number; both 0: those of the
                                // argument of this name
} AttrSpec;

// The maximum of splits that a rule makes of a sum.
enum { MOST_SPLITS = 1 << 16 };

// ---- the operator -----------------------------------------------------------

// How a value is stored in a larger one, in elements: `rows` rows of `width`
// elements, of a row length of `stride`, from `start` on.
typedef struct Slice { int64_t rows, width, stride, start; } Slice;

// One kind of launch of the operator; forward is part 0.  operands and results
// are lists of slots: op_table.c lists their marks.
typedef struct Kernel {
    const char *name;           // "" for forward; else as in conv.dgrad
    const char *operands;       // forward: NULL, the row's (without brackets)
    const char *results;
    const char *in_place;       // "y/x": y may overwrite x element by element;
                                // pairs are separated by spaces; NULL: none.
                                // On load, an element of y depends on x only at
                                // that element
    int masking;                // the part that multiplies result 0 by an
                                // activation's derivative: it has a further
                                // last operand "mask", and no other result
    int adding;                 // the part that adds another gradient to result
                                // 0 before an activation's derivative: further
                                // last operands are "mask?", if this part has
                                // none, and "other"
    int gated;                  // the part that applies this part and then the
                                // gradient of a BY_SIGN activation: operands
                                // are the gradient and "mask", the forward
                                // result of this operator on the activation's
                                // result
    int ending;                 // the part that does this and then, in the last
                                // block, the operation of the only reader of
                                // result 0.  Operands are this one's, the
                                // reader's others by name, and the header;
                                // results are the reader's and then result 0.
                                // 0: none
    ColumnSums reduces;         // the sums of channels that it makes: results
                                // are totals, then partial sums
    int reducing;               // the part that makes result 0 and sums of it:
                                // operands and results are this one's, then
                                // those of the sums' node, without its operand
                                // 0.  0: none
    Shape (*partials)(const Graph *g, const Node *n);   // `reducing`: of its
                                // partial sums; rank 0: it makes none
    int normalizing;            // the part that applies a batch norm to result
                                // 0, then adds a map: NORM_OPERANDS.  0: none
    void (*take)(Node *n, const Node *from);    // of both: sets n's attributes
    bool (*rounds)(const Graph *g, const Node *n, int k);   // true if the
                                // kernel rounds operand k to the 16 bits of
                                // maps, and may read it so; NULL: none
    int with_momentum;           // the part that adds these results to momenta
                                // when it stores them (momentum.h); 0: none
    void (*cost)(const Graph *g, const Node *n, Cost *cost);    // cost.h
    void (*launch)(const Graph *g, const Node *n, Launch *l);
    void (*reference)(const Ref *r);
    // Sets the struct by which the last block of another launch does this
    // operation.  It has few threads, and no other block still needs its
    // operands (is_last_block).  NULL: it must be launched.
    void (*last)(const Graph *g, const Node *n, Launch *l);
    // Sets the struct that computes result 0 on load.  False, or NULL: it must
    // be launched.
    bool (*load)(const Graph *g, const Node *n, Launch *l);
    int load_work;              // the instructions by which a kernel computes
                                // an element with that struct, without loads
    // Returns how the result is stored in operand 0 or, if it joins, operand k
    // in the result.  NULL: it is no pure copy.  A joining node is computed on
    // load if one of its operands is.
    Slice (*slice)(const Graph *g, const Node *n, int k);
    bool joins;
    // Returns the operand whose last axis is the result's, so that a slice of
    // one is a slice of the other.  NONE, or NULL: there is none.
    int (*divided)(const Graph *g, const Node *n);
} Kernel;

struct Op {
    // From the row of ops.def:
    const char *name, *operands, *meaning;
    unsigned    flags;
    // From ops/<name>.c:
    const ArgSpec  *args;       // NULL: none
    const AttrSpec *attrs;      // NULL: none
    // Checks operands and arguments, reports errors, makes parameters and
    // nodes.  Returns the result, or NONE after an error.  Optimizers set
    // g->optimizer_attr and schedules g->schedule_attr; both return NONE.
    ValueId (*build)(Build *b);
    // Returns the shape of forward result 0 from the node's operands and
    // attributes, for the verifier; NULL: that of operand 0.
    Shape (*shape)(const Graph *g, const Node *n);
    // Simplifies a forward node: returns a value that may replace its result 0,
    // or NONE; may also change the node.  NULL: nothing to simplify.
    ValueId (*simplify)(Graph *g, NodeId n);
    // Makes the backward nodes of a node of part 0; NULL: no gradient passes.
    void (*gradient)(Gradient *c);
    // For a forward node of a training step that has operand `moments`: makes
    // the nodes of the update phase that write its running statistics.  They
    // must not change them if the header says skip.  The k-th value that such a
    // node updates takes its k-th operand that is no state.  NULL: none.
    void (*update)(Graph *g, NodeId n);
    int moments;
    // For a forward node of a training step: names the statistic for which it
    // needs all samples of the step, as "mean and variance"; NULL if a sample's
    // results depend on that sample alone.  A NULL function means never.
    const char *(*needs_whole_batch)(const Graph *g, const Node *n);
    // Renumbers the samples of n, which depends on sample numbers, so that they
    // begin at `first`; NULL: it does not depend on them.
    void (*rebase_samples)(Node *n, int64_t first);
    // Its other name in the language, or NULL; layers are named by the first.
    const char *alias;
    // The name of its functor in the kernels; NULL: the same as here.
    const char *functor;
    // Elementwise, without attributes: f(x), and dx from dy and v, the result
    // or the operand.
    double (*act)(double x);
    double (*act_gradient)(double dy, double v);
    // Shapes of a call's operands for random tests, if random shapes would
    // rarely match.  Text "a 4, b:c; [1]" means a value [a, 4] and a label
    // class[b, c], for any a, b, c, with [1] for the first argument.  The sign
    // ! marks an operand that must be an input, since it gets no gradient.  The
    // sign | separates alternatives.
    const char *fits;
    const char *modes;          // words of an attribute "mode": a|b; or NULL
    // LOSS: the function that it applies to its logits, or NULL; their operand.
    const Op *applies;
    int       logits;
    // OPTIMIZER: names of its states per parameter, ends with NULL.
    const char *const *state;
    // OPTIMIZER: true if it begins with m = keep * m + (gradient + decay *
    // weight), on its only state, and does not use the gradient otherwise; part
    // 1 is then the rest.  NULL: false.
    bool (*momentum)(const Graph *g, Momentum *m);
    const Pooling *pooling;     // NULL: pools read its stored result
    const Kernel *kernels;          // ends with a NULL results
};

// op_table.c: the table.
enum OpId {
#define OP(name, operands, flags, meaning) OP_##name,
#include "../ops.def"
#undef OP
    OP_COUNT
};
extern const Op *const ops[OP_COUNT];
const Op *find_op(const char *name, size_t length);     // or NULL
// Returns the operator with this alias, or NULL.
const Op *find_alias(const char *name);

#include "rule_context.h"
#include "slots.h"

#endif
