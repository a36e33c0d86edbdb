// Recomputation in a chain of stages: the cheapest schedule within a number of
// bytes, by dynamic programming over segments of the chain and bytes.
// Independent of graphs.
//
//    stages       0 1 2, each reads the map before it: m, m0, m1
//    schedules   way 0, way 1, turn 2, back 1, back 0          all is kept
//                 keep 0, drop 1, turn 2, keep 0, turn 1, turn 0
//
// The problem is that of Beaumont, Eyraud-Dubois, Herrmann, Joly and Shilova,
// Optimal checkpointing for heterogeneous chains (arXiv 1911.13214).  A stage
// may run for its output alone, and drop or keep its input (F_none and F_ck of
// the paper).  Or it runs in a way that its backward run can follow (F_all).
// Three points go beyond the paper.  A stage has several ways, which keep more
// or less.  A backward run need not read its stage's input or output, which
// then dies with its last other reader.  A turn runs forward and backward at
// once, and need not make the output.
//
// Schedules have two properties:
//
// * Persistence: a kept value stays until its backward run.  A stage that has
//   run in a way has no second forward run.  A kept map stays until its stage
//   has run in a way that does not read it, backward, or as a turn.
// * The end first: a stage runs forward only while no map after its input
//   exists and no later stage keeps anything.
//
// chain.c         costs and bytes of a schedule; choices
// chain_table.c   the cost of each segment by capacity
// chain_find.c    schedules, from a table
#ifndef CNNC_CHAIN_H
#define CNNC_CHAIN_H

#include <stdbool.h>
#include "../../ir/base/arena.h"

// The peak of a stage's run in bytes: the values that the run reads, makes and
// keeps, gradients included.  Other live values are not counted.
typedef struct ChainPeak {
    int64_t held;               // without the stage's input, which stays
    int64_t last;               // with the input, if it dies in this run:
                                // results may then overwrite it
} ChainPeak;

// A way to run forward that the backward run can follow later.
typedef struct ChainWay {
    int64_t   forward, backward;        // costs
    int64_t   kept;             // bytes between the two runs, without the
                                // stage's input and output
    bool      reads_input, reads_output;        // of the backward run
    // in_forward.last is valid if the backward run does not read the input,
    // in_backward.last if it does.  Forward runs have no gradient.
    ChainPeak in_forward, in_backward;
} ChainWay;

// Forward and backward in one run, from the stage's input and the gradient of
// its output to the gradient of its input.
typedef struct ChainTurn {
    int64_t   cost;
    ChainPeak peak;
} ChainTurn;

typedef struct ChainStage {
    int64_t    output, gradient;        // bytes of its map and of its gradient
    int64_t    cost;            // of a run for the output alone
    ChainPeak  peak;            // of that run
    int32_t    way_count, turn_count;   // at least one turn
    ChainWay  *ways;
    ChainTurn *turns;
} ChainStage;

// The last stage only turns: it makes the loss, has no ways, and its output and
// cost are not used.  Its gradient is alive from the start.  The chain's input
// is alive throughout and in no count of bytes.
typedef struct Chain {
    int32_t     count;
    ChainStage *stages;
} Chain;

// Reports a bug() if a number is negative, or a run has fewer bytes than it
// leaves alive.  The sum of costs must be exact in a double.
void chain_check(const Chain *c);

// ---- schedules -------------------------------------------------------------

typedef enum ChainRun {
    CHAIN_DROP,                 // for the output alone; the input dies
    CHAIN_KEEP,                 // for the output alone; the input stays
    CHAIN_WAY, CHAIN_TURN, CHAIN_BACK
} ChainRun;

typedef struct ChainOp {
    ChainRun run;
    int32_t  stage;
    int32_t  way;               // or the turn; for CHAIN_BACK the way of the
                                // forward run
} ChainOp;

typedef struct ChainSchedule {
    int32_t  count, capacity;
    ChainOp *ops;
} ChainSchedule;

