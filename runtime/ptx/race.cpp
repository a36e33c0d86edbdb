// Accesses to each byte since the last barrier.
#include "race.h"

#include "block.h"

namespace ptx {

namespace {

int thread_of(const Warp &w, int lane) { return w.index * WARP + lane; }

std::string name_of(int thread, bool is_other_block)
{
    std::string name = thread < 0 ? "another thread"
                                  : "thread " + std::to_string(thread);
    return is_other_block ? name + " of another block" : name;
}

}

Races::Byte &Races::byte_at(uint64_t at)
{
    uint64_t number = at / PAGE;
    if (number != last_ || page_ == nullptr) {
        std::unique_ptr<Page> &page = pages_[number];
        if (!page) page.reset(new Page);
        last_ = number;
        page_ = page.get();
    }
    return page_->bytes[at % PAGE];
}

// True if only this block has had the access.
bool Races::is_of(const Access &access, uint32_t block)
{
    return access.thread != Access::NOBODY &&
           access.thread != Access::EVERYWHERE && access.block == block;
}

bool Races::is_unordered(const Access &before, const Warp &w, int thread) const
{
    if (before.thread == Access::NOBODY) return false;
    if (!is_of(before, w.block->number))
        return !is_shared_ && apart_;
    if (before.thread == thread || before.epoch != w.epoch) return false;
    int warp = before.thread >= 0 ? before.thread / WARP
                                  : Access::FIRST_WARP - before.thread;
    return warp != w.index || before.meetings == w.meetings;
}

std::string Races::read(const Warp &w, int lane, uint64_t at, size_t count)
{
    int own = thread_of(w, lane);
    uint32_t block = w.block->number;
    std::string why;
    for (size_t k = 0; k < count; k++) {
        Byte &byte = byte_at(at + k);
        if (why.empty() && is_unordered(byte.write, w, own))
            why = "in a race: " +
                  name_of(byte.write.thread, !is_of(byte.write, block)) +
                  " wrote byte " + std::to_string(at + k) +
                  " since the last barrier";
        if (why.empty() && is_shared_ && !is_of(byte.write, block))
            why = "from byte " + std::to_string(at + k) +
                  ", which nobody wrote";
        Access &read = byte.read;
        int reader = own;
        if (!is_shared_ && read.thread != Access::NOBODY &&
            !is_of(read, block)) {
            reader = Access::EVERYWHERE;
        } else if (is_unordered(read, w, own)) {
            int warp = Access::FIRST_WARP - w.index;
            bool is_own = read.thread == warp ||
                          (read.thread >= 0 && read.thread / WARP == w.index);
            reader = is_own ? warp : (int)Access::MANY;
        }
        read = {reader, block, w.epoch, w.meetings};
    }
    return why;
}

void Races::write(const Warp &w, const Instruction &i, int lane, uint64_t at,
                  size_t count)
{
    int own = thread_of(w, lane);
    for (size_t k = 0; k < count; k++) {
        Byte &byte = byte_at(at + k);
        bool read = is_unordered(byte.read, w, own);
        const Access &before = read ? byte.read : byte.write;
        if (read || is_unordered(byte.write, w, own))
            fault(i, "a race: thread %d writes byte %llu, and %s %s it since "
                     "the last barrier",
                  own, (unsigned long long)at + k,
                  name_of(before.thread,
                          !is_of(before, w.block->number)).c_str(),
                  read ? "read" : "wrote");
        byte.write = {own, w.block->number, w.epoch, w.meetings};
    }
}

}
