// What a chain of stages keeps and what it computes again: the cheapest
// schedule within so many bytes, by dynamic programming over segments of the
// chain and bytes.  Nothing here knows of graphs.
//
//   stages       0 1 2, each reads the map before it: m, m0, m1
//   schedules   way 0, way 1, turn 2, back 1, back 0          all is kept
//                keep 0, drop 1, turn 2, keep 0, turn 1, turn 0
//
// The problem is that of Beaumont, Eyraud-Dubois, Herrmann, Joly and Shilova,
// Optimal checkpointing for heterogeneous chains (arXiv 1911.13214): a stage
// runs for its output alone and loses its input or keeps it (their F_none and
// F_ck), or in a way that its backward run can follow (F_all).  Beyond that, a
// stage has several ways, which keep more or less; a backward run need not
// read its stage's input or output, which is then gone as soon as nobody else
// reads it; and where the backward run follows at once, both are one run, a
// turn, that need not make the output.
//
// Schedules are those that
// * keep: what is kept for a backward run stays until then.  A stage that has
//   run in a way does not run forward again, and a map that is kept stays until
//   its stage has run in a way that does not read it, backward, or as a turn;
// * finish what is last: a stage runs forward only while there is no map behind
//   its input, and nothing that a later stage keeps.
//
// chain.c         costs and bytes of a schedule; the choices there are
// chain_table.c   what each segment costs within so many bytes
// chain_find.c    schedules, from a table
#ifndef CNNC_CHAIN_H
#define CNNC_CHAIN_H

#include <stdbool.h>
#include "../../ir/base/arena.h"

// The most bytes alive at once in a run of a stage, of what the run itself
// reads, makes and keeps, gradients included; what else is alive comes on top.
typedef struct ChainPeak {
    int64_t held;               // without the stage's input, which stays
    int64_t last;               // with it, if it ends in this run: what is made
                                // may then lie over it
} ChainPeak;

// A way to run forward that the backward run can follow later.
typedef struct ChainWay {
    int64_t   forward, backward;        // costs
    int64_t   kept;             // bytes between the two runs, without the
                                // stage's input and output
    bool      reads_input, reads_output;        // the backward run does
    // in_forward.last counts where the backward run does not read the input,
    // in_backward.last where it does.  Forward runs have no gradient.
    ChainPeak in_forward, in_backward;
} ChainWay;

// Forward and backward at once, from the stage's input and the gradient of its
// output to that of its input.
typedef struct ChainTurn {
    int64_t   cost;
    ChainPeak peak;
} ChainTurn;

typedef struct ChainStage {
    int64_t    output, gradient;        // bytes of its map and of its gradient
    int64_t    cost;            // of a run for the output alone
    ChainPeak  peak;            // of that run
    int32_t    way_count, turn_count;   // of turns at least one
    ChainWay  *ways;
    ChainTurn *turns;
} ChainStage;

// The last stage only turns: it makes the loss, has no ways, and its map and
// costs count for nothing; its gradient is there from the start.  The chain's
// input is there from the start to the end and in no count of bytes.
typedef struct Chain {
    int32_t     count;
    ChainStage *stages;
} Chain;

// A bug() if a number is negative, a run has fewer bytes than what it leaves
// behind, or costs are so large that a sum of them is not exact in a double.
void chain_check(const Chain *c);

// ---- schedules -------------------------------------------------------------

typedef enum ChainRun {
    CHAIN_DROP,                 // for the output alone; the input is gone
    CHAIN_KEEP,                 // for the output alone; the input stays
    CHAIN_WAY, CHAIN_TURN, CHAIN_BACK
} ChainRun;

typedef struct ChainOp {
    ChainRun run;
    int32_t  stage;
    int32_t  way;               // or the turn; of CHAIN_BACK as it ran forward
} ChainOp;

typedef struct ChainSchedule {
    int32_t  count, capacity;
    ChainOp *ops;
} ChainSchedule;

// The sum of the runs' costs, and the most bytes alive at once.
int64_t chain_cost(const Chain *c, const ChainSchedule *p);
int64_t chain_peak(const Chain *c, const ChainSchedule *p);

// ---- the table --------------------------------------------------------------

// Where sizes are no multiples of the table's unit.
typedef enum ChainRounding {
    CHAIN_UP,                   // costs that some schedule has
    CHAIN_DOWN                  // costs that no schedule is below
} ChainRounding;

// Costs of a segment by capacity, in units: none below low, cost[i] from
// low + i, cost[high - low] from high on.
typedef struct ChainRow {
    int32_t low, high;
    double *cost;
} ChainRow;

// Costs of all segments of a chain.  A segment s..t begins with the map before
// s and the gradient of t's map, and ends with the gradient of the former.  Its
// input is lent, and not counted, or its own, counted, and gone at the end.
typedef struct ChainTable {
    const Chain  *chain;
    int64_t       unit;         // bytes
    int32_t       columns;      // capacities: 0 to columns - 1 units
    ChainRounding rounding;
    bool          is_exact;     // all sizes are multiples of the unit
    int64_t       work;         // sums that it took
    int64_t       bytes;        // of its costs
    int64_t       enough;       // bytes, exact: more make nothing cheaper
    // [its own input][s * count + t]
    ChainRow     *rows[2];
    int64_t      *least[2];     // bytes, exact: with less there is no schedule
    double       *cheapest;     // cost if bytes do not matter
} ChainTable;

// The table for capacities up to `largest` bytes in at most so many columns, as
// few as can be; columns <= 0: as many as take some seconds and 400 MB.  Of n
// stages it takes up to columns * n^3 / 6 sums and 4 * columns * n^2 bytes from
// the arena, twice that if ways read outputs.
ChainTable *chain_table(Arena *arena, const Chain *c, int64_t largest,
                        int32_t columns, ChainRounding rounding);

// The smallest capacity, in bytes, that has a schedule.
int64_t chain_least(const ChainTable *t);
// The least cost within so many bytes, to the table's rounding; INT64_MAX if
// the table has none.  More bytes never cost more.  Rounded down, it holds up
// to the table's largest capacity.
int64_t chain_table_cost(const ChainTable *t, int64_t capacity);

// A schedule within so many bytes; false if there is none.  Of an exact table
// it is the cheapest.  Of one rounded up it is no dearer than chain_table_cost,
// but that for fewer bytes may be cheaper.  A table rounded down is no guide.
bool chain_find(Arena *arena, const ChainTable *t, int64_t capacity,
                ChainSchedule *p);

// ---- what the files share ---------------------------------------------------

// One thing that a segment can begin with: need bytes must be there, and `held`
// of them are taken while what follows runs.
typedef struct ChainChoice {
    int64_t cost, need, held;
    bool    owns;               // the segment that follows: its input
} ChainChoice;

// Turn i of segment s..s; way i of s, before s + 1..t.
ChainChoice chain_turn(const Chain *c, bool owns, int32_t s, int32_t i);
ChainChoice chain_way(const Chain *c, bool owns, int32_t s, int32_t t,
                      int32_t i);
// Runs for the output alone up to the map before `at`, for at..t to follow and
// then s..at - 1.  Called for each `at` from s + 1 on, in turn, with the choice
// before; a choice of zeros first.
ChainChoice chain_split(const Chain *c, bool owns, int32_t s, int32_t t,
                        int32_t at, ChainChoice before);

#endif