// Returns the sum of the runs' costs; the peak of live bytes.
int64_t chain_cost(const Chain *c, const ChainSchedule *p);
int64_t chain_peak(const Chain *c, const ChainSchedule *p);

// ---- the table --------------------------------------------------------------

// The direction of rounding for sizes that are no multiples of the table's
// unit.
typedef enum ChainRounding {
    CHAIN_UP,                   // costs are reached by some schedule
    CHAIN_DOWN                  // costs are lower bounds
} ChainRounding;

// Costs of a segment by capacity, in units: no schedule below low, cost[i] at
// low + i, and cost[high - low] from high on.
typedef struct ChainRow {
    int32_t low, high;
    double *cost;
} ChainRow;

// Costs of all segments of a chain.  Segment s..t starts with the map before s
// and the gradient of t's map, and ends with the gradient of the map before s.
// Its input is borrowed and not counted, or owned, counted and dead at the end.
typedef struct ChainTable {
    const Chain  *chain;
    int64_t       unit;         // bytes
    int32_t       columns;      // capacities: 0 to columns - 1 units
    ChainRounding rounding;
    bool          is_exact;     // all sizes are multiples of the unit
    int64_t       work;         // number of sums computed
    int64_t       bytes;        // of the costs
    int64_t       enough;       // bytes, exact: more do not lower the cost
    // [owns its input][s * count + t]
    ChainRow     *rows[2];
    int64_t      *least[2];     // bytes, exact: a schedule needs at least these
    double       *cheapest;     // cost without a limit of bytes
} ChainTable;

// Returns the table for capacities up to `largest` bytes, with the fewest
// columns, at most `columns`; columns <= 0: as many as take some seconds and
// 400 MB.  For n stages it computes up to columns * n^3 / 6 sums.  It takes 4 *
// columns * n^2 bytes from the arena, or twice that if ways read outputs.
ChainTable *chain_table(Arena *arena, const Chain *c, int64_t largest,
                        int32_t columns, ChainRounding rounding);
// Likewise in two steps, so that several tables share the first: the part that
// depends on no capacity, for chain_least and `enough`.
ChainTable *chain_bounds(Arena *arena, const Chain *c);
ChainTable *chain_table_of(Arena *arena, const ChainTable *bounds,
                           int64_t largest, int32_t columns,
                           ChainRounding rounding);

// Returns the smallest capacity, in bytes, that has a schedule.
int64_t chain_least(const ChainTable *t);
// Returns the least cost within `capacity` bytes, to the table's rounding;
// INT64_MAX if the table has none.  More bytes never cost more.  Rounded down,
// it is a bound up to the table's largest capacity.
int64_t chain_table_cost(const ChainTable *t, int64_t capacity);

// Finds a schedule within `capacity` bytes; false if there is none.  From an
// exact table it is the cheapest.  From one rounded up it costs at most
// chain_table_cost, but one for fewer bytes may be cheaper.  A table rounded
// down gives no guarantee.
bool chain_find(Arena *arena, const ChainTable *t, int64_t capacity,
                ChainSchedule *p);

// ---- shared by the files ----------------------------------------------------

// One way to begin a segment: it needs `need` bytes, and `held` of them stay
// taken while the rest of the segment runs.
typedef struct ChainChoice {
    int64_t cost, need, held;
    bool    owns;               // the rest of the segment owns its input
} ChainChoice;

// Returns turn i of segment s..s; way i of s, followed by s + 1..t.
ChainChoice chain_turn(const Chain *c, bool owns, int32_t s, int32_t i);
ChainChoice chain_way(const Chain *c, bool owns, int32_t s, int32_t t,
                      int32_t i);
// Returns the choice to run stages for their output alone up to the map before
// `at`, followed by at..t and then s..at - 1.  Call it for at = s + 1, s + 2,
// ...  in turn; `before` is the previous choice, at first zeros.
ChainChoice chain_split(const Chain *c, bool owns, int32_t s, int32_t t,
                        int32_t at, ChainChoice before);

#endif
