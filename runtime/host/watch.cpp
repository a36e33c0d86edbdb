// Watches memory: compares launches, library calls and copy steps with the
// plans of CNNC_HOST_PLAN (plan.cpp).  Compares the bytes that they touch with
// the buffers of their step.
//
// host_arena_at() registers an arena; emitted files call it as ARENA_AT.  A
// step belongs to the arena that contains the first of its pointers into any
// arena.  Each step with a number in the plan is checked twice.
//
// Before it runs, step_begins()
// - checks that the step is due and launches the kernel of the plan;
// - checks that its pointers into the arena point into buffers of the step;
// - fills buffers with NaN (bytes 0xff) whose live range begins here;
// - copies the whole arena to `kept`, with CNNC_HOST_CHECK=writes;
// - unpoisons the step's buffers, if built for AddressSanitizer (traps.cpp).
//
// After it has run, step_ends()
// - poisons these buffers, so that the whole arena is poisoned between steps;
// - compares the arena with `kept`: only bytes that the step writes may differ;
// - fills buffers with NaN whose live range ends here.
//
// So a read of unwritten or dead bytes computes with NaN.  AddressSanitizer
// stops an access outside the step's buffers.  The comparison finds a write to
// a buffer that the step only reads.
//
// A launch outside the plan (step -1) may touch all of the arena.  Neither it
// nor a copy may come between two steps of one plan.  The exception is a copy
// of a tensor between the step that begins the copy and the step that waits for
// it.
#include <algorithm>
#include <list>
#include <mutex>
#include <stdlib.h>
#include "host.h"
#include "plan.h"
#include "traps.h"

