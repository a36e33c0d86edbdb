// A net of the random tests: a .cnn whose lines "# run: OPTIONS" are the
// settings it is compiled with.  OPTIONS are cnnc's, and
//
//     --samples N     of the batch are there; default: all
//     --seed N        of weights, data and random numbers
//     --exact         the integer mode: everything is equal in bits
//     --precision P   f16, bf16 or tf32, in the integer mode; else it is f32,
//                     and otherwise f64
//     --squeeze N     training has a budget: as squeeze.h has it, of N
//                     hundredths above the smallest arena
//     --offload       for which maps may go to host memory
#ifndef TESTSUITE_RANDOM_CASE_H
#define TESTSUITE_RANDOM_CASE_H

#include "../../frontend/driver/run_pipeline.h"

// A precision in which numbers have fewer digits than arithmetic.
typedef enum Narrow {
    NARROW_F16, NARROW_BF16, NARROW_TF32, NARROW_COUNT,
    NOT_NARROW = NARROW_COUNT
} Narrow;
extern const char *const narrow_names[NARROW_COUNT];
// True if x is the same in it.
bool is_narrow(Narrow narrow, double x);

typedef struct Case {
    const char *path;
    int         line;           // of its "# run:" lines, from 0
    int64_t     samples;        // 0: the whole batch
    uint64_t    seed;
    bool        exact;
    int         squeeze;        // 0: it has no budget
    bool        offload;
    Narrow      narrow;         // of the integer mode: the numbers
                                // rounded to on their way
    int         argc;           // cnnc's options
    char      **argv;
} Case;

// All lines of the file, or one with no options where it has none; NULL, said
// on standard error, if it can't be read.
Case *cases_read(Arena *arena, const char *path, int *count);

// Returns the number of the case's words, from the i-th on, that form an option
// without effect on the numbers: passes, levels, slices and recomputation.
int words_of_pass(const Case *of, int i);

// The result of cnnc for the case's options; the input stays open for more
// modes.
typedef struct Compiled {
    Options options;
    Input   in;
    int     squeeze;
    bool    offload;
} Compiled;

// False after errors.  With `plain`, no optional pass is on, and nothing is in
// slices or is recomputed.
bool case_open(Compiled *c, Arena *arena, Diag *diag, const Case *of,
               bool plain);
// The graph of a mode through its passes, and its plan; NULL after errors.
Graph *case_graph(Compiled *c, Mode mode, Plan **plan);

// The value of that name, or NONE.
ValueId case_value(const Graph *g, const char *name);

#endif
