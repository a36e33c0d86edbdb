// Races in a block's shared memory: two threads touch a byte, one writes it,
// and no barrier comes between.  Threads of a warp also have bar.warp.sync.
#ifndef CNNC_PTX_RACE_H
#define CNNC_PTX_RACE_H

#include <cstddef>
#include <cstdint>
#include <vector>

#include "warp.h"

namespace ptx {

class Races {
public:
    explicit Races(size_t bytes) : bytes_(bytes) {}

    void start() { bytes_.assign(bytes_.size(), {}); }

    // A lane reads or writes bytes.  Throws Fault.
    void read(const Warp &w, const Instruction &i, int lane, uint64_t at,
              size_t count);
    void write(const Warp &w, const Instruction &i, int lane, uint64_t at,
               size_t count);

private:
    // The last access of a byte: its thread, epoch and meetings.  The thread
    // FIRST_WARP - n stands for several threads of warp n, and none of another.
    struct Access {
        static constexpr int NOBODY = -1, MANY = -2, FIRST_WARP = -3;
        int thread = NOBODY;
        uint32_t epoch = 0, meetings = 0;
    };
    struct Byte { Access write, read; };
    std::vector<Byte> bytes_;

    static bool is_unordered(const Access &before, const Warp &w, int thread);
};

}

#endif
