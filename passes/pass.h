// The pipeline: passes.def as a table, and the runner that checks needs,
// times, dumps and verifies.  Passes do none of that.
#ifndef CNNC_PASS_H
#define CNNC_PASS_H

#include "../ir/op/op.h"
#include "../ir/plan/plan.h"

enum PassId {
#define PASS(name, needs, gives, breaks, optional, what) PASS_##name,
#include "passes.def"
#undef PASS
    PASS_COUNT
};

typedef struct Pass {
    const char *name;
    uint32_t    needs, gives, breaks;   // facts
    bool        optional;               // -fno-<name> may leave it out
    const char *what;                   // one line, for --passes
    void      (*run)(Graph *g);
} Pass;
extern const Pass passes[PASS_COUNT];
// By its name, with hyphens or underscores; NULL: there is none.
const Pass *find_pass(const char *name, size_t length);

// What a training step computes again.
typedef enum CheckpointKind {
    CHECKPOINT_AUTO,            // what the budget asks for; without a budget,
                                // what the program marks
    CHECKPOINT_ELEMENTWISE,     // likewise, but no launch with matrix products
    CHECKPOINT_MARKED,          // what the program marks, whatever the budget
    CHECKPOINT_EVERY,           // all between some of the net's cuts, likewise
    CHECKPOINT_OFF,             // nothing
    CHECKPOINT_COUNT
} CheckpointKind;
extern const char *const checkpoint_names[CHECKPOINT_COUNT];

typedef struct Checkpoint {
    CheckpointKind kind;
    int64_t        every;       // of CHECKPOINT_EVERY: the value at each so
                                // many-th cut is kept; at least 1
} Checkpoint;
// As the command line says it: "marked", "every 4".
const char *checkpoint_text(Arena *arena, const Checkpoint *checkpoint);

typedef struct PassOptions {
    bool        enabled[PASS_COUNT];
    Checkpoint  checkpoint;
    const char *dump;           // a pass's name, "all", or NULL
    const char *dump_dir;       // files NN-<pass>.ir instead of standard error
    const char *stop_after;     // a pass's name, or NULL
    int64_t     budget;         // bytes that the arena may have; 0: any
    int64_t     beside;         // the largest arena of the file's other
                                // programs, which a refusal names if no other
                                // is larger; 0: there is none
    int64_t     split_samples;  // --split: as in Graph; 0: as a budget asks
    int64_t     split_pixels;
    int64_t     most_time;      // picoseconds, of a budget: schedules that take
                                // as long are not looked at; 0: any may
    int64_t     most_bytes;     // of a budget that nothing fits in: an arena
                                // with more is of no use; 0: any is
    bool        offload;        // for that, maps may go to host memory
    bool        quick;          // a budget's search is short: its sizes count,
                                // and whatever it finds a whole one has too
    bool        near;           // arenas that are measured may be larger than
                                // plans, mostly by a thousandth at most
    bool        trial;          // sizes are compared: searches for addresses
                                // are short
    struct Known *known;        // results of searches, of all graphs that the
                                // answer takes; NULL: of one graph alone
    bool        time;           // print where the time went, to standard error
    struct PlanSize *refused;   // takes what a plan over the budget comes to
                                // (frontend/driver/run_pipeline.h); NULL:
                                // nobody asks
} PassOptions;

void pass_options_default(PassOptions *o, int level);   // -O0, -O1, -O2
// -f<name>, -fno-<name>: false if there is no such optional pass.
bool pass_options_set(PassOptions *o, const char *name, bool on);

// Whether the budget chooses what a training step computes again.
bool searches(const PassOptions *o);

// The arena that a graph which schedule has ordered would have, if checkpoint
// made this schedule of it; NULL: without one.  If it is above `limit`, what is
// returned may be less than the arena, but is above it too.  Launches that are
// put together take no more, but may take less.
int64_t arena_after(const Graph *g, const PassOptions *o,
                    const struct RematSchedule *schedule, int64_t limit);

// Such a graph, in arena, as it is after that, in the order that schedule finds
// for it.
Graph *ordered_with(const Graph *g, const PassOptions *o,
                    const struct RematSchedule *schedule, Arena *arena);
// A graph that was ordered with its schedule, through liveness and
// share_buffers, its launches together or apart; in arena.
Graph *shared_after(const Graph *ordered, const PassOptions *o, bool together,
                    Arena *arena);
// Plans such a one; its arena, limit as above.
int64_t arena_of_shared(Graph *shared, const PassOptions *o, int64_t limit);
// One with these values in host memory, in arena; and its arena, limit as
// above.
Graph *offloaded_with(const Graph *ordered, const PassOptions *o,
                      const struct Offloading *offloading, Arena *arena);
int64_t arena_offloaded(const Graph *offloaded, const PassOptions *o,
                        int64_t limit);

// The most bytes alive at once in g after the enabled passes from number
// `first` on: no plan is smaller.  Nothing is computed again or put together,
// and g is done with.
int64_t least_from(Graph *g, const PassOptions *o, int first);

// Runs the enabled passes over a forward graph.  Returns false if stop_after
// ended it early (the graph is then whole, but may be unplaced), or after an
// error: nothing fits in the budget, and the graph, placed, is the smallest
// that was found.
bool run_passes(Graph *g, const PassOptions *o);

#endif