namespace {

struct Arena {
    uintptr_t start;
    size_t    bytes;
    int       next = -1;        // the step that is due; -1: a first one
    int       scored = -1;      // 1: runs the plan's optional steps;
                                // 0: omits them; -1: not known yet
    std::vector<Bytes> copying; // tensors with a copy under way
    std::vector<unsigned char> kept; // the arena's bytes before the step
    HiddenBytes hidden;         // changed by open_buffers() for the step
};

// Guards the list.  Its elements never move, and only one thread of the program
// launches into an arena at a time.
std::mutex arena_lock;
std::list<Arena> &arenas = lasting<std::list<Arena>>();

bool checks_writes()
{
    static const bool asked = [] {
        const char *text = getenv("CNNC_HOST_CHECK");
        if (!text || !*text) return false;
        if (!strcmp(text, "writes")) return true;
        report("CNNC_HOST_CHECK is %s: not writes", text);
        exit(2);
    }();
    return asked;
}

Arena *arena_at(const volatile void *pointer)
{
    std::lock_guard<std::mutex> hold(arena_lock);
    for (Arena &arena : arenas)
        if ((uintptr_t)pointer - arena.start < arena.bytes) return &arena;
    return nullptr;
}

Arena *find_arena(const HostStep &step)
{
    Arena *found = nullptr;
    for (int i = 0; i < step.count && !found; i++)
        found = arena_at(step.pointers[i]);
    return found;
}

void trap_all(const Arena &arena)
{
    if (TRAPS && plans().named) trap((void *)arena.start, arena.bytes);
}

void fill_all(const Arena &arena, const std::vector<Bytes> &fills)
{
    for (const Bytes &fill : fills)
        raw_fill((void *)(arena.start + fill.offset), FILL, fill.bytes);
}

bool all_optional(int from, int to)
{
    for (; from < to; from++)
        if (!plans().steps[(size_t)from].optional) return false;
    return true;
}

// True if `step` may follow: all steps from the due one up to it are optional,
// and this evaluation has run none of them.
bool may_skip_to(const Arena &arena, int step)
{
    return arena.next >= step ||
           (arena.scored != 1 && all_optional(arena.next, step));
}

// True if no plan has begun, or if the current one may end here.
bool is_at_rest(const Arena &arena)
{
    if (arena.next < 0) return true;
    return may_skip_to(arena, plans().steps[(size_t)arena.next].last + 1);
}

// True if `step` may come next in the plan that has begun.
bool goes_on(const Arena &arena, int step)
{
    const PlannedStep &planned = plans().steps[(size_t)step];
    if (arena.next < planned.first || arena.next > step) return false;
    return may_skip_to(arena, step) &&
           !(planned.optional && arena.scored == 0);
}

// True if a plan may begin with `step`: its first step, or the first one that
// is not optional.
bool begins_plan(const Arena &arena, int step)
{
    const PlannedStep &planned = plans().steps[(size_t)step];
    if (step != planned.first && planned.optional) return false;
    return is_at_rest(arena) && all_optional(planned.first, step);
}

bool is_due(const Arena &arena, int step)
{
    return goes_on(arena, step) || begins_plan(arena, step);
}

void advance(Arena *arena, int step)
{
    const PlannedStep &planned = plans().steps[(size_t)step];
    bool begins = step == planned.first || !goes_on(*arena, step);
    if (begins) {
        arena->scored = -1;
        arena->copying.clear();
    }
    if ((begins ? planned.first : arena->next) < step) arena->scored = 0;
    if (planned.optional) arena->scored = 1;
    arena->next = step == planned.last ? -1 : step + 1;
}

bool check_order(const Arena &arena, const HostStep &step)
{
    if (is_due(arena, step.number)) return true;
    if (arena.next < 0)
        report("%s, step %d: the first step of a plan is due", step.call,
               step.number);
    else
        report("%s, step %d: step %d (%s) is due", step.call, step.number,
               arena.next, plans().steps[(size_t)arena.next].name.c_str());
    return false;
}

// Compares names without template arguments: "conv_forward<conv1_shape, relu>"
// is the kernel "conv_forward".
bool check_kernel(const PlannedStep &planned, const HostStep &step)
{
    if (!planned.knows_kernels) return true;
    std::string name = step.kernel ? step.kernel : "";
    name.erase(std::min(name.find('<'), name.size()));
    if (name == planned.kernel) return true;
    report("%s, step %d (%s): the plan has %s here", step.call, step.number,
           planned.name.c_str(),
           planned.kernel.empty() ? "a library call" : planned.kernel.c_str());
    return false;
}

// Returns the distance in bytes from an offset to a buffer, 0 inside it.
size_t distance(const Touched &t, size_t at)
{
    return at < t.offset ? t.offset - at : at < t.end() ? 0 : at - t.end() + 1;
}

bool check_pointer(const Arena &arena, const PlannedStep &planned,
                   const HostStep &step, int i)
{
    Arena *other = arena_at(step.pointers[i]);
    if (!other) return true;
    size_t at = (uintptr_t)step.pointers[i] - arena.start;
    const Touched *nearest = nullptr;
    for (const Touched &t : planned.touched) {
        if (other == &arena && t.holds(at)) return true;
        if (!nearest || distance(t, at) < distance(*nearest, at)) nearest = &t;
    }
    if (other != &arena)
        report("%s, step %d (%s): its pointer argument %d points into another "
               "arena than the first", step.call, step.number,
               planned.name.c_str(), i);
    else if (!nearest)
        report("%s, step %d (%s): its pointer argument %d is offset %zu of the "
               "arena, and the step has no buffers", step.call, step.number,
               planned.name.c_str(), i, at);
    else
        report("%s, step %d (%s): its pointer argument %d is offset %zu of the "
               "arena, in no buffer of the step; the nearest is %s, at %zu to "
               "%zu", step.call, step.number, planned.name.c_str(), i, at,
               nearest->name.c_str(), nearest->offset, nearest->end());
    return false;
}

bool check_step(const Arena &arena, const HostStep &step)
{
    if ((size_t)step.number >= plans().steps.size()) {
        report("%s, step %d: the plans of CNNC_HOST_PLAN have %zu steps",
               step.call, step.number, plans().steps.size());
        return false;
    }
    const PlannedStep &planned = plans().steps[(size_t)step.number];
    if (arena.bytes < planned.arena_bytes) {
        report("%s, step %d: the plan needs an arena of %zu bytes, here are "
               "%zu", step.call, step.number, planned.arena_bytes, arena.bytes);
        return false;
    }
    if (!check_order(arena, step) || !check_kernel(planned, step)) return false;
    for (int i = 0; i < step.count; i++)
        if (!check_pointer(arena, planned, step, i)) return false;
    return true;
}

void keep(Arena *arena)
{
    arena->kept.resize(arena->bytes);
    raw_copy(arena->kept.data(), (void *)arena->start, arena->bytes);
}

void report_changed(const PlannedStep &planned, const HostStep &step, size_t at)
{
    const char *where = "which it does not touch";
    std::string name;
    for (const Touched &t : planned.touched)
        if (t.holds(at)) where = "which it only reads: ", name = t.name;
    report("%s, step %d (%s): it has changed byte %zu of the arena, %s%s",
           step.call, step.number, planned.name.c_str(), at, where,
           name.c_str());
}

// Copies the step's written bytes into the kept ones.  Then both must be equal.
bool check_kept(Arena *arena, const PlannedStep &planned, const HostStep &step)
{
    std::vector<unsigned char> now(arena->bytes);
    unsigned char *kept = arena->kept.data();
    raw_copy(now.data(), (void *)arena->start, arena->bytes);
    for (const Touched &t : planned.touched)
        for (size_t row = 0; t.writes && row < t.rows; row++) {
            size_t at = t.offset + row * t.stride;
            memcpy(kept + at, now.data() + at, t.bytes);
        }
    size_t at = 0;
    if (!memcmp(kept, now.data(), arena->bytes)) return true;
    while (kept[at] == now[at]) at++;
    report_changed(planned, step, at);
    return false;
}

// Checks and unpoisons all arenas of a launch outside the plan.
bool begin_unplanned(const HostStep &step)
{
    for (int i = 0; i < step.count; i++) {
        Arena *arena = arena_at(step.pointers[i]);
        if (!arena) continue;
        if (!is_at_rest(*arena)) {
            report("%s: launched outside the plan, while step %d is due",
                   step.call, arena->next);
            return false;
        }
        untrap((void *)arena->start, arena->bytes);
    }
    return true;
}

}

