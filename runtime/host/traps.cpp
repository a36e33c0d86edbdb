// AddressSanitizer poisons granules of 8 bytes.  A region can end at any byte,
// but must begin at a granule.  If a row begins inside a granule, the bytes
// before it are open too.  They are filled with 0xff while the step runs,
// unless they belong to the step.  A step that reads them computes with NaN.  A
// step that writes them is found when they are restored.
#include <algorithm>
#include "host.h"
#include "traps.h"

namespace {

enum : size_t { GRAIN = 8 };

bool is_touched(const PlannedStep &step, size_t at)
{
    return std::any_of(step.touched.begin(), step.touched.end(),
                       [=](const Touched &t) { return t.holds(at); });
}

void hide(uintptr_t arena, size_t at, HiddenBytes *hidden)
{
    auto *byte = (unsigned char *)(arena + at);
    hidden->push_back({at, *byte});
    *byte = FILL;
}

}

void open_buffers(uintptr_t arena, const PlannedStep &step, HiddenBytes *hidden)
{
    if (!TRAPS) return;
    for (const Touched &t : step.touched)
        for (size_t row = 0; row < t.rows; row++)
            untrap((void *)(arena + t.offset + row * t.stride), t.bytes);
    for (const Touched &t : step.touched)
        for (size_t row = 0; row < t.rows; row++) {
            size_t begin = t.offset + row * t.stride;
            for (size_t at = begin / GRAIN * GRAIN; at < begin; at++)
                if (!is_touched(step, at)) hide(arena, at, hidden);
        }
}

// Restores in reverse order, since two rows in one granule hide a byte twice.
size_t close_buffers(uintptr_t arena, size_t bytes, const PlannedStep &step,
                     HiddenBytes *hidden)
{
    size_t changed = NO_BYTE;
    for (; !hidden->empty(); hidden->pop_back()) {
        auto *byte = (unsigned char *)(arena + hidden->back().offset);
        if (*byte != FILL) changed = hidden->back().offset;
        *byte = hidden->back().was;
    }
    for (const Touched &t : step.touched) {
        size_t from = t.offset / GRAIN * GRAIN;
        size_t to = (t.end() + GRAIN - 1) / GRAIN * GRAIN;
        to = std::min(to, bytes);
        trap((void *)(arena + from), to - from);
    }
    return changed;
}
