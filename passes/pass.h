// The pipeline: passes.def as a table, and the runner that checks the order and
// the facts, decides, times, dumps and verifies.  Passes do none of that.
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

// The answer of a decide function.
typedef enum PassDecision {
    PASS_RUNS,
    PASS_IS_LEFT_OUT,
    PASSES_STOP                 // after an error, or since no result is of use
} PassDecision;

typedef enum PassOptional {
    REQUIRED,
    OPTIONAL,                   // -fno-NAME leaves it out
    PLAIN                       // likewise; it still runs, and does the least
                                // that later passes need
} PassOptional;

typedef struct Pass {
    const char  *name;
    uint32_t     after;         // AFTER(...) of the passes that must have run
    uint32_t     needs, gives;  // facts
    PassOptional optional;
    // Tries ways to run it on copies of the graph, and sets g->decisions; NULL:
    // it runs as it is.  Called where the pass is enabled.
    PassDecision (*decide)(Graph *g, const PassOptions *o);
    const char  *summary;       // one line, for --passes
    void       (*run)(Graph *g, const PassOptions *o);
} Pass;
extern const Pass passes[PASS_COUNT];

#define PASS(name, after, needs, gives, optional, decide, summary) \
    void pass_##name(Graph *g, const PassOptions *o);
#include "passes.def"
#undef PASS

// The pass with a name, which may have hyphens or underscores; NULL: none.
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

struct PassOptions {
    bool        enabled[PASS_COUNT];
    const int  *order;          // the passes by number, each once, for tests of
                                // orders, and not checked; NULL: the table's
    Checkpoint  checkpoint;
    const char *dump;           // a pass's name, "all", or NULL
    const char *dump_dir;       // files NN-<pass>.ir instead of standard error
    const char *stop_after;     // a pass's name, or NULL
    int64_t     budget;         // bytes that the arena may have; 0: any
    bool        smallest;       // instead of a budget: the schedule with the
                                // smallest arena that a short search finds
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
                                // answer takes; NULL: of one graph alone.
                                // While passes run it is never NULL
    bool        time;           // print where the time went, to standard error
    struct PlanSize *refused;   // takes what a plan over the budget comes to
                                // (frontend/driver/run_pipeline.h); NULL:
                                // nobody asks
};

void pass_options_default(PassOptions *o, int level);   // -O0, -O1, -O2
// -f<name>, -fno-<name>: false if there is no such optional pass.
bool pass_options_set(PassOptions *o, const char *name, bool on);

// True if the arena is limited, by a budget or by `smallest`.
bool has_limit(const PassOptions *o);
// True if that limit chooses what a training step recomputes.
bool searches(const PassOptions *o);

// Returns the name of the first pass in `order` (all passes by number, each
// once) that comes before one of its `after`, or NULL.
const char *pass_too_early(const int *order);
// The place of a pass in the order of the options, and the pass at a place.
int pass_place(const PassOptions *o, int number);
int pass_at(const PassOptions *o, int place);

// Runs one pass, or leaves it out; sets the facts that it gives.  Returns false
// if it was left out without a trace.
bool run_pass(Graph *g, const PassOptions *o, int number, bool enabled);

// Runs the enabled passes over a forward graph.  Returns false if stop_after
// ended it early (the graph is then whole, but may be unplaced), or after an
// error: nothing fits in the budget, and the graph, placed, is the smallest
// that was found.
bool run_passes(Graph *g, const PassOptions *o);

#endif
