// The pipeline: passes.def as a table, and the runner, which checks the order
// and the facts, decides, times, dumps and verifies.  Passes do none of that.
#ifndef CNNC_PASS_H
#define CNNC_PASS_H

#include "../ir/op/op.h"
#include "../ir/plan/plan.h"

enum PassId {
#define PASS(name, after, needs, gives, optional, decide, summary) PASS_##name,
#include "passes.def"
#undef PASS
    PASS_COUNT
};
#define AFTER(name) (UINT32_C(1) << PASS_##name)

typedef struct PassOptions PassOptions;

// The result of a decide function.
typedef enum PassDecision {
    PASS_RUNS,
    PASS_IS_LEFT_OUT,
    PASSES_STOP                 // after an error, or if no result can be of use
} PassDecision;

typedef enum PassOptional {
    REQUIRED,
    OPTIONAL,                   // -fno-NAME leaves it out: the same bits
    ROUNDING,                   // likewise, but sums have another order
    PLAIN                       // likewise, but the pass still runs and does
                                // the minimum that later passes need
} PassOptional;

typedef struct Pass {
    const char  *name;
    uint32_t     after;         // AFTER(...) of the passes that must have run
    uint32_t     needs, gives;  // facts
    PassOptional optional;
    // Tries alternatives on copies of the graph and sets g->decisions; NULL:
    // there is nothing to decide.  Called if the pass is enabled.
    PassDecision (*decide)(Graph *g, const PassOptions *o);
    const char  *summary;       // one line, for --passes
    void       (*run)(Graph *g, const PassOptions *o);
} Pass;
extern const Pass passes[PASS_COUNT];

#define PASS(name, after, needs, gives, optional, decide, summary) \
    void pass_##name(Graph *g, const PassOptions *o);
#include "passes.def"
#undef PASS

// Returns the pass of this name, with hyphens or underscores, or NULL.
const Pass *find_pass(const char *name, size_t length);

// How a training step's recomputations are chosen.
typedef enum CheckpointKind {
    CHECKPOINT_AUTO,            // by the budget; without one, by the program's
                                // marks
    CHECKPOINT_ELEMENTWISE,     // likewise, but never launches with GEMMs
    CHECKPOINT_MARKED,          // by the program's marks, whatever the budget
    CHECKPOINT_EVERY,           // between every n-th cut of the net, likewise
    CHECKPOINT_OFF,             // none
    CHECKPOINT_COUNT
} CheckpointKind;
extern const char *const checkpoint_names[CHECKPOINT_COUNT];

typedef struct Checkpoint {
    CheckpointKind kind;
    int64_t        every;       // for CHECKPOINT_EVERY: keep the value at every
                                // n-th cut; at least 1
} Checkpoint;
// Returns the option as on the command line: "marked", "every 4".
const char *checkpoint_text(Arena *arena, const Checkpoint *checkpoint);

// --prefer: the choice where fewer bytes take more time.
typedef enum Prefer {
    PREFER_MEMORY,              // the smallest arena
    PREFER_BALANCED,            // less time, if the arena grows by at most 5 %
    PREFER_TIME,                // the least time
    PREFER_COUNT
} Prefer;
extern const char *const prefer_names[PREFER_COUNT];

// How the value of a node that could be computed on load is made.
typedef enum PrologueChoice {
    ALL_ON_LOAD    = 0,
    STORE_FORWARD  = 1 << 0,    // stored for its forward readers
    STORE_BACKWARD = 1 << 1,    // made a second time for the backward ones
    STORE_SHARED   = 1 << 2,    // stored once for all of them
} PrologueChoice;

struct PassOptions {
    bool        enabled[PASS_COUNT];
    const int  *order;          // pass numbers, each once, for tests of orders;
                                // not checked.  NULL: the table's order
    Checkpoint  checkpoint;
    Prefer      prefer;         // without a budget; with one, the least time
                                // that fits, unless it is PREFER_MEMORY
    const char *dump;           // a pass's name, "all", or NULL
    const char *dump_dir;       // files NN-<pass>.ir instead of standard error
    const char *stop_after;     // a pass's name, or NULL
    int64_t     budget;         // limit of the arena in bytes; 0: none
    bool        smallest;       // instead of a budget: take the smallest arena
                                // that a short search finds
    int64_t     beside;         // the largest arena of the file's other
                                // programs, in bytes, for the message of a
                                // refusal; 0: there is none
    int64_t     split_samples;  // --split, as in Graph; 0: as a budget asks
    int64_t     split_pixels;
    int64_t     most_time;      // picoseconds, with a budget: skip schedules
                                // that take as long; 0: no limit
    int64_t     most_bytes;     // with a budget that nothing fits in: larger
                                // arenas are of no use; 0: no limit
    bool        offload;        // a budget may offload maps
    bool        quick;          // short search for a budget, for sizes alone; a
                                // whole search finds its schedules too
    bool        near;           // measured arenas may exceed plans, mostly by
                                // at most 1/1000
    bool        measured;       // only sizes are of use: the graph is verified
                                // once, after the last pass
    bool        trial;          // sizes are only compared: placement searches
                                // are short
    struct Known *known;        // results of searches, for all graphs of one
                                // compilation.  NULL: of one graph; run_passes
                                // then makes it
    bool        time;           // print times to standard error
    struct PlanSize *refused;   // receives the size of a plan over the budget
                                // (frontend/driver/run_pipeline.h); or NULL
};

void pass_options_default(PassOptions *o, int level);   // -O0, -O1, -O2
// -f<name>, -fno-<name>: false if there is no such optional pass.
bool pass_options_set(PassOptions *o, const char *name, bool on);

// True if the arena is limited, by a budget or by `smallest`.
bool has_limit(const PassOptions *o);
// True if that limit chooses the recomputations of a training step.
bool searches(const PassOptions *o);
// Graphs of more nodes have a brief exact search for offsets.
enum { MANY_NODES = 4096 };
// True if g is a large graph whose budget is refused.  Its plan takes little
// time; another search with its size as a budget finds no larger one.
bool is_only_named(const Graph *g);

// Returns the name of the first pass in the order of the options that comes
// before one of its `after`, or NULL.
const char *pass_too_early(const PassOptions *o);
// Returns the place of a pass in the options' order, or the pass at a place.
int pass_place(const PassOptions *o, int number);
int pass_at(const PassOptions *o, int place);

// Runs one pass, or leaves it out; sets the facts that it gives.  Returns false
// if it was left out and gives no facts.
bool run_pass(Graph *g, const PassOptions *o, int number, bool enabled);

// Runs the enabled passes over a forward graph.  Returns false if stop_after
// ended it early; the graph is then whole but may have no offsets.  Also
// returns false after an error: nothing fits in the budget, and the graph has
// the smallest plan found.
bool run_passes(Graph *g, const PassOptions *o);

#endif
