// Marks of launches, for a trace of measured times.
#pragma once
#include <stdlib.h>
#include "interface.cuh"
#include "launch_marks.cuh"

static LaunchMarks launch_marks;

// mark_launch: marks the context's stream before or after a launch.  Without a trace it returns at
// once; a longer training step than before gets more events.
static int mark_launch(net_context *c, int step)
{
    LaunchMarks *const m = &launch_marks;
    if (!m->on) return NET_OK;
    if (m->count == m->room) {
        const size_t room = (size_t)m->room + 64;
        int *const steps = (int *)realloc(m->step, room * sizeof *steps);
        if (steps) m->step = steps;
        cudaEvent_t *const events = (cudaEvent_t *)realloc(m->event, room * sizeof *events);
        if (events) m->event = events;
        if (!steps || !events)
            return net_check(c, cudaErrorMemoryAllocation, step, "events of a trace");
        for (; m->room < (int)room; m->room++)
            TRY(net_check(c, cudaEventCreate(&m->event[m->room]), step, "cudaEventCreate"));
    }
    m->step[m->count] = step;
    return net_check(c, cudaEventRecord(m->event[m->count++], c->stream), step,
                     "cudaEventRecord");
}
