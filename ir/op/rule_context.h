// The contexts of operators' rules, for op.h, which includes this, and the
// functions on them.
#ifndef CNNC_RULE_CONTEXT_H
#define CNNC_RULE_CONTEXT_H

// No label: the value of an ARG_LABEL that is none.
enum { NO_LABEL = INT32_MIN };
// True if the argument may be one of the words of its fallback.
bool takes_words(const ArgSpec *spec);

// ---- from a call to nodes ---------------------------------------------------

// The parameters and running statistics of layers that share them, as the first
// of these layers made them.
enum { MAX_WEIGHTS = 8 };
typedef struct Weights {
    const char *name;           // s: of s.weight and s.bias
    Pos         pos;            // of the first layer
    const char *init;           // its word, or NULL
    int         layers;         // that are complete
    int         count;          // of values
    ValueId     made[MAX_WEIGHTS];
    const char *role[MAX_WEIGHTS];  // of each: weight
    bool        taken[MAX_WEIGHTS]; // by the layer that is built now
    int         errors;         // before that layer
} Weights;

struct Build {
    Graph      *g;
    const Op   *op;
    Pos         pos;
    const char *name;           // of the layer: conv1, basic_2.conv_1
    Weights    *weights;        // that the layer shares, or NULL
    ValueId     operand[MAX_SLOTS]; // of the row, without [brackets]
    int         operand_count;
    Pos         operand_pos[MAX_SLOTS];
    ArgValue   *arg;            // one for each of Op.args
    // True if training must not change a parameter of this full name; of_norm:
    // of a normalization.  NULL: it changes all.
    bool      (*freezes)(Build *b, const char *path, bool of_norm);
    // Returns the factor of its learning rate.  NULL: 1.
    double    (*rate_factor)(Build *b, const char *path);
    void       *resolver;       // the front end's
};

// Builds the layer; returns Op.build's result, or NONE after an error.  Layers
// that share weights have parameters of the same shapes, which begin alike and
// of which training changes the same.
ValueId build_layer(Build *b);
// Makes a new parameter <layer>.<name>, or returns that of b->weights.
ValueId build_param(Build *b, const char *name, Shape shape, Init init,
                    bool decayed);
// The same for a parameter of a normalization.
ValueId build_norm_param(Build *b, const char *name, Shape shape, Init init);
// True if training must not change <layer>.<name> of a normalization.
bool build_freezes(Build *b, const char *name);
// The same for a running statistic, which is initially `value`.  A new one is
// frozen.
ValueId build_statistic(Build *b, const char *name, Shape shape, double value);
// Makes a new state <layer>.<name>, initially zeros; inference has none.
ValueId build_state(Build *b, const char *name, DType dtype, Shape shape);
// Makes the forward node <layer> with these operands and one result of this
// shape.  Other results are NONE.
ValueId build_node(Build *b, int operand_count, const ValueId *operands,
                   const Attr *attr, Shape result);
// Makes a forward node <layer>.<part> of another part; attr may be NULL.
void build_kernel(Build *b, int kernel, const Attr *attr, int operand_count,
                const ValueId *operands, int result_count,
                const ValueId *results);
// True if operand k has this rank and real elements; reports an error
// otherwise.
bool build_wants(Build *b, int k, int rank, const char *layout);

// Returns, for each value, whether it depends on a trained parameter by
// operators with a gradient; none without training.  In the graph's arena.
bool *trained_values(const Graph *g);

// ---- gradients --------------------------------------------------------------

struct Gradient {
    Graph   *g;
    NodeId   node;              // the forward node
    ValueId *d;                 // of each value: gradient so far, or NONE
    const bool *wanted;         // of each value: depends on a parameter
    const Uses *uses;           // of the forward nodes
};

// Returns the gradient of the node's result k, or NONE if it has none.
ValueId gradient_of_result(Gradient *c, int k);
// True if operand k depends on a parameter.
bool gradient_wanted(Gradient *c, int k);
// Makes a new value for operand k's gradient, with its shape and dtype.
ValueId gradient_value(Gradient *c, int k);
// Makes one for the gradient of any value.
ValueId gradient_value_of(Gradient *c, ValueId of);
// True if the gradient rule of node n also computes the gradient of a bias.
// Its only reader, a bias node, adds that bias.  n has flag ADDS_BIAS.  The
// order of the sum is then the same with and without pass fuse_epilogue.
bool gradient_takes_bias(const Graph *g, const Uses *uses, NodeId n);
// Returns the bias whose gradient the node's rule makes: its last operand, or
// that of the bias node described above; or NONE.
ValueId gradient_bias(const Gradient *c);
// Makes a backward node: part `part` of op.  Its name is the forward node's
// with the part's.
NodeId gradient_node(Gradient *c, const Op *op, int kernel, int operand_count,
                     const ValueId *operands, int result_count,
                     const ValueId *results);
// Adds a contribution to operand k's gradient, or to any value's.  Sums are in
// the order of the calls.
void gradient_add(Gradient *c, int k, ValueId contribution);
void gradient_add_to(Gradient *c, ValueId of, ValueId contribution);

// ---- the scalar reference ---------------------------------------------------

struct Ref {
    const Graph *g;
    const Node  *n;
    int64_t      samples;       // valid samples of the batch
    double     **in, **out;     // by slot; NULL: none
    double     **all;           // of every value
    double      *header;        // HeaderSlot
};

// Return the shape of operand or result k.
Shape ref_in(const Ref *r, int k);
Shape ref_out(const Ref *r, int k);
// Returns the node's activation applied to x, or x.
double ref_act(const Ref *r, double x);

#endif
