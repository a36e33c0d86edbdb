// The graph: flat arrays of nodes and values that refer to each other by index.
// A training step's graph contains forward, loss, backward and update, so that
// one liveness analysis covers all.  One node, unless it is a view, is one
// launch of the emitted file and one step of the plan.
#ifndef CNNC_IR_H
#define CNNC_IR_H

#include <stdbool.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/diag.h"

enum { NONE = -1, MAX_RANK = 5, MAX_ATTRS = 16 };
enum { MAX_BATCH = 1 << 24 };   // samples of a training step

typedef int32_t NodeId;         // index into Graph.nodes, or NONE
typedef int32_t ValueId;        // index into Graph.values, or NONE

typedef enum DType { F32, F64, F16, BF16, I32, U8, I8, DTYPE_COUNT } DType;

typedef enum Kind {
    PARAM,                      // trained: persistent
    STATISTIC,                  // running statistics: persistent, read by
                                // inference
    STATE,                      // the header, state of the optimizer and of
                                // metrics: persistent
    INPUT,                      // staging buffer of the caller's data
    ACTIVATION, GRADIENT,
    MASK,                       // kept for the gradient, in fewer bits
    WORKSPACE,                  // scratch of one node, or partial sums
    SCALAR,                     // losses and metrics
    KIND_COUNT
} Kind;

typedef enum Phase { FORWARD, RECOMPUTE, BACKWARD, UPDATE, PHASE_COUNT } Phase;

typedef enum Mode {
    TRAIN,                      // a training step
    EVAL,                       // forward as in infer, with loss and metrics
    INFER,                      // outputs alone
    MODE_COUNT
} Mode;

typedef struct Shape {
    int     rank;
    int64_t dim[MAX_RANK];      // [batch, height, width, channels] for maps
} Shape;

// An attribute of a node; the operator defines its meaning (Op.attrs).
typedef union Attr {
    int64_t i;
    double  f;
    const struct List *list;
} Attr;

typedef struct List {           // numbers that the program gives: [1, 0.5]
    int           count;
    const double *at;
} List;

// The initial contents of a persistent value.
typedef enum InitKind {
    INIT_CONSTANT,              // all are `scale`
    INIT_UNIFORM,               // in [-scale, scale]
    INIT_NORMAL,                // of mean 0 and standard deviation scale
    INIT_ORTHOGONAL,            // scale times a matrix [dim 0, rest] with
                                // orthonormal rows, or columns if those are
                                // fewer
    INIT_COPY,                  // STATE: a copy of its parameter (state_of)
    INIT_COUNT
} InitKind;

typedef struct Init {
    InitKind kind;
    double   scale;
} Init;

typedef struct Op Op;           // an operator: op.h

typedef struct Value {
    const char *name;           // unique: conv1, conv1.weight, d.conv1.weight
    Shape   shape;
    DType   dtype;
    Kind    kind;
    bool    persistent;         // keeps its contents between training steps
    bool    output;             // must survive to the last step of the program
    int32_t output_number;      // 1, 2, ... in the program's order; 0: none
    bool    marked;             // a checkpoint: it is kept, and values that
                                // lead to it are recomputed (--checkpoint)
    bool    keep_f32;           // float32: pass lower_precision leaves it
    ValueId scale;              // factor of integers; of reals: is measured
    DType   integer;            // with a scale: U8 or I8
    Pos     pos;
    NodeId  def;                // node that makes it; NONE: input, persistent
    ValueId gradient_of;        // the value it is the gradient of, or NONE
    ValueId state_of;           // STATE of a parameter: that one; else NONE
    ValueId recompute_of;       // the value that this recomputes, by a node of
                                // phase RECOMPUTE; else NONE
    Init    init;               // persistent, except the header
    int64_t classes;            // INPUT of class[.., n]: n; else 0
    bool    decayed, frozen;    // PARAM: weight decay applies; not trained
    double  rate_factor;        // PARAM: its rate is the optimizer's times this
    int32_t movers;             // STATISTIC: layers that move it in training
    int32_t first, last;        // live range in nodes; after liveness
    ValueId alias_of;           // the value whose bytes it aliases, or NONE;
                                // after share_buffers
    bool    view;               // with alias_of: the same value, not a new one
    int64_t start;              // with alias_of: its offset there, in bytes
    int64_t view_rows;          // with alias_of: a slice of `view_rows` equal
    int64_t view_stride;        // rows, view_stride bytes apart; 0: dense
    int64_t offset;             // bytes from the start of the arena; after
                                // assign_offsets.  After fuse_horizontal, the
                                // offset without fusion; NONE: unknown
} Value;

typedef struct Node {
    const Op   *op;             // NULL: deleted, until graph_compact
    int8_t      kernel;           // index into Op.parts
    Phase       phase;
    const char *name;           // unique among nodes: conv1, conv1.dgrad
    Pos         pos;            // of the call in the source
    int32_t     operand_count, result_count;
    ValueId    *operands;       // by slot of Part.operands; NONE: absent
    ValueId    *results;        // likewise Part.results
    Attr        attr[MAX_ATTRS];
    const Op   *act;            // activation fused into the epilogue, or NULL;
                                // after fuse_epilogue
    bool        fused_load;     // no launch: each reader of its result computes
                                // it on load from this node's operands
    bool        stored;         // its result could be computed on load, but is
                                // stored by a decision of fuse_prologue
    bool        in_place;       // an elided copy; after elide_copies
    bool        grouped;         // grouped with the launch of the node before
                                // it; after fuse_horizontal
} Node;

