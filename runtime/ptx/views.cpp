// Stores that wait, and values that were seen before them.
#include "views.h"

#include <algorithm>

#include "block.h"

namespace ptx {

namespace {

unsigned char *byte_at(uint64_t at) { return (unsigned char *)(uintptr_t)at; }

}

void Views::arrive(uint64_t at, unsigned char value)
{
    changes[at].push_back({++time, *byte_at(at)});
    *byte_at(at) = value;
}

void Views::read(const Warp &w, int lane, uint64_t at, size_t bytes,
                 unsigned char *to) const
{
    auto own = waiting.find(w.block);
    for (size_t k = 0; k < bytes; k++) {
        to[k] = *byte_at(at + k);
        auto known = changes.find(at + k);
        if (known != changes.end())
            for (const Change &c : known->second)
                if (c.time > w.seen[lane]) {
                    to[k] = c.before;
                    break;
                }
        if (own == waiting.end()) continue;
        auto store = own->second.find(at + k);
        if (store != own->second.end()) to[k] = store->second.value;
    }
}

void Views::write(const Warp &w, int lane, uint64_t at, size_t bytes,
                  const unsigned char *from)
{
    Stores &own = waiting[w.block];
    for (size_t k = 0; k < bytes; k++)
        own[at + k] = {from[k], ++time, w.index * WARP + lane, w.epoch};
}

void Views::settle(const Warp &w, int lane, uint64_t at, size_t bytes)
{
    auto own = waiting.find(w.block);
    if (own == waiting.end()) return;
    const Fence &fence = w.fences[lane];
    Stores &stores = own->second;
    for (auto s = stores.begin(); s != stores.end();) {
        const Store &store = s->second;
        bool is_own = store.thread == w.index * WARP + lane;
        if (store.barriers < fence.barriers ||
            (is_own && store.time < fence.time) ||
            (s->first >= at && s->first < at + bytes)) {
            arrive(s->first, store.value);
            s = stores.erase(s);
        } else {
            ++s;
        }
    }
}

void Views::replaced(Warp &w, int lane, uint64_t at, size_t bytes,
                     const unsigned char *before)
{
    ++time;
    for (size_t k = 0; k < bytes; k++)
        changes[at + k].push_back({time, before[k]});
    w.observed[lane] = time;
}

void Views::fence(Warp &w, Mask lanes)
{
    ++time;
    for (int l = 0; l < WARP; l++) {
        if (!(lanes >> l & 1)) continue;
        w.fences[l] = {time, w.epoch};
        w.seen[l] = std::max(w.seen[l], w.observed[l]);
    }
}

void Views::pass_barrier(Block &b)
{
    uint64_t newest = 0;
    for (const Warp &w : b.warps)
        for (uint64_t seen : w.seen) newest = std::max(newest, seen);
    for (Warp &w : b.warps)
        for (uint64_t &seen : w.seen) seen = newest;
}

void Views::end_block(const Block &b)
{
    auto own = waiting.find(&b);
    if (own == waiting.end()) return;
    ended.push_back(std::move(own->second));
    waiting.erase(own);
}

void Views::end_launch()
{
    for (const Stores &stores : ended)
        for (const auto &s : stores) *byte_at(s.first) = s.second.value;
    ended.clear();
}

}
