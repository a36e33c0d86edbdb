// Accesses to each byte of shared memory since the last barrier.
#include "race.h"

#include "block.h"

namespace ptx {

namespace {

int thread_of(const Warp &w, int lane) { return w.index * WARP + lane; }

std::string name_of(int thread)
{
    return thread < 0 ? "another thread" : "thread " + std::to_string(thread);
}

}

bool Races::is_unordered(const Access &before, const Warp &w, int thread)
{
    if (before.thread == Access::NOBODY || before.thread == thread)
        return false;
    if (before.epoch != w.epoch) return false;
    int warp = before.thread >= 0 ? before.thread / WARP
                                  : Access::FIRST_WARP - before.thread;
    return warp != w.index || before.meetings == w.meetings;
}

void Races::read(const Warp &w, const Instruction &i, int lane, uint64_t at,
                 size_t count)
{
    int own = thread_of(w, lane);
    for (size_t k = 0; k < count; k++) {
        Byte &byte = bytes_[at + k];
        if (is_unordered(byte.write, w, own))
            fault(i, "a race: thread %d reads byte %llu of shared memory, and "
                     "%s wrote it since the last barrier",
                  own, (unsigned long long)at + k,
                  name_of(byte.write.thread).c_str());
        int reader = own;
        if (is_unordered(byte.read, w, own)) {
            int before = byte.read.thread, warp = Access::FIRST_WARP - w.index;
            bool is_own = before == warp ||
                          (before >= 0 && before / WARP == w.index);
            reader = is_own ? warp : (int)Access::MANY;
        }
        byte.read = {reader, w.epoch, w.meetings};
    }
}

void Races::write(const Warp &w, const Instruction &i, int lane, uint64_t at,
                  size_t count)
{
    int own = thread_of(w, lane);
    for (size_t k = 0; k < count; k++) {
        Byte &byte = bytes_[at + k];
        bool read = is_unordered(byte.read, w, own);
        if (read || is_unordered(byte.write, w, own))
            fault(i, "a race: thread %d writes byte %llu of shared memory, and "
                     "%s %s it since the last barrier",
                  own, (unsigned long long)at + k,
                  name_of((read ? byte.read : byte.write).thread).c_str(),
                  read ? "read" : "wrote");
        byte.write = {own, w.epoch, w.meetings};
    }
}

}