// Facts that hold of a graph.  Passes need and give them (passes.def), and
// verify() checks the invariants of each.
typedef enum Fact {
    HAS_GRADIENTS  = 1 << 0,    // backward and update are in the graph
    IS_SCHEDULED   = 1 << 1,    // node order is launch order
    IS_GROUPED     = 1 << 2,    // grouping of launches is complete
    HAS_LIFETIMES  = 1 << 3,    // Value.first and last hold
    IS_SHARED      = 1 << 4,    // Value.alias_of and view hold
    IS_PLACED      = 1 << 5,    // Value.offset holds
    FACT_COUNT     = 6
} Fact;

// The train section: how gradients become updates, and what a step takes.
typedef struct Training {
    const Op   *optimizer;      // NULL in mode infer
    Attr        optimizer_attr[MAX_ATTRS];
    int         optimizer_states;   // how many of Op.state it keeps
    Pos         optimizer_pos;
    const Op   *schedule;       // of the learning rate; NULL: it is constant
    const Op   *prune;          // makes masks of weights; NULL: there are none
    Attr        schedule_attr[MAX_ATTRS], prune_attr[MAX_ATTRS];
    Pos         schedule_pos, prune_pos;
    const struct Quantize *quantize;    // families/quantize.h, or NULL
    double      clip_value;     // limit of each element of a gradient; 0: none
    double      clip_norm;      // limit of the norm of all gradients; 0: none
    double      average;        // part of averages that stays; 0: none
    double      loss_scale;     // a power of two: gradients carry it as a
                                // factor until they are applied; 0: none
    int64_t     loss_scale_interval;    // steps until it doubles; 0: it stays
    int64_t     epochs;         // default of the trainer program
    int64_t     step_batch;     // samples of one call, which takes `batch` at a
                                // time and sums gradients until the update;
                                // 0: a batch is a training step
    int64_t     accumulate;     // calls in a training step of the trainer
                                // program; 0: the program does not say
    bool        keep_gradients; // each parameter's gradient outlives the step
} Training;

// Results of searches, which passes carry out; each copy has its own.
typedef struct Decisions {
    int64_t     split_samples;  // batch_split: samples of a slice of the batch
    int64_t     split_pixels;   // and the least pixels of the maps in slices;
                                // 0: the whole batch at once
    int64_t     whole_bytes;    // where a budget asked for slices: arena, time
    int64_t     whole_time;     // and FLOPs of the step without slices and
    int64_t     whole_flops;    // without recomputation; else 0
    const struct RematSchedule *remat_schedule; // checkpoint: the steps that
                                // are recomputed; NULL: none
    const struct Fit *settled;  // the result of the budget while slices were
                                // tried and refused; NULL: not known
    const struct RematSchedule *settled_schedule;   // and its schedule
    const struct Offloading *offloading;    // checkpoint: values in host memory
                                // from forward to backward; NULL: none
    const struct Fit *fit;      // the result of the budget, since checkpoint;
                                // NULL: there was no budget
    struct Waits {              // fuse_horizontal: launches that may wait
        bool makers;            // true: launches that make a value, too
        int  permille;          // part of the peak that waiting may fill;
                                // 0: all of it
        int  parts;             // a launch may wait with at most the peak's
                                // bytes / parts; 0: no limit
    }           waits;
    const uint8_t *prologue;    // of fuse_prologue (passes/pass.h), or NULL
    int         stored_level;   // choose_stored (passes/decide)
    bool        rounds_weights; // round_weights runs
    int64_t     least_peak;     // of decide_round_weights.h; 0: not known
    uint32_t    unfused;        // bit k: gate k, or all from 31 on, is unfused
} Decisions;

typedef struct Graph {
    Arena      *arena;
    Diag       *diag;
    const char *name;           // the net's
    Mode        mode;
    int64_t     batch;
    DType       real;           // of parameters and arithmetic: F32 or F64
    DType       map, weight;    // storage types of maps, and of parameters of
                                // rank 2 and more: real, F16 or BF16
    bool        tf32;           // products round their operands to TF32
    bool        calibrates;     // launches measure maps, which stay real
    const struct Gpu *gpu;      // the GPU of the time model (gpu_model.h);
                                // NULL: the default
    uint32_t    facts;
    Node       *nodes;
    int32_t     node_count, node_capacity;
    Value      *values;
    int32_t     value_count, value_capacity;
    ValueId     header;         // STATE u8[256]: training step, seed, rate, ...
    Training    training;       // of the train section and the command line
    Decisions   decisions;
    int         dropout_count;
    const Node *written;        // the nodes in source order, before schedule;
    int32_t     written_count;  // NULL: the nodes are in source order
    int64_t     order_peak;     // after schedule: peak of live bytes without
    int64_t     order_bound;    // the state, and a bound of any order, or 0
    int64_t     arena_bytes, state_bytes, max_live_bytes;   // assign_offsets
    bool        nameless;       // never shown: names need not be unique
    struct Names *value_names, *node_names; // unique_names.h; NULL: of the
                                            // graph's values and nodes
    const struct Places *places;    // of a graph that was read, until a pass
                                    // renumbers it; else NULL
} Graph;

// The places of the net, values and nodes in the text of a graph that was read;
// Pos of values and nodes refer to the net's source.  Line 0: no place.
typedef struct Places {
    Pos     net;
    Pos    *value, *node;       // by id
    int32_t value_capacity, node_capacity;
} Places;

#include "graph.h"

#endif
