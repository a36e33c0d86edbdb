// Restricts the bytes of an arena that a step may access, by AddressSanitizer.
#ifndef CNNC_HOST_TRAPS_H
#define CNNC_HOST_TRAPS_H

#include <stddef.h>
#include <stdint.h>
#include <vector>
#include "plan.h"

// A byte that the step may not touch but that cannot be poisoned.
struct HiddenByte {
    size_t        offset;       // in the arena
    unsigned char was;
};
typedef std::vector<HiddenByte> HiddenBytes;

enum : size_t { NO_BYTE = SIZE_MAX };

// Unpoisons the step's buffers in the poisoned arena at `arena`.  Fills bytes
// that open with them, and appends their former values to *hidden.
void open_buffers(uintptr_t arena, const PlannedStep &step,
                  HiddenBytes *hidden);
// Poisons the step's buffers and restores the hidden bytes.  Returns the offset
// of a hidden byte that the step has changed, or NO_BYTE.
size_t close_buffers(uintptr_t arena, size_t bytes, const PlannedStep &step,
                     HiddenBytes *hidden);

#endif
