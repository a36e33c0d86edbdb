// Schedules that follow from one mode for each forward step.
#ifndef CNNC_KEEP_MODES_H
#define CNNC_KEEP_MODES_H

#include "reverse_liveness.h"

enum RematMode {
    KEPT,                       // the results stay until their last reader
    ONCE,                       // the step is recomputed when a result is first
                                // read after the forward pass; the result then
                                // stays
    EACH_TIME,                  // the step is recomputed before each reader
};

// A value while a schedule is made: the number of readers on the stack, the
// group that makes it, or none, and its mode; `there`: it exists.
typedef struct ModeValue {
    int32_t waiting, group;
    int8_t  mode;
    bool    there, has_parts;
} ModeValue;

// The modes of all groups of steps, and the schedule that follows.
typedef struct Modes {
    const Remat *r;
    int8_t      *mode;          // of each group: enum RematMode
    int32_t     *group;         // of each step; makers of parts of one value
                                // are one group, named by its first step
    RematSchedule schedule;     // valid after modes_run
    int64_t      cost, peak;
    int64_t     *live;          // live bytes at each place of it
    int32_t     *recomputed;    // of each step: the place of its first
                                // recomputation, if any
    // Valid after modes_find_idle: values alive at the peak that its step does
    // not touch.  No step touches them from place idle_from on until idle_to,
    // which reads them.
    int32_t     *idle, *idle_from, *idle_to, idle_count;
    int32_t      capacity;      // of schedule and live
    ModeValue   *value;
    RematScan    scan;
} Modes;

// Returns modes with all steps KEPT.  Allocates from r's arena.
Modes modes_new(const Remat *r);

// Makes the schedule and computes its cost and live bytes.  False: it is longer
// than three times the steps.
bool modes_run(Modes *m);

// Finds the idle values at the first place with the peak of live bytes.
void modes_find_idle(Modes *m);

#endif
