// The places of launches in time, in a program of cnnc --main --trace.
#pragma once
#include <cuda_runtime.h>

// LaunchMarks: an event before and one after each launch of a traced training step.
struct LaunchMarks {
    bool on;
    int count, room;            // marks since the training step began; events
    int *step;                  // the launch's number in the plan, for each mark
    cudaEvent_t *event;
};
