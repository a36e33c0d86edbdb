// What the plans of CNNC_HOST_PLAN say of each step.
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
    bool        writes;         // as well as, or instead of, reading it

    size_t end() const { return offset + (rows - 1) * stride + bytes; }
    bool holds(size_t at) const
    {
        return at >= offset && at < end() && (at - offset) % stride < bytes;
    }
};

struct PlannedStep {
    std::string          name;
    std::string          kernel; // "" where it calls a library
    std::vector<Touched> touched;
    std::vector<Bytes>   before, after; // what is filled with NaN then
    size_t               arena_bytes; // that its plan needs
    int                  first, last; // steps that are run with it, in order
    bool                 optional; // a loss or metric of an evaluation: all of
                                   // a plan's are launched, or none
    bool                 knows_kernels; // its plan says which kernels
};

struct Plans {
    std::vector<PlannedStep> steps;
    bool                     named = false, broken = false;
    Plans();
    bool add(const std::string &path);
};

// Read at the first call.
const Plans &plans();

#endif
