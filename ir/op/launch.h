// A launch: how ops/<name>.c launches a node, or computes it where it is read.
// The emitter turns it into text (launch.c has an example).  Its pointers are
// into the arena of its graph.
#ifndef CNNC_LAUNCH_H
#define CNNC_LAUNCH_H

#include "../base/sizes.h"
#include "../ir.h"

typedef struct Launch Launch;

// The maximum number of values in a call, and so in a launch.
enum { MAX_SLOTS = 64 };

typedef enum LaunchArgKind {
    LAUNCH_VALUE,               // a pointer into the arena; NULL if NONE
    LAUNCH_PACKED,              // integers of 8 bits, two or four at a time
    LAUNCH_INT, LAUNCH_REAL,    // numbers; a real has the graph's precision
    LAUNCH_SAMPLES,             // the valid samples of the batch, at run time
    LAUNCH_HEADER,              // a pointer to the state header
    LAUNCH_SOURCE,              // a struct that computes an operand on load, or
                                // describes where a result is stored
    LAUNCH_LIST,                // a List<n> of reals (support/vec/list.cuh)
    LAUNCH_TENSOR_LIST,         // a TensorList<struct, n> (tensor_list.cuh)
} LaunchArgKind;

typedef struct LaunchArg {
    LaunchArgKind kind;
    ValueId       value;
    int64_t       i;
    double        f;
    const List   *list;
    const Launch *source;
    const struct TensorList *items;
    const char   *label;        // comment printed after a bare number; may be
                                // NULL
} LaunchArg;

typedef struct Constant {
    const char *name;
    int64_t     value;
} Constant;

enum {
    MAX_LAUNCH_ARGS = MAX_SLOTS + 8, MAX_CONSTANTS = 40,
    MAX_TEMPLATE = MAX_SLOTS + 4
};

// The arguments for each of several arrays of a launch, and the number of
// blocks of each; their blocks are consecutive.
typedef struct TensorList {
    int            count;
    const Launch **item;        // structs: their members are arguments
    const int64_t *blocks;
} TensorList;

// A template argument: C++ text, or the type of an operand that may be computed
// on load; by default it is a pointer to the stored operand.
typedef struct TypeArg {
    const char   *text;
    const Launch *source;       // NULL: not computed on load
} TypeArg;
extern const char plain_source[];   // type of a stored operand
extern const char plain_result[];   // type of a result that is no slice

// Describes how a node is launched, or how an inlined node is computed on load.
// The kernel is a function of runtime/kernels/<operator>.cuh; the emitter
// copies it with its dependencies.
struct Launch {
    Graph      *g;
    const Node *node;           // of a source: the inlined node
    const char *kernel;         // or a host function, if library or copy; for a
                                // source, a struct, whose members are arg
    bool        library;        // a call of cuBLAS, not a launch
    bool        copy;           // a copy, of an operator with COPIES
    // Members of the struct that is the first template argument, which launches
    // with equal constants share: struct conv1_shape.  May be empty.
    Constant   *constant;
    TypeArg    *type;           // further template arguments
    int32_t     constant_count, constant_capacity, type_count, type_capacity;
    int64_t     grid;           // blocks, in x
    int         block;          // threads, a multiple of 32
    LaunchArg  *arg;
    int32_t     arg_count, arg_capacity;
    // Positions where the kernel takes the operation of its last block
    // (Part.last).  Types and arguments from own_type and own_arg on belong to
    // this node; those of grouped nodes follow them.  0 if there are none.
    bool        takes_last;
    int         last_type, last_arg;
    int         own_type, own_arg;
    // The size of a product on tensor cores (gemm_tile.h), or NULL.
    const struct ProductSize *product;
};

// launch.c: functions for the launch rules of ops/<name>.c.
void launch_kernel(Launch *l, const char *kernel, int64_t grid, int block);
void launch_library(Launch *l, const char *function);
void launch_copy(Launch *l, const char *function);
void launch_constant(Launch *l, const char *name, int64_t value);
void launch_type(Launch *l, const char *text);      // "relu", "true", "64"
void launch_type_as(Launch *l, TypeArg type);       // of another launch
void launch_type_int(Launch *l, int64_t value);
void launch_type_of(Launch *l, ValueId v);          // of its elements
void launch_argument(Launch *l, LaunchArg argument);
void launch_value(Launch *l, ValueId value);
// Adds operand k of n, whose slot is marked ~ or /, as a type and an argument.
// They are the struct that computes it if it is inlined, otherwise its array.
void launch_load(Launch *l, const Node *n, int k);
// Adds a struct of runtime/ as a type and an argument, which are those of the
// launch returned.
Launch *launch_operand(Launch *l, const char *name);
// Adds the operands mask and other of a part that adds a gradient
// (Kernel.adding) as one struct; its kernel takes by_mask for an activation.
void launch_mask_plus_other(Launch *l, const Node *n, int mask, int other);
// Adds the type of a result whose slot is marked /.
void launch_result_type(Launch *l, ValueId v);
// Returns the type of an array with a scale: Scaled<int8_t *>, of reals
// Measured<real *, 127>, or ScaledRows<9> of weights whose rows have one each.
const char *scaled_type(const Graph *g, const Value *value);
// Returns the template arguments of a slice's Strided: <real, 64, 128, 4>.
const char *slice_arguments(const Graph *g, const Value *value);
// Likewise as elements of another type, of `size` bytes.
const char *slice_arguments_as(const Graph *g, const Value *value,
                               const char *type, int64_t size);
// Adds a struct of runtime/ as an argument; its members are the arguments of
// the launch returned.
Launch *launch_members(Launch *l, const char *name);
// For a kernel that takes several arrays: adds the struct of this array, and
// the number of arrays as the last type.  The members of the struct, which is
// in runtime/, are the arguments of the launch returned.
Launch *launch_item(Launch *l, const char *name);
// Likewise for several arrays, with the blocks of each.  Returns the launches
// of their structs.
Launch **launch_items(Launch *l, const char *name, int count,
                      const int64_t *blocks);
// For a kernel whose last block takes a further operation: reserves its type
// and argument here.  The struct Nothing stands there until one is added.
void launch_last(Launch *l);
void launch_nothing_last(Launch *l);
// Sets that operation to n's.
void launch_add_last(Launch *l, const Node *n);
// The launch rule of an operation with Part.last that is launched on its own.
void launch_alone(const Graph *g, const Node *n, Launch *l);
// For a kernel that does several operations in turn on the same operands: adds
// a struct of runtime/ as a type and an argument.  Its members are the
// arguments of the launch returned.  Everything before it is common to the
// operations.
Launch *launch_own(Launch *l, const char *name);
// True if n has a struct that computes its result on load.
bool can_load(const Graph *g, const Node *n);
// Sets the struct of runtime/ that computes an inlined node, in Part.load.
void launch_struct(Launch *l, const char *name);
void launch_int(Launch *l, int64_t i, const char *label);
void launch_real(Launch *l, double f, const char *label);
void launch_samples(Launch *l);
void launch_header(Launch *l);
void launch_list(Launch *l, const List *list, const char *label);
// Adds the functor of n's fused activation, or "identity".
void launch_act(Launch *l, const Node *n);
const char *functor_of(const Op *op);

#endif
