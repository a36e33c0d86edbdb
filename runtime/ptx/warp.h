// A warp that runs: the registers of its 32 lanes, and a decoded instruction.
//
// An instruction's function is called for the lanes of a mask.  It may compute
// all 32 lanes, but must store only those of the mask.
#ifndef CNNC_PTX_WARP_H
#define CNNC_PTX_WARP_H

#include <cstdarg>
#include <cstdint>
#include <string>
#include <vector>

#include "doubt.h"

namespace ptx {

constexpr int WARP = 32;
constexpr uint32_t ALL_LANES = ~0u;
typedef uint32_t Mask;              // bit l: lane l

struct Warp;
struct Block;                       // block.h
struct Instruction;
typedef void (*Run)(Warp &, const Instruction &, Mask);

// How the lanes go on.
enum class Flow : uint8_t {
    NEXT,
    BRANCH,                         // to target
    BARRIER,                        // of the block
    TOGETHER,                       // .sync: the lanes that it names wait
    CALL, RETURN, EXIT,
};

// A class of instructions, as a profiler counts them.
enum class Group : uint8_t {
    INTEGER, FLOAT, DOUBLE, CONVERT, MOVE, PREDICATE, SPECIAL, MATRIX,
    LOAD_MATRIX, LOAD_GLOBAL, STORE_GLOBAL, LOAD_SHARED, STORE_SHARED, LOCAL,
    ASYNC, ATOMIC, CONTROL, WARP,
    COUNT,
};

constexpr int32_t NO_SLOT = -1;
constexpr int MOST_SLOTS = 16;

// A slot is the place of a register of all lanes: its byte in the frame, or,
// with bit 0 set, in the kernel's constants.  A predicate's is its number.
struct Instruction {
    Run      run = nullptr;
    int32_t  slot[MOST_SLOTS];      // in the order of the text; NO_SLOT
    int64_t  number = 0;            // an address's offset, a count, a variant
    int64_t  second = 0;            // the offset of a second address
    int32_t  target = 0;            // of a branch or call: an instruction
    int32_t  guard = NO_SLOT;       // a predicate
    bool     guard_negated = false;
    Flow     flow = Flow::NEXT;
    Group    group = Group::INTEGER;
    uint8_t  bytes = 0;             // of an element in memory
    uint8_t  count = 1;             // elements of a vector
    uint8_t  register_bytes = 0;    // of the registers of a load or store
    uint8_t  address_bytes = 0;     // of an address's base; 0: it has none
    uint8_t  results = 0;           // the first slots are results
    uint16_t predicates = 0;        // bit k: slot k is a predicate
    uint8_t  negated = 0;           // bit k: it is negated
    bool     is_signed = false;     // what memory gives is extended by its sign
    int32_t  line = 0;              // of the text
    const char *name = "";
};

// An asynchronous copy that has not been waited for.
struct Copy {
    Mask     lanes;
    int      bytes;
    uint32_t group[WARP];           // of each lane's groups
    uint64_t to[WARP], from[WARP];  // shared and global addresses
    int      filled[WARP];          // bytes that are read; the rest is 0
};

// A fence of a lane: its time, and the barriers that its block had passed.
struct Fence {
    uint64_t time;
    uint32_t barriers;
};

enum class Lane : uint8_t { RUNS, AT_BARRIER, AT_SYNC, HELD, ENDED };

struct Warp {
    unsigned char *frame;
    const unsigned char *constants;
    Mask *predicate;
    unsigned char *local;           // WARP times Block.local_bytes
    Block *block;
    int    index;                   // in the block
    Mask   started, alive;          // lanes
    Mask   carry;
    uint32_t pc[WARP];
    Lane   lane[WARP];
    uint32_t groups[WARP];          // copies committed so far
    std::vector<uint32_t> returns[WARP];
    std::vector<Copy> copies;
    Doubts doubts;
    uint32_t epoch;                 // barriers passed
    uint32_t meetings;              // and of the warp alone
    // views.h: the times that lanes see, and those of their last atomics.
    uint64_t seen[WARP], observed[WARP];
    Fence    fences[WARP];

    template <class T>
    T *at(int32_t slot)
    {
        unsigned char *base =
            slot & 1 ? const_cast<unsigned char *>(constants) : frame;
        return (T *)(base + (slot & ~1));
    }
};

// Thrown by an instruction's function; the launch fails.
struct Fault {
    std::string what;
};

[[noreturn]] void fault(const Instruction &of, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

template <class T>
inline void put(T *to, const T (&values)[WARP], Mask lanes)
{
    if (lanes == ALL_LANES) {
        for (int l = 0; l < WARP; l++) to[l] = values[l];
    } else {
        for (int l = 0; l < WARP; l++)
            if (lanes >> l & 1) to[l] = values[l];
    }
}

inline void put_predicate(Warp &w, int32_t slot, Mask values, Mask lanes)
{
    w.predicate[slot] = (w.predicate[slot] & ~lanes) | (values & lanes);
}

}

#endif
