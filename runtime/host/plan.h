// The plans of CNNC_HOST_PLAN, step by step.
#ifndef CNNC_HOST_PLAN_H
#define CNNC_HOST_PLAN_H

#include <stddef.h>
#include <string>
#include <vector>

// A range of the arena's bytes.
struct Bytes {
    size_t offset, bytes;
};

// A buffer that a step touches: `rows` rows of `bytes` bytes, `stride` apart.
struct Touched {
    std::string name;
    size_t      offset, bytes, rows, stride;
    bool        writes;         // false if the step only reads it

    size_t end() const { return offset + (rows - 1) * stride + bytes; }
    bool holds(size_t at) const
    {
        return at >= offset && at < end() && (at - offset) % stride < bytes;
    }
};

struct PlannedStep {
    std::string          name;
    std::string          kernel; // "" if the step calls a library
    std::vector<Touched> touched;
    std::vector<Bytes>   before, after; // ranges to fill with NaN
    size_t               arena_bytes; // required by its plan
    int                  first, last; // first and last step of its plan
    bool                 optional; // a loss or metric of an evaluation: a run
                                   // launches all of the plan's, or none
    bool                 knows_kernels; // its plan names kernels
};

struct Plans {
    std::vector<PlannedStep> steps;
    bool                     named = false, broken = false;
    Plans();
    bool add(const std::string &path);
};

// Returns the plans, which the first call reads.
const Plans &plans();

#endif
