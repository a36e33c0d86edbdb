// The plan: which step touches which buffer, and where every buffer lies.  It
// is all that the checker and the emitter's memory table need to know.
#ifndef CNNC_PLAN_H
#define CNNC_PLAN_H

#include "../ir.h"

typedef struct PlanStep {
    const char *op, *name;      // "conv.dgrad", "conv1.dgrad"
    int         more_count;     // nodes in the same launch
    const char **more;          // their names
    const char *kernel;         // NULL: it calls a library, or is a test's
    Phase       phase;
    int32_t     line;
    int64_t     flops, moved;   // operations; bytes to and from device memory
    int64_t     time;           // picoseconds in the model of the plan's GPU
    int64_t     host;           // where in host memory what it copies lies; -1:
                                // it begins no such copy
    int         read_count, write_count, in_place_count;
    int32_t    *reads, *writes; // buffer ids, each once
    int32_t   (*in_place)[2];   // written, read
} PlanStep;

typedef struct PlanBuffer {
    const char *name;
    Kind        kind;
    DType       dtype;
    Shape       shape;
    int64_t     bytes, offset;
    int32_t     first, last;    // steps
    bool        persistent, output, view;
    bool        fused_load;     // computed where it is read: it has no place,
                                // no life and no step that touches it
    int32_t     alias_of;       // buffer id or NONE
    int64_t     rows, stride;   // a slice of what it lies in: so many rows of
                                // equal size, and bytes from one to the next,
                                // offset is the first's; 0: dense
    int32_t     printed_id;     // NONE: computed on load, or a view that no
                                // step touches: left out of what is printed
    int32_t     line;
} PlanBuffer;

typedef struct Plan {
    const char *net;
    const char *precision, *gpu;    // as the command line names them
    int64_t     budget;         // bytes that were given; 0: none
    int64_t     waiting;        // picoseconds that launches wait for copies
    Mode        mode;
    int         batch_steps;    // the first so many are run once a batch, the
                                // rest once an update; 0: all run once
    int64_t     batch, arena_bytes, state_bytes, max_live_bytes;
    int64_t     host_bytes;     // of host memory that copies need; 0: none
    int         step_count, buffer_count;
    PlanStep   *steps;
    PlanBuffer *buffers;
} Plan;

// plan.c: the plan of a graph that is placed (a view is no step; buffers are
// the graph's values, in order).  Bytes alive at each step are counted anew.
Plan *plan_of(const Graph *g);

// live_bytes.c: the bytes alive at each step, padded; one more is 0.  In arena.
int64_t *plan_live(Arena *arena, const Plan *plan);
// The first step with the most of them; 0 where there is none.
int plan_fullest(const Plan *plan, const int64_t *live);
// What is alive at a step, most bytes first: which buffer holds the bytes then,
// of all that lie in one another the last to come to be.  Returns how many.
typedef struct PlanLive {
    int32_t holder;
    int64_t bytes;              // padded
} PlanLive;
int plan_alive_at(Arena *arena, const Plan *plan, int step, PlanLive **alive);

// verify_plan.c: checks a plan, trusting its steps alone; shares no code with
// the planner.  Returns NULL if it is sound, else what is wrong, in arena.
const char *verify_plan(Arena *arena, const Plan *plan);

// verify_program.c: holds the plan against the graph it was made from, as the
// graph was before schedule, and then checks it as verify_plan does.  This is
// what every plan that the compiler makes must pass.
const char *verify_program(Arena *arena, const Graph *g, const Plan *plan);

// print_plan.c: --emit plan and --emit plan-csv (MiniMalloc's format).
void plan_print_json(const Plan *plan, FILE *out);
void plan_print_csv(const Plan *plan, FILE *out);

#endif
