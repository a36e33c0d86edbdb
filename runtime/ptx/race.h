// Races in a block's shared memory: two threads touch a byte, one writes it, and
// no barrier lies between.
#ifndef CNNC_PTX_RACE_H
#define CNNC_PTX_RACE_H

#include <cstddef>
#include <cstdint>
#include <vector>

#include "warp.h"

namespace ptx {

// Who touched a byte last.  Threads of a warp that meet at an instruction with
// .sync are in order as well: Warp.epoch counts barriers, `meetings` these.
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
    static constexpr uint16_t NOBODY = 0, MANY = 0xffff;
    struct Byte {
        uint32_t written = 0, read = 0;             // epochs
        uint16_t writer = NOBODY, reader = NOBODY;  // 1 + thread
    };
    std::vector<Byte> bytes_;
};

}

#endif
