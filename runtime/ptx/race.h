// Races in shared and in global memory: two threads touch a byte, one writes
// it, and no barrier comes between.  Threads of a warp also have bar.warp.sync.
// No barrier orders two blocks.
//
// Blocks of a kernel with atomics may wait for each other.  Accesses of
// different blocks are no race there; views.h is the model of their stores.
#ifndef CNNC_PTX_RACE_H
#define CNNC_PTX_RACE_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>

#include "warp.h"

namespace ptx {

class Races {
public:
    // Shared memory belongs to a block, and has no values at first.  `apart`:
    // blocks of the kernel can't wait for each other.
    Races(bool is_shared, bool apart) : is_shared_(is_shared), apart_(apart) {}

    // A lane reads bytes.  Returns how it reads, if they may have any value,
    // or "".
    std::string read(const Warp &w, int lane, uint64_t at, size_t count);
    // A lane writes bytes.  Throws Fault.
    void write(const Warp &w, const Instruction &i, int lane, uint64_t at,
               size_t count);

private:
    // The last access of a byte: its block, thread, epoch and meetings.  The
    // thread FIRST_WARP - n stands for several threads of warp n, MANY for
    // several of the block, and EVERYWHERE for those of several blocks.
    struct Access {
        static constexpr int NOBODY = -1, MANY = -2, EVERYWHERE = -3,
                             FIRST_WARP = -4;
        int thread = NOBODY;
        uint32_t block = 0, epoch = 0, meetings = 0;
    };
    struct Byte { Access write, read; };
    static constexpr uint64_t PAGE = 1024;
    struct Page { Byte bytes[PAGE]; };

    bool is_shared_, apart_;
    std::unordered_map<uint64_t, std::unique_ptr<Page>> pages_;
    uint64_t last_ = ~0ull;
    Page *page_ = nullptr;

    static bool is_of(const Access &access, uint32_t block);
    Byte &byte_at(uint64_t at);
    bool is_unordered(const Access &before, const Warp &w, int thread) const;
};

}

#endif
