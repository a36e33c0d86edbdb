// The plan: the steps, the buffers that each touches, and the address of every
// buffer.  The checker and the emitter's memory table depend only on the plan.
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
    int64_t     host;           // offset in host memory of its copy; -1: it
                                // starts no copy
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
    bool        fused_load;        // computed on load: it has no address, no
                                // lifetime and no step that touches it
    int32_t     alias_of;       // buffer id or NONE
    int64_t     rows, stride;   // a slice of its alias: the number of equal
                                // rows, and the bytes from one to the next;
                                // offset is the first row's; 0: dense
    int32_t     printed_id;     // NONE: not printed, since it is inlined or a
                                // view that no step touches
    int32_t     line;
} PlanBuffer;

typedef struct Plan {
    const char *net;
    const char *precision, *gpu;    // as the command line names them
    int64_t     budget;         // bytes; 0: none
    int64_t     waiting;        // picoseconds that launches wait for copies
    Mode        mode;
    int         batch_steps;    // number of steps run for each batch; the rest
                                // run once for each update; 0: all run once
    int64_t     batch, arena_bytes, state_bytes, max_live_bytes;
    int64_t     host_bytes;     // of host memory that copies need; 0: none
    int         step_count, buffer_count;
    PlanStep   *steps;
    PlanBuffer *buffers;
} Plan;

// plan.c: returns the plan of a placed graph.  Views are no steps; buffers are
// the graph's values, in order.  Counts live bytes independently.
Plan *plan_of(const Graph *g);

// live_bytes.c: true if b is an input in the caller's memory, whose offset is
// after the end of the arena.
bool buffer_is_given(const PlanBuffer *b);
// The live bytes of each step, padded, and a final 0; in arena.
int64_t *plan_live(Arena *arena, const Plan *plan);
// Returns the first step with the most live bytes; 0 if there is none.
int plan_fullest(const Plan *plan, const int64_t *live);
// Lists the live roots at a step, most bytes first, with the buffer whose value
// they hold: the alias made last.  Returns their number.
typedef struct PlanLive {
    int32_t holder;
    int64_t bytes;              // padded
} PlanLive;
int plan_alive_at(Arena *arena, const Plan *plan, int step, PlanLive **alive);

// verify_plan.c: checks a plan from its steps alone, and shares no code with
// the planner.  Returns NULL if it is sound, otherwise the fault, in arena.
const char *verify_plan(Arena *arena, const Plan *plan);

// verify_program.c: checks the plan against the graph, in the state before pass
// schedule, and then as verify_plan does.  Every plan that the compiler makes
// must pass.
const char *verify_program(Arena *arena, const Graph *g, const Plan *plan);

// print_plan.c: --emit plan, and --emit plan-csv in MiniMalloc's format.
void plan_print_json(const Plan *plan, FILE *out);
void plan_print_csv(const Plan *plan, FILE *out);

// print_trace.c: --emit trace.  The launches of a step in sequence, in the
// time of the model, and the live bytes of the arena.
void plan_print_trace(Arena *arena, const Plan *plan, FILE *out);

#endif
