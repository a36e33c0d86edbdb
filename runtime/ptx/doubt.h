// Values that a lane should not have: read in a race, or never written.
//
// nvcc may load a value earlier than the program asks for it, and drop it.  So
// such a load is no fault by itself.  The doubt follows the value from register
// to register.  A store, an address, a branch, another lane or a product of
// matrices must not depend on it.
#ifndef CNNC_PTX_DOUBT_H
#define CNNC_PTX_DOUBT_H

#include <cstdint>
#include <string>
#include <vector>

namespace ptx {

struct Warp;
struct Instruction;
typedef uint32_t Mask;

class Doubts {
public:
    bool empty() const { return registers.empty(); }
    void clear() { registers.clear(); }

    // A load of these lanes has put a doubtful value into a register.
    void add(int32_t slot, Mask lanes, const std::string &why);

    // Before an instruction runs for `lanes`, whose guard was asked for those
    // in `asked`.  Throws Fault if it depends on a doubtful value.
    void follow(Warp &w, const Instruction &i, Mask asked, Mask lanes);

private:
    struct Register {
        int32_t slot;
        bool    is_predicate;
        Mask    lanes;
        std::string why;
    };
    std::vector<Register> registers;

    const Register *find(int32_t slot, bool is_predicate) const;
    void set(int32_t slot, bool is_predicate, Mask lanes, Mask doubtful,
             const std::string &why);
    Mask doubtful(Warp &w, const Instruction &i, int k, Mask lanes) const;
};

}

#endif
