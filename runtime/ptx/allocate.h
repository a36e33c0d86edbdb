// Registers of a function share slots if they never live together.
#ifndef CNNC_PTX_ALLOCATE_H
#define CNNC_PTX_ALLOCATE_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ptx {

// One statement's use of registers, by their numbers.
struct RegisterUse {
    std::vector<int> reads, writes;
    bool is_guarded = false;        // lanes may keep a written register
    bool ends = false;              // no lane goes on to the next statement
    int32_t target = -1;            // a statement to which lanes may jump
};

// Returns each register's first byte, given its bytes a lane.  Slots of all
// lanes follow one another; `bytes` becomes their sum.
std::vector<int32_t> allocate(const std::vector<RegisterUse> &uses,
                              const std::vector<int> &register_bytes,
                              size_t &bytes);

}

#endif
