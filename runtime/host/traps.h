// What of an arena AddressSanitizer lets a step touch.
#ifndef CNNC_HOST_TRAPS_H
#define CNNC_HOST_TRAPS_H

#include <stddef.h>
#include <stdint.h>
#include <vector>
#include "plan.h"

// A byte that the step may not touch and no trap can close.
struct HiddenByte {
    size_t        offset;       // in the arena
    unsigned char was;
};
typedef std::vector<HiddenByte> HiddenBytes;

enum : size_t { NO_BYTE = SIZE_MAX };

// Of the arena at `arena`, which traps, the step's buffers no longer do.  Bytes
// that open with them are hidden.
void open_buffers(uintptr_t arena, const PlannedStep &step,
                  HiddenBytes *hidden);
// All of it traps again, and what was hidden is as it was.  Returns the offset
// of a hidden byte that the step has changed, or NO_BYTE.
size_t close_buffers(uintptr_t arena, size_t bytes, const PlannedStep &step,
                     HiddenBytes *hidden);

#endif
