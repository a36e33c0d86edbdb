// Loads, stores, atomics and conversions of addresses.
#include "memory.h"

#include <algorithm>
#include <cstring>

#include "block.h"
#include "forms.h"
#include "race.h"
#include "views.h"

namespace ptx {

void addresses_of(Warp &w, const Instruction &i, int slot, int64_t offset,
                  uint64_t (&at)[WARP])
{
    if (i.slot[slot] == NO_SLOT) {
        for (uint64_t &a : at) a = (uint64_t)offset;
    } else if (i.address_bytes == 4) {
        const uint32_t *base = w.at<uint32_t>(i.slot[slot]);
        for (int l = 0; l < WARP; l++) at[l] = base[l] + (uint32_t)offset;
    } else {
        const uint64_t *base = w.at<uint64_t>(i.slot[slot]);
        for (int l = 0; l < WARP; l++) at[l] = base[l] + (uint64_t)offset;
    }
}

namespace {

struct Extent {
    uint64_t low, high, all;        // least, greatest, bits of any
};

Extent extent_of(const uint64_t (&at)[WARP], Mask lanes)
{
    Extent e = {UINT64_MAX, 0, 0};
    for (int l = 0; l < WARP; l++) {
        if (!(lanes >> l & 1)) continue;
        e.low = std::min(e.low, at[l]);
        e.high = std::max(e.high, at[l]);
        e.all |= at[l];
    }
    return e;
}

// The first lane whose address does not fit; -1 if all fit.
template <class Fits>
int first_that_fails(const uint64_t (&at)[WARP], Mask lanes, const Fits &fits)
{
    for (int l = 0; l < WARP; l++)
        if (lanes >> l & 1 && !fits(at[l])) return l;
    return -1;
}

void check_bounds(const Instruction &i, const uint64_t (&at)[WARP], int bytes,
                  Mask lanes, size_t size, const char *of)
{
    Extent e = extent_of(at, lanes);
    if (e.low <= e.high && e.high + (uint64_t)bytes <= size) return;
    int l = first_that_fails(at, lanes, [&](uint64_t a) {
        return a + (uint64_t)bytes <= size;
    });
    fault(i, "lane %d: byte %llu of %s, which has %zu bytes", l,
          (unsigned long long)at[l], of, size);
}

// True if a range that was found contains the bytes.  It moves up.
bool is_known(Launch &launch, uint64_t begin, uint64_t end)
{
    for (size_t k = 0; k < launch.ranges.size(); k++) {
        if (begin < launch.ranges[k].begin || end > launch.ranges[k].end)
            continue;
        if (k > 0) std::swap(launch.ranges[k], launch.ranges[k / 2]);
        return true;
    }
    return false;
}

void check_global(Warp &w, const Instruction &i, const uint64_t (&at)[WARP],
                  int bytes, Mask lanes)
{
    Launch &launch = *w.block->launch;
    Extent e = extent_of(at, lanes);
    if (is_known(launch, e.low, e.high + (uint64_t)bytes)) return;
    int l = first_that_fails(at, lanes, [&](uint64_t a) {
        if (is_known(launch, a, a + (uint64_t)bytes)) return true;
        Launch::Range range;
        if (!launch.is_memory(a, (size_t)bytes, &range.begin, &range.end))
            return launch.module->contains(a, (size_t)bytes);
        launch.ranges.insert(launch.ranges.begin(), range);
        return true;
    });
    if (l >= 0)
        fault(i, "lane %d: %d bytes at 0x%llx, no memory of this launch", l,
              bytes, (unsigned long long)at[l]);
}

Space space_of(uint64_t generic)
{
    uint64_t window = generic & ~IN_WINDOW;
    return window == SHARED_WINDOW  ? Space::SHARED
           : window == LOCAL_WINDOW ? Space::LOCAL
                                    : Space::GLOBAL;
}

// Calls f(space, addresses in it, lanes) for the lanes of each space in turn.
template <class F>
void each_space(const uint64_t (&at)[WARP], Mask lanes, const F &f)
{
    for (Space own : {Space::GLOBAL, Space::SHARED, Space::LOCAL}) {
        Mask those = 0;
        uint64_t inside[WARP];
        for (int l = 0; l < WARP; l++) {
            those |= (Mask)(space_of(at[l]) == own) << l;
            inside[l] = own == Space::GLOBAL ? at[l] : at[l] & IN_WINDOW;
        }
        if ((those & lanes) != 0) f(own, inside, those & lanes);
    }
}

// Looks for races of a lane's load.  Each of its elements may be doubtful.
void find_races_of_load(Warp &w, const Instruction &i, Races &races, int lane,
                        uint64_t at, size_t bytes)
{
    bool is_load = i.flow == Flow::NEXT && i.results == i.count;
    size_t each = is_load ? i.bytes : bytes;
    for (size_t k = 0; k * each < bytes; k++) {
        std::string how = races.read(w, lane, at + k * each, each);
        if (how.empty()) continue;
        how = "thread " + std::to_string(w.index * WARP + lane) +
              " read at line " + std::to_string(i.line) + " " + how;
        if (!is_load) fault(i, "%s", how.c_str());
        w.doubts.add(i.slot[k], 1u << lane, how);
    }
}

void find_races(Warp &w, const Instruction &i, Space space,
                const uint64_t (&at)[WARP], int bytes, Mask lanes,
                Access access)
{
    if (space != Space::GLOBAL && space != Space::SHARED) return;
    Races &races = space == Space::GLOBAL ? *w.block->launch->races
                                          : *w.block->races;
    for (int l = 0; l < WARP; l++) {
        if (!(lanes >> l & 1)) continue;
        if (access == Access::STORE)
            races.write(w, i, l, at[l], (size_t)bytes);
        else
            find_races_of_load(w, i, races, l, at[l], (size_t)bytes);
    }
}

}

void find_bytes(Warp &w, const Instruction &i, Space space,
                const uint64_t (&at)[WARP], int bytes, Mask lanes,
                unsigned char *(&where)[WARP])
{
    Block &b = *w.block;
    Extent e = extent_of(at, lanes);
    if (e.all & (uint64_t)(bytes - 1)) {
        int l = first_that_fails(at, lanes, [&](uint64_t a) {
            return a % (uint64_t)bytes == 0;
        });
        fault(i, "lane %d: address 0x%llx is no multiple of %d", l,
              (unsigned long long)at[l], bytes);
    }
    switch (space) {
    case Space::SHARED:
        check_bounds(i, at, bytes, lanes, b.shared.size(), "shared memory");
        for (int l = 0; l < WARP; l++) where[l] = b.shared.data() + at[l];
        return;
    case Space::LOCAL: {
        size_t each = b.launch->kernel->local_bytes;
        check_bounds(i, at, bytes, lanes, each, "a thread's local memory");
        for (int l = 0; l < WARP; l++)
            where[l] = w.local + (size_t)l * each + at[l];
        return;
    }
    case Space::PARAM:
        check_bounds(i, at, bytes, lanes, b.launch->parameters.size(),
                     "the parameters");
        for (int l = 0; l < WARP; l++)
            where[l] = b.launch->parameters.data() + at[l];
        return;
    case Space::GLOBAL: case Space::CONST:
        check_global(w, i, at, bytes, lanes);
        for (int l = 0; l < WARP; l++) where[l] = (unsigned char *)at[l];
        return;
    case Space::GENERIC:
        break;
    }
    each_space(at, lanes, [&](Space own, const uint64_t (&inside)[WARP],
                              Mask those) {
        unsigned char *places[WARP];
        find_bytes(w, i, own, inside, bytes, those, places);
        for (int l = 0; l < WARP; l++)
            if (those >> l & 1) where[l] = places[l];
    });
}

void count_access(Warp &w, const Instruction &i, Space space,
                  const uint64_t (&at)[WARP], int bytes, Mask lanes,
                  Access access)
{
    Launch &launch = *w.block->launch;
    Counts &c = launch.counts;
    if (!launch.options.count_memory) return;
    if (space == Space::GENERIC)
        each_space(at, lanes, [&](Space own, const uint64_t (&inside)[WARP],
                                  Mask those) {
            count_access(w, i, own, inside, bytes, those, access);
        });
    else if (space == Space::GLOBAL)
        count_sectors(access == Access::LOAD    ? c.load
                      : access == Access::STORE ? c.store
                                                : c.atomic,
                      at, bytes, lanes);
    else if (space == Space::SHARED) {
        const Kernel &kernel = *launch.kernel;
        count_passes(c.shared, at, bytes, lanes);
        count_passes(kernel.passes[(size_t)(&i - kernel.code.data())], at,
                     bytes, lanes);
    }
}

void note_access(Warp &w, const Instruction &i, Space space,
                 const uint64_t (&at)[WARP], int bytes, Mask lanes,
                 Access access)
{
    count_access(w, i, space, at, bytes, lanes, access);
    if (!w.block->launch->options.find_races) return;
    if (space == Space::GENERIC)
        each_space(at, lanes, [&](Space own, const uint64_t (&inside)[WARP],
                                  Mask those) {
            find_races(w, i, own, inside, bytes, those, access);
        });
    else
        find_races(w, i, space, at, bytes, lanes, access);
}

void Seen::read(Warp &w, const uint64_t (&at)[WARP], int count, Mask lanes,
                unsigned char *(&where)[WARP])
{
    for (int l = 0; l < WARP; l++) {
        if (!(lanes >> l & 1)) continue;
        w.block->launch->views->read(w, l, at[l], (size_t)count, bytes[l]);
        where[l] = bytes[l];
    }
}

void Seen::write(Warp &w, const uint64_t (&at)[WARP], int count, Mask lanes)
{
    for (int l = 0; l < WARP; l++)
        if (lanes >> l & 1)
            w.block->launch->views->write(w, l, at[l], (size_t)count, bytes[l]);
}

namespace {

bool has_views(const Warp &w, Space space)
{
    return space == Space::GLOBAL && w.block->launch->views != nullptr;
}

// ---- loads and stores ------------------------------------------------------

// The bytes of each lane go to a register, or come from it.
template <class Register, class Element>
struct LoadElement {
    static void run(Warp &w, int32_t slot, unsigned char *const (&from)[WARP],
                    size_t offset, Mask lanes)
    {
        Register *to = w.at<Register>(slot);
        for (int l = 0; l < WARP; l++) {
            if (!(lanes >> l & 1)) continue;
            Element value;
            memcpy(&value, from[l] + offset, sizeof value);
            to[l] = (Register)(long long)value;
        }
    }
};

template <class Register, class Element>
struct StoreElement {
    static void run(Warp &w, int32_t slot, unsigned char *const (&to)[WARP],
                    size_t offset, Mask lanes)
    {
        const Register *from = w.at<Register>(slot);
        for (int l = 0; l < WARP; l++) {
            if (!(lanes >> l & 1)) continue;
            Element value = (Element)from[l];
            memcpy(to[l] + offset, &value, sizeof value);
        }
    }
};

// Calls Do<Register, Element> for the sizes of an instruction.
template <template <class, class> class Do, class... Args>
void by_sizes(const Instruction &i, Args &&...args)
{
    auto with_element = [&](auto reg) {
        typedef decltype(reg) R;
        switch (i.bytes * 2 + i.is_signed) {
        case 2: Do<R, uint8_t>::run(args...); return;
        case 3: Do<R, int8_t>::run(args...); return;
        case 4: Do<R, uint16_t>::run(args...); return;
        case 5: Do<R, int16_t>::run(args...); return;
        case 8: Do<R, uint32_t>::run(args...); return;
        case 9: Do<R, int32_t>::run(args...); return;
        default: Do<R, uint64_t>::run(args...); return;
        }
    };
    // NOLINTNEXTLINE(bugprone-branch-clone): the types differ
    if (i.register_bytes == 2) with_element(uint16_t());
    else if (i.register_bytes == 4) with_element(uint32_t());
    else with_element(uint64_t());
}

template <Space space>
void load(Warp &w, const Instruction &i, Mask lanes)
{
    uint64_t at[WARP];
    unsigned char *from[WARP];
    addresses_of(w, i, i.count, i.number, at);
    find_bytes(w, i, space, at, i.bytes * i.count, lanes, from);
    note_access(w, i, space, at, i.bytes * i.count, lanes, Access::LOAD);
    Seen seen;
    if (has_views(w, space)) seen.read(w, at, i.bytes * i.count, lanes, from);
    for (int k = 0; k < i.count; k++)
        if (i.slot[k] != NO_SLOT)
            by_sizes<LoadElement>(i, w, i.slot[k], from,
                                  (size_t)(k * i.bytes), lanes);
}

template <Space space>
void store(Warp &w, const Instruction &i, Mask lanes)
{
    uint64_t at[WARP];
    unsigned char *to[WARP];
    addresses_of(w, i, 0, i.number, at);
    find_bytes(w, i, space, at, i.bytes * i.count, lanes, to);
    note_access(w, i, space, at, i.bytes * i.count, lanes, Access::STORE);
    Seen seen;
    bool views = has_views(w, space);
    for (int l = 0; views && l < WARP; l++) to[l] = seen.bytes[l];
    for (int k = 0; k < i.count; k++)
        by_sizes<StoreElement>(i, w, i.slot[k + 1], to,
                               (size_t)(k * i.bytes), lanes);
    if (views) seen.write(w, at, i.bytes * i.count, lanes);
}

// A call's arguments: bytes of the lane's memory.
void copy_local(Warp &w, const Instruction &i, Mask lanes)
{
    size_t each = w.block->launch->kernel->local_bytes;
    for (int l = 0; l < WARP; l++)
        if (lanes >> l & 1)
            memcpy(w.local + (size_t)l * each + i.number,
                   w.local + (size_t)l * each + i.second, (size_t)i.target);
}

// ---- atomics ---------------------------------------------------------------

// Each lane in turn: the old value is the result.
template <Space space, class T, class F>
void atomic(Warp &w, const Instruction &i, Mask lanes)
{
    bool has_result = i.results != 0;
    uint64_t at[WARP];
    unsigned char *where[WARP] = {};
    addresses_of(w, i, has_result, i.number, at);
    find_bytes(w, i, space, at, sizeof(T), lanes, where);
    count_access(w, i, space, at, sizeof(T), lanes, Access::ATOMIC);
    const T *operand = w.at<T>(i.slot[has_result + 1]);
    for (int l = 0; l < WARP; l++) {
        if (!(lanes >> l & 1)) continue;
        T old, now;
        bool views = has_views(w, space);
        if (views) w.block->launch->views->settle(w, l, at[l], sizeof old);
        memcpy(&old, where[l], sizeof old);
        now = F::of(old, operand[l]);
        memcpy(where[l], &now, sizeof now);
        if (views)
            w.block->launch->views->replaced(w, l, at[l], sizeof old,
                                             (unsigned char *)&old);
        if (has_result && i.slot[0] != NO_SLOT) w.at<T>(i.slot[0])[l] = old;
    }
}

template <Space space, class T>
void compare_and_swap(Warp &w, const Instruction &i, Mask lanes)
{
    uint64_t at[WARP];
    unsigned char *where[WARP] = {};
    addresses_of(w, i, 1, i.number, at);
    find_bytes(w, i, space, at, sizeof(T), lanes, where);
    count_access(w, i, space, at, sizeof(T), lanes, Access::ATOMIC);
    const T *wanted = w.at<T>(i.slot[2]), *next = w.at<T>(i.slot[3]);
    for (int l = 0; l < WARP; l++) {
        if (!(lanes >> l & 1)) continue;
        T old;
        bool views = has_views(w, space);
        if (views) w.block->launch->views->settle(w, l, at[l], sizeof old);
        // NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker)
        memcpy(&old, where[l], sizeof old);
        if (old == wanted[l]) memcpy(where[l], &next[l], sizeof(T));
        if (views)
            w.block->launch->views->replaced(w, l, at[l], sizeof old,
                                             (unsigned char *)&old);
        if (i.slot[0] != NO_SLOT) w.at<T>(i.slot[0])[l] = old;
    }
}

template <class T> struct Increment {
    static T of(T old, T limit) { return old >= limit ? 0 : old + 1; }
};
template <class T> struct Sum { static T of(T a, T b) { return a + b; } };
template <class T> struct Least {
    static T of(T a, T b) { return b < a ? b : a; }
};
template <class T> struct Greatest {
    static T of(T a, T b) { return b > a ? b : a; }
};
template <class T> struct Exchange { static T of(T, T b) { return b; } };
template <class T> struct Both { static T of(T a, T b) { return a & b; } };
template <class T> struct Either { static T of(T a, T b) { return a | b; } };

template <Space space, class T, template <class> class F>
void add_atomic(Forms &forms, const std::string &name)
{
    const char *result = sizeof(T) == 8 ? "8|a8" : "4|a4";
    const char *none = sizeof(T) == 8 ? "a8" : "a4";
    forms["atom." + name] = {atomic<space, T, F<T>>, result, Group::ATOMIC};
    forms["red." + name] = {atomic<space, T, F<T>>, none, Group::ATOMIC};
}

template <Space space>
void add_atomics(Forms &forms, const std::string &s)
{
    add_atomic<space, uint32_t, Increment>(forms, s + "inc.u32");
    add_atomic<space, uint32_t, Sum>(forms, s + "add.u32");
    add_atomic<space, uint32_t, Sum>(forms, s + "add.s32");
    add_atomic<space, uint64_t, Sum>(forms, s + "add.u64");
    add_atomic<space, float, Sum>(forms, s + "add.f32");
    add_atomic<space, double, Sum>(forms, s + "add.f64");
    add_atomic<space, uint32_t, Least>(forms, s + "min.u32");
    add_atomic<space, int32_t, Least>(forms, s + "min.s32");
    add_atomic<space, uint32_t, Greatest>(forms, s + "max.u32");
    add_atomic<space, int32_t, Greatest>(forms, s + "max.s32");
    add_atomic<space, uint32_t, Exchange>(forms, s + "exch.b32");
    add_atomic<space, uint32_t, Both>(forms, s + "and.b32");
    add_atomic<space, uint32_t, Either>(forms, s + "or.b32");
    forms["atom." + s + "cas.b32"] = {compare_and_swap<space, uint32_t>,
                                      "4|a44", Group::ATOMIC};
    forms["atom." + s + "cas.b64"] = {compare_and_swap<space, uint64_t>,
                                      "8|a88", Group::ATOMIC};
}

// ---- addresses -------------------------------------------------------------

template <uint64_t window>
void to_generic(Warp &w, const Instruction &i, Mask lanes)
{
    const uint64_t *from = w.at<uint64_t>(i.slot[1]);
    uint64_t to[WARP];
    for (int l = 0; l < WARP; l++) to[l] = from[l] | window;
    put(w.at<uint64_t>(i.slot[0]), to, lanes);
}

template <uint64_t window>
void from_generic(Warp &w, const Instruction &i, Mask lanes)
{
    const uint64_t *from = w.at<uint64_t>(i.slot[1]);
    uint64_t to[WARP];
    for (int l = 0; l < WARP; l++) {
        to[l] = from[l] ^ window;
        if (lanes >> l & 1 && (to[l] & ~IN_WINDOW) != 0)
            fault(i, "lane %d: 0x%llx is an address of another space", l,
                  (unsigned long long)from[l]);
    }
    put(w.at<uint64_t>(i.slot[0]), to, lanes);
}

// ---- forms -----------------------------------------------------------------

struct Type { const char *name; uint8_t bytes; bool is_signed; };
const Type types[] = {
    {"b8", 1, false}, {"u8", 1, false}, {"s8", 1, true}, {"b16", 2, false},
    {"u16", 2, false}, {"s16", 2, true}, {"b32", 4, false}, {"u32", 4, false},
    {"s32", 4, true}, {"f32", 4, false}, {"b64", 8, false}, {"u64", 8, false},
    {"s64", 8, false}, {"f64", 8, false},
};

struct Vector { const char *name, *load, *store; uint8_t count; };
const Vector vectors[] = {
    {".", "r|a", "|ar", 1},
    {".v2.", "[rr]|a", "|a[rr]", 2},
    {".v4.", "[rrrr]|a", "|a[rrrr]", 4},
};

void add_accesses(Forms &forms, const std::string &name, Run run, bool is_store,
                  Group group)
{
    for (const Vector &v : vectors)
        for (const Type &t : types)
            if (t.bytes * v.count <= 16)
                forms[name + v.name + t.name] = {
                    run, is_store ? v.store : v.load, group, Flow::NEXT,
                    t.bytes, v.count, 0, t.is_signed};
}

template <Space space>
void add_space(Forms &forms, const std::string &suffix, Group loads,
               Group stores)
{
    add_accesses(forms, "ld" + suffix, load<space>, false, loads);
    add_accesses(forms, "st" + suffix, store<space>, true, stores);
}

}

void add_memory_forms(Forms &forms)
{
    // A cache operation says where bytes are kept, and changes no value.
    for (const char *cache : {"", ".nc", ".wb", ".cg", ".cs", ".ca", ".wt"})
        add_space<Space::GLOBAL>(forms, std::string(".global") + cache,
                                 Group::LOAD_GLOBAL, Group::STORE_GLOBAL);
    for (const char *volatility : {"", ".volatile"}) {
        std::string v = volatility;
        add_space<Space::SHARED>(forms, v + ".shared", Group::LOAD_SHARED,
                                 Group::STORE_SHARED);
        add_space<Space::LOCAL>(forms, v + ".local", Group::LOCAL,
                                Group::LOCAL);
        add_space<Space::GENERIC>(forms, v, Group::LOAD_GLOBAL,
                                  Group::STORE_GLOBAL);
    }
    add_accesses(forms, "ld.volatile.global", load<Space::GLOBAL>, false,
                 Group::LOAD_GLOBAL);
    add_accesses(forms, "st.volatile.global", store<Space::GLOBAL>, true,
                 Group::STORE_GLOBAL);
    add_accesses(forms, "ld.param", load<Space::PARAM>, false, Group::MOVE);
    add_accesses(forms, "ld.const", load<Space::CONST>, false,
                 Group::MOVE);
    forms["copy.local"] = {copy_local, "", Group::MOVE};

    add_atomics<Space::GLOBAL>(forms, "global.");
    add_atomics<Space::SHARED>(forms, "shared.");
    add_atomics<Space::GENERIC>(forms, "");

    forms["cvta.global.u64"] = {to_generic<0>, "8|8", Group::INTEGER};
    forms["cvta.shared.u64"] = {to_generic<SHARED_WINDOW>, "8|8",
                                Group::INTEGER};
    forms["cvta.local.u64"] = {to_generic<LOCAL_WINDOW>, "8|8", Group::INTEGER};
    forms["cvta.to.global.u64"] = {from_generic<0>, "8|8", Group::INTEGER};
    forms["cvta.to.shared.u64"] = {from_generic<SHARED_WINDOW>, "8|8",
                                   Group::INTEGER};
    forms["cvta.to.local.u64"] = {from_generic<LOCAL_WINDOW>, "8|8",
                                  Group::INTEGER};
}

}
