// What an operator's functions are given: the contexts of op.h, which includes
// this, and what may be asked of them.
#ifndef CNNC_RULE_CONTEXT_H
#define CNNC_RULE_CONTEXT_H

// ---- from a call to nodes ---------------------------------------------------

struct Build {
    Graph      *g;
    const Op   *op;
    Pos         pos;
    const char *name;           // of the layer: conv1, basic_2.conv_1
    ValueId     operand[MAX_SLOTS]; // those of the row not in [brackets]
    int         operand_count;
    Pos         operand_pos[MAX_SLOTS];
    ArgValue   *arg;            // one for each of Op.args, in order
};

// A new parameter <layer>.<name>.
ValueId build_param(Build *b, const char *name, Shape shape, Init init,
                    bool decayed);
// A new running statistic <layer>.<name>, all `value` before training.
ValueId build_statistic(Build *b, const char *name, Shape shape, double value);
// New state <layer>.<name>, zeros before training; inference has none.
ValueId build_state(Build *b, const char *name, DType dtype, Shape shape);
// The forward node <layer> with these operands and one result of this shape.
// Results past the first are left NONE.
ValueId build_node(Build *b, int operand_count, const ValueId *operands,
                   const Attr *attr, Shape result);
// A forward node <layer>.<kernel's name> of another kernel; attr may be NULL.
void build_kernel(Build *b, int kernel, const Attr *attr, int operand_count,
                  const ValueId *operands, int result_count,
                  const ValueId *results);
// True if operand k has a rank of `rank` and real elements; an error if not.
bool build_wants(Build *b, int k, int rank, const char *layout);

// ---- gradients --------------------------------------------------------------

struct Gradient {
    Graph   *g;
    NodeId   node;              // the forward node
    ValueId *d;                 // of every value: its gradient so far, or NONE
    const bool *wanted;         // of every value: does it lead to a parameter
    const Uses *uses;           // of the forward nodes
};

// The gradient of the node's result k, or NONE where nothing depends on it.
ValueId gradient_of_result(Gradient *c, int k);
// Whether operand k leads to a parameter.
bool gradient_wanted(Gradient *c, int k);
// A new value for operand k's gradient: its shape and dtype.
ValueId gradient_value(Gradient *c, int k);
// The same for the gradient of any value.
ValueId gradient_value_of(Gradient *c, ValueId of);
// True if the gradient rule of node n, which has the flag ADDS_BIAS, makes the
// gradient of the bias that its only reader, a bias node, adds.  The sum then
// has one order, whether or not pass fuse_epilogue merges the two nodes.
bool gradient_takes_bias(const Graph *g, const Uses *uses, NodeId n);
// The bias whose gradient the node's rule makes: its last operand, or that of
// the bias node above.  NONE if there is no such bias.
ValueId gradient_bias(const Gradient *c);
// A new backward node: kernel of op (Kernels by number); name is the forward
// node's with the part's.
NodeId gradient_node(Gradient *c, const Op *op, int kernel, int operand_count,
                     const ValueId *operands, int result_count,
                     const ValueId *results);
// Adds a contribution to operand k's gradient, or to any value's; sums are made
// in the order of the calls.
void gradient_add(Gradient *c, int k, ValueId contribution);
void gradient_add_to(Gradient *c, ValueId of, ValueId contribution);

// ---- the scalar reference ---------------------------------------------------

struct Ref {
    const Graph *g;
    const Node  *n;
    int64_t      samples;       // of the batch that are real
    double     **in, **out;     // a slot of operands, results; NULL: none
    double     **all;           // of every value
    double      *header;        // HeaderSlot
};

// The shape of operand or result k.
Shape ref_in(const Ref *r, int k);
Shape ref_out(const Ref *r, int k);
// The node's activation applied to x, or x.
double ref_act(const Ref *r, double x);

#endif
