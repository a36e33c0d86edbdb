// cp.async: copies from global to shared memory that complete when a thread
// waits for them.
//
// A copy may happen at any time from its issue to its wait.  Here it happens at
// the wait, the latest time: a thread that reads too early sees what was there
// before.  For races, the copy is a write at both times.
#include <cstring>

#include "block.h"
#include "forms.h"
#include "memory.h"
#include "race.h"
#include "views.h"

namespace ptx {

namespace {

// cp.async [to], [from], bytes {, bytes that are read}: the rest is 0.
void copy_async(Warp &w, const Instruction &i, Mask lanes)
{
    Copy c;
    c.lanes = lanes;
    c.bytes = (int)w.at<uint32_t>(i.slot[2])[0];
    addresses_of(w, i, 0, i.number, c.to);
    const uint64_t *from = w.at<uint64_t>(i.slot[1]);
    unsigned char *where[WARP];
    Mask reading = 0;
    for (int l = 0; l < WARP; l++) {
        c.from[l] = from[l] + (uint64_t)i.second;
        c.group[l] = w.groups[l];
        c.filled[l] = c.bytes;
        if (i.slot[3] != NO_SLOT)
            c.filled[l] = (int)w.at<uint32_t>(i.slot[3])[l];
        if (lanes >> l & 1 && (c.filled[l] < 0 || c.filled[l] > c.bytes))
            fault(i, "lane %d reads %d bytes of %d", l, c.filled[l], c.bytes);
        reading |= (Mask)(c.filled[l] > 0) << l;
    }
    if (c.bytes != 4 && c.bytes != 8 && c.bytes != 16)
        fault(i, "it copies %d bytes", c.bytes);
    find_bytes(w, i, Space::SHARED, c.to, c.bytes, lanes, where);
    note_access(w, i, Space::SHARED, c.to, c.bytes, lanes,
                Access::STORE);
    if (reading & lanes) {
        find_bytes(w, i, Space::GLOBAL, c.from, c.bytes, reading & lanes,
                   where);
        note_access(w, i, Space::GLOBAL, c.from, c.bytes, reading & lanes,
                    Access::LOAD);
    }
    w.copies.push_back(c);
}

void commit(Warp &w, const Instruction &, Mask lanes)
{
    for (int l = 0; l < WARP; l++) w.groups[l] += lanes >> l & 1;
}

void complete(Warp &w, const Instruction &i, Copy &c, int lane)
{
    unsigned char *to = w.block->shared.data() + c.to[lane];
    if (w.block->races)
        w.block->races->write(w, i, lane, c.to[lane], (size_t)c.bytes);
    memset(to, 0, (size_t)c.bytes);
    const Views *views = w.block->launch->views.get();
    if (views)
        views->read(w, lane, c.from[lane], (size_t)c.filled[lane], to);
    else if (c.filled[lane] > 0)
        memcpy(to, (const void *)(uintptr_t)c.from[lane],
               (size_t)c.filled[lane]);
    c.lanes &= ~(1u << lane);
}

// Waits for all groups of each lane but the last `number`; -1: for all copies.
void wait_groups(Warp &w, const Instruction &i, Mask lanes)
{
    std::vector<Copy> rest;
    for (Copy &c : w.copies) {
        for (int l = 0; l < WARP; l++)
            if (lanes >> l & c.lanes >> l & 1 &&
                (i.number < 0 || c.group[l] + i.number < w.groups[l]))
                complete(w, i, c, l);
        if (c.lanes != 0) rest.push_back(c);
    }
    w.copies.swap(rest);
}

}

void add_async_forms(Forms &forms)
{
    for (const char *cache : {"ca", "cg"})
        for (const char *ahead : {"", ".L2::64B", ".L2::128B", ".L2::256B"})
            forms[std::string("cp.async.") + cache + ".shared.global" + ahead] =
                {copy_async, "|ab44?", Group::ASYNC};
    forms["cp.async.commit_group"] = {commit, "", Group::ASYNC};
    forms["cp.async.wait_group"] = {wait_groups, "n", Group::ASYNC};
    Form all = {wait_groups, "", Group::ASYNC};
    all.number = -1;
    forms["cp.async.wait_all"] = all;
}

}
