// Counts of a launch, as a profiler gives them.
#ifndef CNNC_PTX_COUNTS_H
#define CNNC_PTX_COUNTS_H

#include <cstdint>
#include <vector>

#include "warp.h"

namespace ptx {

struct Counts {
    uint64_t blocks = 0, threads = 0;
    uint64_t instructions = 0;      // of warps
    uint64_t lanes = 0;             // of these, lanes that are at them
    uint64_t groups[(int)Group::COUNT] = {};
    uint64_t branches = 0, divergent = 0;
    // Requests of a warp to global memory, and bytes of their lanes; sectors of
    // 32 bytes that they touch; the fewest sectors with room for those bytes,
    // of which lanes may share some.
    struct Traffic {
        uint64_t requests = 0, bytes = 0, sectors = 0, least = 0;
    };
    Traffic load, store, atomic;
    // Requests to shared memory, and passes over its 32 banks of 4 bytes.
    struct Passes {
        uint64_t requests = 0, bytes = 0, passes = 0, least = 0;
    };
    Passes shared;

    void add(const Counts &other);
};

// Count a request of these lanes, each of `bytes` bytes.
void count_sectors(Counts::Traffic &traffic, const uint64_t (&at)[WARP],
                   int bytes, Mask lanes);
void count_passes(Counts::Passes &passes, const uint64_t (&at)[WARP], int bytes,
                  Mask lanes);

// The columns of CNNC_HOST_PTX_TABLE that are counts.
struct Column {
    const char *name;
    uint64_t    count;
};
std::vector<Column> columns_of(const Counts &counts);

}

#endif
