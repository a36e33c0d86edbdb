// A kernel as its warps run it: instructions, and the bytes that they need.
#ifndef CNNC_PTX_DECODE_H
#define CNNC_PTX_DECODE_H

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "counts.h"
#include "text.h"
#include "warp.h"

namespace ptx {

// A register whose value the hardware gives: %tid.x, %ctaid.y, ...
enum class Special : uint8_t {
    TID_X, TID_Y, TID_Z, NTID_X, NTID_Y, NTID_Z, CTAID_X, CTAID_Y, CTAID_Z,
    NCTAID_X, NCTAID_Y, NCTAID_Z, LANE, WARP_INDEX,
};

struct SpecialSlot {
    Special which;
    int32_t slot;
};

struct Kernel {
    std::string name;
    std::vector<Instruction> code;
    uint32_t entry = 0;
    struct Parameter { size_t offset, bytes; };
    std::vector<Parameter> parameters;
    size_t parameter_bytes = 0;
    size_t frame_bytes = 0;         // of a warp's registers
    int    predicates = 0;
    std::vector<unsigned char> constants;
    std::vector<SpecialSlot> specials;
    size_t shared_bytes = 0, local_bytes = 0;   // of a block; of a lane
    bool   has_atomics = false;
    // For each instruction, 1 if it has run; launches, and the largest grid.
    mutable std::vector<unsigned char> has_run;
    mutable std::vector<Counts::Passes> passes;     // if memory is counted
    mutable uint64_t launches = 0, most_blocks = 0;
};

// A file's kernels, decoded when they are first asked for, and its variables in
// global memory, which live as long as it.
class Module {
public:
    explicit Module(Text text);
    ~Module();
    Module(const Module &) = delete;
    Module &operator=(const Module &) = delete;

    std::vector<std::string> kernel_names() const;

    // Throws TextError, also for a name that is no kernel's.
    const Kernel &kernel(const std::string &name);

    // Returns the address of a variable, and its size.  Null: there is none.
    void *variable(const std::string &name, size_t *bytes) const;

    // True if the bytes are in a variable of the module.
    bool contains(uint64_t at, size_t bytes) const;

private:
    struct Parts;
    std::unique_ptr<Parts> parts;
};

// Reads and parses a file.  Throws TextError, or std::runtime_error if it can't
// be read.
std::unique_ptr<Module> read_module(const std::string &path);

}

#endif
