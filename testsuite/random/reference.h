// The expected results of a training run, by the interpreter, and the permitted
// distance of an emitted program.
#ifndef TESTSUITE_RANDOM_REFERENCE_H
#define TESTSUITE_RANDOM_REFERENCE_H

#include "case.h"

// The training steps that a case takes; results are looked at after the first
// and the last, and those of evaluation after that.
enum { STEPS = 3, MOMENTS = 3 };

// One tensor of a reference run at one moment.
typedef struct Expected {
    const char *name;
    int64_t     count;
    double     *data;
    double      norm;           // of data
    double      moved;          // norm of how far it moves when weights and
                                // data are moved by a part in 1e13
    bool        is_output;      // of inference: fetched, not read in place
    bool        is_rounding;    // a parameter whose gradient is zero in exact
                                // arithmetic, or an optimizer's state of one
} Expected;

typedef struct Moment {
    Expected *tensor;
    int       count;
    double    gradients;        // the norm of all of them together
    bool      has_gradients;
    double    header[HEADER_SLOTS];
} Moment;

typedef struct Reference {
    Moment      moment[MOMENTS];    // after 1 step, after STEPS, evaluated
    Graph      *train;          // the graphs without optional passes; of a case
    Graph      *infer;          // that infers, infer alone
    double    **given;          // of every value of `inputs`: weights and data
    const Graph *inputs;        // which of the two graphs that is
    int64_t     samples;
    bool        trains;
    bool        is_rounding;    // so are all gradients
    bool        proved[MOMENTS];    // that up to this moment all is finite, and
                                    // in the integer mode exact
    bool        narrow[MOMENTS][NARROW_COUNT];  // and that all numbers that
                                    // are stored or multiplied so are the same
} Reference;

// NULL after errors.  Everything is stored in arena.
Reference *reference_new(Arena *arena, Diag *diag, const Case *of);

#endif
