#include "race.h"

#include "block.h"

namespace ptx {

namespace {

uint16_t number_of(const Warp &w, int lane)
{
    return (uint16_t)(w.index * WARP + lane + 1);
}

}

void Races::read(const Warp &w, const Instruction &i, int lane, uint64_t at,
                 size_t count)
{
    uint16_t own = number_of(w, lane);
    for (size_t k = 0; k < count; k++) {
        Byte &byte = bytes_[at + k];
        if (byte.writer != NOBODY && byte.writer != own &&
            byte.written == w.epoch)
            fault(i, "a race: thread %d reads byte %llu of shared memory, and "
                     "thread %d wrote it since the last barrier",
                  own - 1, (unsigned long long)(at + k), byte.writer - 1);
        bool known = byte.reader != NOBODY && byte.read == w.epoch;
        byte.reader = known && byte.reader != own ? MANY : own;
        byte.read = w.epoch;
    }
}

void Races::write(const Warp &w, const Instruction &i, int lane, uint64_t at,
                  size_t count)
{
    uint16_t own = number_of(w, lane);
    for (size_t k = 0; k < count; k++) {
        Byte &byte = bytes_[at + k];
        bool read = byte.reader != NOBODY && byte.reader != own &&
                    byte.read == w.epoch;
        bool written = byte.writer != NOBODY && byte.writer != own &&
                       byte.written == w.epoch;
        if (read || written)
            fault(i, "a race: thread %d writes byte %llu of shared memory, and "
                     "thread %d %s it since the last barrier",
                  own - 1, (unsigned long long)(at + k),
                  (read ? byte.reader : byte.writer) - 1,
                  read ? "read" : "wrote");
        byte.writer = own;
        byte.written = w.epoch;
    }
}

}