bool has_plan()
{
    return plans().named;
}

bool step_begins(const HostStep &step)
{
    if (!plans().named) return true;
    if (plans().broken) return false;
    if (step.number < 0) return begin_unplanned(step);
    Arena *arena = find_arena(step);
    if (!arena) {
        std::lock_guard<std::mutex> hold(arena_lock);
        if (arenas.empty()) return true;
        report("%s, step %d: it has no pointer into an arena", step.call,
               step.number);
        return false;
    }
    if (!check_step(*arena, step)) return false;
    const PlannedStep &planned = plans().steps[(size_t)step.number];
    advance(arena, step.number);
    fill_all(*arena, planned.before);
    if (checks_writes()) keep(arena);
    open_buffers(arena->start, planned, &arena->hidden);
    return true;
}

bool find_step_range(int step, uintptr_t at, size_t bytes, DeviceRange *found)
{
    const Arena *arena = plans().named && step >= 0
                             ? arena_at((const void *)at) : nullptr;
    if (!arena) return find_device_range(at, bytes, found);
    size_t offset = at - arena->start;
    const auto &touched = plans().steps[(size_t)step].touched;
    return std::any_of(touched.begin(), touched.end(), [&](const Touched &t) {
        size_t row = offset - (offset - t.offset) % t.stride;
        if (!t.holds(offset) || bytes > row + t.bytes - offset) return false;
        *found = {arena->start + row, arena->start + row + t.bytes};
        return true;
    });
}

