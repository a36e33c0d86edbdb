// A launch that runs: its blocks, and memory as their lanes see it.
#ifndef CNNC_PTX_BLOCK_H
#define CNNC_PTX_BLOCK_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "counts.h"
#include "decode.h"
#include "warp.h"

namespace ptx {

class Races;                        // race.h
class Views;                        // views.h

// Checks and counts of a launch.
struct Options {
    bool     count_memory = false;
    bool     find_races = false;
    bool     check_fences = false;
    uint64_t seed = 0;              // of random orders; 0: ascending
    bool     truncate = false;      // sums of matrix instructions: matrix.cpp
};

// Memory that the kernel may touch: true if the bytes are in one range, whose
// bounds it sets.
typedef bool (*IsMemory)(uint64_t at, size_t bytes, uint64_t *begin,
                         uint64_t *end);

struct Launch {
    const Kernel *kernel = nullptr;
    const Module *module = nullptr;
    uint32_t grid[3] = {}, block[3] = {};
    std::vector<unsigned char> parameters;
    Options  options;
    IsMemory is_memory = nullptr;
    Counts   counts;
    struct Range { uint64_t begin, end; };
    std::vector<Range> ranges;      // that were found
    uint64_t random = 0;
    std::unique_ptr<Views> views;   // if blocks may talk to each other
    std::unique_ptr<Races> races;   // in global memory

    Launch();
    ~Launch();
    uint32_t draw(uint32_t below);
};

struct Block {
    Launch  *launch;
    uint32_t index[3];
    uint32_t number = 0;            // of the launch's blocks
    std::vector<unsigned char> shared;
    std::vector<Warp> warps;
    std::unique_ptr<unsigned char[]> frames;
    std::unique_ptr<Races> races;   // in shared memory
    // Stops of blocks that may talk to each other: views.h.
    enum { NEVER, BEFORE_ATOMIC, AFTER_ATOMIC } stops = NEVER;

    explicit Block(Launch &of);
    ~Block();
    Block(const Block &) = delete;
    Block &operator=(const Block &) = delete;
};

// Runs a launch's blocks.  Throws Fault.
void run_launch(Launch &launch);

// control.cpp: runs the lanes of a warp until each waits at a barrier of the
// block or has ended.
void run_warp(Warp &warp);

}

#endif
