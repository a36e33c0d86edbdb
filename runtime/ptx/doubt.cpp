// The way of doubtful values through the registers of a warp.
#include "doubt.h"

#include <cstring>

#include "warp.h"

namespace ptx {

namespace {

bool is_predicate(const Instruction &i, int k)
{
    return i.predicates >> k & 1;
}

// True if nothing but its results comes of its operands.
bool is_pure(const Instruction &i)
{
    if (i.flow != Flow::NEXT) return false;
    switch (i.group) {
    case Group::INTEGER: case Group::FLOAT: case Group::DOUBLE:
    case Group::CONVERT: case Group::MOVE: case Group::PREDICATE:
    case Group::SPECIAL:
        return true;
    default:
        return false;
    }
}

bool starts(const Instruction &i, const char *name)
{
    return strncmp(i.name, name, strlen(name)) == 0;
}

// The value of a predicate that is operand k
Mask value_of(const Warp &w, const Instruction &i, int k)
{
    Mask value = w.predicate[i.slot[k]];
    return i.negated >> k & 1 ? ~value : value;
}

// Lanes whose result does not depend on operand k, by the value of another.
Mask ignores(const Warp &w, const Instruction &i, int k, int &other)
{
    bool both = starts(i, "and.pred"), either = starts(i, "or.pred");
    if (both || either) {
        other = 3 - k;
        if (i.slot[other] == NO_SLOT) return 0;
        Mask value = value_of(w, i, other);
        return both ? ~value : value;
    }
    if (starts(i, "selp") && k < 3) {
        other = 3;
        Mask value = value_of(w, i, other);
        return k == 1 ? ~value : value;
    }
    return 0;
}

}

const Doubts::Register *Doubts::find(int32_t slot, bool is_predicate) const
{
    for (const Register &r : registers)
        if (r.slot == slot && r.is_predicate == is_predicate) return &r;
    return nullptr;
}

// The doubtful ones of the lanes that write a register; the others are sound.
void Doubts::set(int32_t slot, bool is_predicate, Mask lanes, Mask doubtful,
                 const std::string &why)
{
    for (size_t n = 0; n < registers.size(); n++) {
        Register &r = registers[n];
        if (r.slot != slot || r.is_predicate != is_predicate) continue;
        r.lanes &= ~lanes;
        if (r.lanes == 0) r.why = why;
        r.lanes |= doubtful;
        if (r.lanes == 0) {
            r = registers.back();
            registers.pop_back();
        }
        return;
    }
    if (doubtful != 0) registers.push_back({slot, is_predicate, doubtful, why});
}

void Doubts::add(int32_t slot, Mask lanes, const std::string &why)
{
    if (slot != NO_SLOT) set(slot, false, lanes, lanes, why);
}

// The lanes for which operand k is doubtful, and counts.
Mask Doubts::doubtful(Warp &w, const Instruction &i, int k, Mask lanes) const
{
    const Register *r = find(i.slot[k], is_predicate(i, k));
    if (r == nullptr) return 0;
    int other = k;
    Mask ignored = ignores(w, i, k, other);
    if (ignored != 0) {
        const Register *of = find(i.slot[other], true);
        if (of != nullptr) ignored &= ~of->lanes;
    }
    return r->lanes & lanes & ~ignored;
}

void Doubts::follow(Warp &w, const Instruction &i, Mask asked, Mask lanes)
{
    const Register *guard =
        i.guard == NO_SLOT ? nullptr : find(i.guard, true);
    if (guard != nullptr && (guard->lanes & asked) != 0)
        fault(i, "its guard depends on a value that %s", guard->why.c_str());
    Mask all = 0;
    std::string why;
    for (int k = i.results; k < MOST_SLOTS; k++) {
        if (i.slot[k] == NO_SLOT) continue;
        Mask some = doubtful(w, i, k, lanes);
        if (some == 0) continue;
        all |= some;
        why = find(i.slot[k], is_predicate(i, k))->why;
    }
    if (all != 0 && !is_pure(i))
        fault(i, "it depends on a value that %s", why.c_str());
    for (int k = 0; k < i.results; k++)
        if (i.slot[k] != NO_SLOT)
            set(i.slot[k], is_predicate(i, k), lanes, all, why);
}

}