std::vector<DeviceRange> step_ranges(int step)
{
    std::vector<DeviceRange> ranges = device_ranges(), rest;
    if (!plans().named || step < 0) return ranges;
    std::lock_guard<std::mutex> hold(arena_lock);
    for (const Arena &arena : arenas) {
        uintptr_t end = arena.start + arena.bytes;
        rest.clear();
        for (const DeviceRange &r : ranges)
            if (arena.start >= r.begin && end <= r.end) {
                rest.push_back({r.begin, arena.start});
                rest.push_back({end, r.end});
            } else {
                rest.push_back(r);
            }
        for (const Touched &t : plans().steps[(size_t)step].touched)
            rest.push_back({arena.start + t.offset, arena.start + t.end()});
        ranges.swap(rest);
    }
    return ranges;
}

bool step_ends(const HostStep &step)
{
    if (!plans().named) return true;
    if (step.number < 0) {
        for (int i = 0; i < step.count; i++)
            if (Arena *arena = arena_at(step.pointers[i])) trap_all(*arena);
        return true;
    }
    Arena *arena = find_arena(step);
    if (!arena) return true;
    const PlannedStep &planned = plans().steps[(size_t)step.number];
    size_t changed =
        close_buffers(arena->start, arena->bytes, planned, &arena->hidden);
    if (changed != NO_BYTE) report_changed(planned, step, changed);
    bool sound = changed == NO_BYTE &&
                 (!checks_writes() || check_kept(arena, planned, step));
    fill_all(*arena, planned.after);
    return sound;
}

bool may_copy(const void *pointer, size_t bytes)
{
    Arena *arena = plans().named ? arena_at(pointer) : nullptr;
    if (!arena || is_at_rest(*arena)) return true;
    size_t at = (uintptr_t)pointer - arena->start;
    for (const Bytes &copied : arena->copying)
        if (at >= copied.offset && at - copied.offset <= copied.bytes &&
            bytes <= copied.bytes - (at - copied.offset))
            return true;
    report("a copy or memset at %p, in the arena, while step %d of the plan is "
           "due", pointer, arena->next);
    return false;
}

bool note_copy(const HostStep &step, bool begins)
{
    Arena *arena = plans().named ? arena_at(step.pointers[0]) : nullptr;
    if (!arena) return true;
    const PlannedStep &planned = plans().steps[(size_t)step.number];
    const Touched &t = planned.touched[0];
    auto &copying = arena->copying;
    if (begins) copying.push_back({t.offset, t.bytes});
    for (auto at = copying.begin(); !begins && at != copying.end(); ++at)
        if (at->offset == t.offset && at->bytes == t.bytes) {
            copying.erase(at);
            return true;
        }
    if (!begins)
        report("%s, step %d (%s): no copy of that is under way", step.call,
               step.number, planned.name.c_str());
    return begins;
}

bool is_trapped(const void *pointer)
{
    return TRAPS && plans().named && arena_at(pointer);
}

bool host_arena_at(const void *pointer, size_t bytes)
{
    Inside inside;
    if (!is_device_memory(pointer, bytes, true)) return false;
    forget_arenas(pointer, bytes);
    std::lock_guard<std::mutex> hold(arena_lock);
    arenas.emplace_back();
    arenas.back().start = (uintptr_t)pointer;
    arenas.back().bytes = bytes;
    trap_all(arenas.back());
    return true;
}

bool host_is_in_arena(const volatile void *pointer)
{
    return arena_at(pointer) != nullptr;
}

void forget_arenas(const void *pointer, size_t bytes)
{
    uintptr_t start = (uintptr_t)pointer;
    std::lock_guard<std::mutex> hold(arena_lock);
    arenas.remove_if([=](const Arena &arena) {
        if (arena.start - start >= bytes) return false;
        untrap((void *)arena.start, arena.bytes);
        return true;
    });
}
