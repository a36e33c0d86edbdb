// Schedules of the simpler kind: what to do of each forward step's results.
#ifndef CNNC_KEEP_MODES_H
#define CNNC_KEEP_MODES_H

#include "reverse_liveness.h"

enum RematMode {
    KEPT,                       // what the step makes stays until it is read
                                // for the last time
    ONCE,                       // after the forward pass it runs again when
                                // that is first read, and that stays
    EACH_TIME,                  // it runs again before each that reads it
};

// A value while a schedule is made: how many that are to run read it, the group
// that makes it, or none, and its mode; whether it is there to be read.
typedef struct ModeValue {
    int32_t waiting, group;
    int8_t  mode;
    bool    there, has_parts;
} ModeValue;

// The modes of all groups of steps, and the schedule that they are.
typedef struct Modes {
    const Remat *r;
    int8_t      *mode;          // of each group: enum RematMode
    int32_t     *group;         // of each step: those that make parts of one
                                // value are one, named by its first step
    RematSchedule schedule;     // since modes_run
    int64_t      cost, peak;
    int64_t     *live;          // bytes alive at each place of it
    int32_t     *again;         // of each step: where it first runs again, if
                                // it does
    // Since modes_find_idle: values alive at the fullest place that its step
    // does not touch, and the places before and behind it that do.
    int32_t     *idle, *idle_from, *idle_to, idle_count;
    int32_t      capacity;      // of schedule and live
    ModeValue   *value;
    RematScan    scan;
} Modes;

// All steps KEPT.  What it takes lies in r's arena.
Modes modes_new(const Remat *r);

// Makes the schedule, and says what it costs and holds.  False: it is longer
// than three times the steps.
bool modes_run(Modes *m);

// Finds what lies unread where the most bytes are alive, for the first time.
void modes_find_idle(Modes *m);

#endif
