// How the blocks of a launch see each other's stores.
//
// Blocks that exchange values through global memory need fences.  Without one a
// GPU may show a store late, or an old value to a load.  Here it always does:
//
//   * A store waits in its block until an atomic after a fence: both of one
//     thread, which made the store, or passed a barrier between it and the
//     fence.
//   * A load gets the newest value that was visible at an atomic with a fence
//     after it: both of its thread, or of one with which it has passed a
//     barrier since.  It always sees stores of its own block.
//   * An atomic acts at once.
//   * One block stops at its first atomic until all others have passed theirs.
//     It is the last in a count of blocks.
//     Another block stops after its atomic until that one has ended.
//
// Each is allowed by the PTX memory model.  All stores arrive when the launch
// ends.
#ifndef CNNC_PTX_VIEWS_H
#define CNNC_PTX_VIEWS_H

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "warp.h"

namespace ptx {

class Views {
public:
    // A lane's bytes of global memory, from `at` on.
    void read(const Warp &w, int lane, uint64_t at, size_t bytes,
              unsigned char *to) const;
    void write(const Warp &w, int lane, uint64_t at, size_t bytes,
               const unsigned char *from);

    // Before a lane's atomic: its block has no waiting store to the bytes, and
    // none that the lane's last fence has ordered.
    void settle(const Warp &w, int lane, uint64_t at, size_t bytes);
    // After it, with the bytes that it has replaced.
    void replaced(Warp &w, int lane, uint64_t at, size_t bytes,
                  const unsigned char *before);

    void fence(Warp &w, Mask lanes);
    static void pass_barrier(Block &b);
    // The block's stores wait on, and are no block's own any more.
    void end_block(const Block &b);
    void end_launch();

private:
    struct Store {
        unsigned char value;
        uint64_t time;
        int      thread;
        uint32_t barriers;          // that its block had passed
    };
    struct Change {
        uint64_t time;
        unsigned char before;
    };
    typedef std::unordered_map<uint64_t, Store> Stores;
    std::unordered_map<const Block *, Stores> waiting;
    std::vector<Stores> ended;
    std::unordered_map<uint64_t, std::vector<Change>> changes;
    uint64_t time = 0;

    void arrive(uint64_t at, unsigned char value);
};

}

#endif
