// A launch: what ops/<name>.c says of how a node is launched, or computed where
// it is read; the emitter turns it into text (launch.c shows how).  What it
// points to is in the arena of its graph.
#ifndef CNNC_LAUNCH_H
#define CNNC_LAUNCH_H

#include "../ir.h"

typedef struct Launch Launch;

// Most values that a call, and so a launch, has.
enum { MAX_SLOTS = 64 };

typedef enum LaunchArgKind {
    LAUNCH_VALUE,               // a pointer into the arena; NULL if NONE
    LAUNCH_INT, LAUNCH_REAL,    // numbers; a real is of the graph's precision
    LAUNCH_SAMPLES,             // how many of the batch are real, at run time
    LAUNCH_HEADER,              // a pointer to the state header
    LAUNCH_SOURCE,              // a struct: what an operand is computed from as
                                // it is loaded, or where a result is stored
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
    const char   *label;        // printed as a comment where a bare number
                                // would not explain itself; may be NULL
} LaunchArg;

typedef struct Constant {
    const char *name;
    int64_t     value;
} Constant;

enum {
    MAX_LAUNCH_ARGS = MAX_SLOTS + 8, MAX_CONSTANTS = 40,
    MAX_TEMPLATE = MAX_SLOTS + 4
};

// What a launch is told of each of several arrays, and how many blocks each of
// them has, one after the other.
typedef struct TensorList {
    int            count;
    const Launch **item;        // structs: their members are arguments
    const int64_t *blocks;
} TensorList;

// A template argument: C++ text, or the type of an operand that may be computed
// on load, which defaults to a pointer where it is stored.
typedef struct TypeArg {
    const char   *text;
    const Launch *source;       // NULL: it is not on load
} TypeArg;
extern const char plain_source[];   // the text of what is stored
extern const char plain_result[];   // and of what is written, if no slice

// How a node is launched, or what a fused_load node is computed by on load.
// The kernel is a function of runtime/kernels/<operator>.cuh; the emitter
// copies it and all it needs.
struct Launch {
    Graph      *g;
    const Node *node;           // of a source: the fused_load node
    const char *kernel;         // or a host function, if library or copy; of a
                                // source a struct; its members are arguments
    bool        library;        // a call of a library (cuBLAS), not a launch
    bool        copy;           // nor is this: of an operator with COPIES
    // Members of a struct that is its first template argument, shared by
    // launches with equal constants: struct conv1_shape.  Or none.
    Constant   *constant;
    TypeArg    *type;           // further template arguments
    int32_t     constant_count, constant_capacity, type_count, type_capacity;
    int64_t     grid;           // blocks, in x
    int         block;          // threads, a multiple of 32
    LaunchArg  *arg;
    int32_t     arg_count, arg_capacity;
    // Where its kernel takes what is to be done last (Kernel.last); its types
    // and arguments from own_type and own_arg on are of this node alone, and
    // those of others may follow them: 0 where there are none.
    bool        takes_last;
    int         last_type, last_arg;
    int         own_type, own_arg;
    // The size of a product on tensor cores (gemm_tile.h); NULL: it is none.
    const struct ProductSize *product;
};

// launch.c: what ops/<name>.c fills a Launch with.
void launch_kernel(Launch *l, const char *kernel, int64_t grid, int block);
void launch_library(Launch *l, const char *function);
void launch_copy(Launch *l, const char *function);
void launch_constant(Launch *l, const char *name, int64_t value);
void launch_type(Launch *l, const char *text);      // "relu", "true", "64"
void launch_type_as(Launch *l, TypeArg type);       // as another launch's
void launch_type_int(Launch *l, int64_t value);
void launch_type_of(Launch *l, ValueId v);          // of its elements
void launch_argument(Launch *l, LaunchArg argument);
void launch_value(Launch *l, ValueId value);
// Operand k of n, whose slot is marked ~ or /: what it is computed from where
// it is computed on load, as the next of the types and an argument.
void launch_load(Launch *l, const Node *n, int k);
// The type of a result whose slot is marked /, as the next of the types.
void launch_result_type(Launch *l, ValueId v);
// The template arguments of a slice's Strided: <real, 64, 128, 4>.
const char *slice_arguments(const Graph *g, const Value *value);
// An argument, a struct of runtime/; its members: arguments of what it returns.
Launch *launch_members(Launch *l, const char *name);
// Of a kernel that takes several arrays: an argument, what it is told of this
// one, and as the last of the types how many there are.  The struct is of
// runtime/; its members: arguments of what it returns.
Launch *launch_item(Launch *l, const char *name);
// Of a kernel that takes what is to be done last: here, as the next of the
// types and arguments.  Where others follow, Nothing stands there till then.
void launch_last(Launch *l);
void launch_nothing_last(Launch *l);
// What another says of itself, there.
void launch_add_last(Launch *l, const Node *n);
// The launch rule of what is done last (Kernel.last), if by a launch of its
// own.
void launch_alone(const Graph *g, const Node *n, Launch *l);
// Of a kernel that does several things, one after the other, to the same
// operands: a struct of runtime/, as the next of the types and arguments; its
// members: arguments of what it returns.  All before it is common to them.
Launch *launch_own(Launch *l, const char *name);
// Whether n says by which struct its result is computed on load.
bool can_load(const Graph *g, const Node *n);
// The struct of runtime/ that a fused_load node is computed by, in Kernel.load.
void launch_struct(Launch *l, const char *name);
void launch_int(Launch *l, int64_t i, const char *label);
void launch_real(Launch *l, double f, const char *label);
void launch_samples(Launch *l);
void launch_header(Launch *l);
void launch_list(Launch *l, const List *list, const char *label);
// The functor that applies n's activation as it stores, or "identity".
void launch_act(Launch *l, const Node *n);
const char *functor_of(const Op *op);
int64_t ceil_div(int64_t a, int64_t b);

#endif
