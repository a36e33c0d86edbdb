// Magnitude pruning: the weights of least magnitude are 0 (Zhu and Gupta 2017,
// arXiv 1710.01878).  The schedule is that of TensorFlow Model Optimization.
//
//   sgd(w!, d.w, header, w.pruned)      a weight whose bit is set becomes 0,
//                                       unless the next step makes a new mask
//   prune(w!, w.pruned!, w.average!, header) ahead=1    at the end of a step,
//                                       if the next step makes a new mask
//
// A parameter's bits <w>.pruned u8[n / 8 rounded up] are state: bit i % 8 of
// byte i / 8 is 1 if weight i is pruned.  Neither gradients nor momenta are
// masked.  So a weight may come back with a new mask.
//
// The mask of a step is made at the end of the step before.  Evaluation,
// inference and saved states then have it.  The mask of step 0 is made by a
// node of the forward phase (ahead=0), if it prunes anything.
//
// A skipped step changes no weight.  The next step's mask is made all the same,
// since steps count in the schedule, and updates do not.
#ifndef CNNC_PRUNE_H
#define CNNC_PRUNE_H

#include "../op/op.h"

// The attributes of the operator and the fields of Training.prune_attr.
enum {
    PRUNE_FINAL, PRUNE_INITIAL, PRUNE_POWER, PRUNE_BEGIN, PRUNE_END,
    PRUNE_EVERY, PRUNE_AHEAD
};
enum { PRUNED_WEIGHT, PRUNED_BITS, PRUNED_AVERAGE };    // operands
enum { PRUNED_EACH = 8 };       // weights of a byte
#define MOST_PRUNE_STEP 1e15

// True if the train section prunes weights.
bool is_pruning(const Graph *g);
// True if n makes a mask.
bool makes_mask(const Node *n);
// True if the mask of step 0 prunes anything.
bool prunes_first_step(const Graph *g);
// True if value v is the bits of a parameter.
bool is_pruned_bits(const Graph *g, ValueId v);
// Returns the bits of each value, or NONE, in the graph's arena.
ValueId *list_bits(const Graph *g);
// Returns the shape of the bits of a parameter of this shape.
Shape shape_of_bits(Shape weight);
// True if the schedule has a new mask for this step.
bool has_mask(const Attr *attr, double step);
// Returns the number of weights of `count` that the mask of this step keeps at
// least.  Weights as small as the smallest of them stay too.
int64_t kept_weights(const Attr *attr, double step, int64_t count);

// Pruned: the zeros that training ends with, if no magnitudes are equal.
typedef struct Pruned {
    int     kernels;
    double  from;               // the step from which on there are this many
    int64_t weights, zeros;     // of the kernels
    int64_t mask_bytes;         // of the state
    int64_t whole_bytes;        // of all parameters and statistics
    int64_t packed_bytes;       // of these, if each weight of the kernels has a
                                // bit, and only those that are not 0 follow
} Pruned;
Pruned count_pruned(const Graph *g);
// Returns a sentence about them in three parts, with `space` between the parts.
const char *pruned_text(Arena *arena, const Graph *g, const char *space);

#endif
