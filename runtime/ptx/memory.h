// Memory as a lane addresses it.
//
// A generic address below the windows is one of the host runtime's memory.  The
// windows hold a block's shared memory and a lane's local memory.
#ifndef CNNC_PTX_MEMORY_H
#define CNNC_PTX_MEMORY_H

#include <cstdint>

#include "text.h"
#include "warp.h"

namespace ptx {

constexpr uint64_t SHARED_WINDOW = 1ull << 56, LOCAL_WINDOW = 2ull << 56;
constexpr uint64_t IN_WINDOW = SHARED_WINDOW - 1;

// The addresses of an instruction's lanes: the register of its slot, if it has
// one, and the offset.
void addresses_of(Warp &w, const Instruction &i, int slot, int64_t offset,
                  uint64_t (&at)[WARP]);

// Checks an access of `bytes` bytes a lane, and sets their places.  Throws
// Fault.
void find_bytes(Warp &w, const Instruction &i, Space space,
                const uint64_t (&at)[WARP], int bytes, Mask lanes,
                unsigned char *(&where)[WARP]);

enum class Access { LOAD, STORE, ATOMIC };

// Counts a request of a warp.
void count_access(Warp &w, const Instruction &i, Space space,
                  const uint64_t (&at)[WARP], int bytes, Mask lanes,
                  Access access);

// The same, and looks for races.
void note_access(Warp &w, const Instruction &i, Space space,
                 const uint64_t (&at)[WARP], int bytes, Mask lanes,
                 Access access);

// The bytes that a lane of this launch sees, if blocks may talk to each other:
// copies, which take the places in `where`.
struct Seen {
    unsigned char bytes[WARP][16];

    void read(Warp &w, const uint64_t (&at)[WARP], int count, Mask lanes,
              unsigned char *(&where)[WARP]);
    void write(Warp &w, const uint64_t (&at)[WARP], int count, Mask lanes);
};

}

#endif
