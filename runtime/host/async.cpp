// Copies to shared memory that a kernel begins and waits for later.
//
// A copy happens only when its thread waits for it, and until then its target
// holds NaN.  So a kernel that reads too early, or waits for too few groups,
// computes with NaN in every run.  ThreadSanitizer sees the copied bytes, but
// not the bookkeeping.
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
#include "runner.h"

namespace {

enum { MOST_COPIES = 256, MOST_GROUPS = 8 };

struct Copy {
    void       *to;
    const void *from;
    int         bytes;
    bool        inside;
};

}

// The pending copies of one thread, oldest first; end[g]: the end of group g.
struct LateCopies {
    uint64_t block;             // the block they belong to; void in a later one
    int      count, groups, end[MOST_GROUPS];
    Copy     copy[MOST_COPIES];
};

static constexpr size_t BYTES = MAX_THREADS * sizeof(LateCopies);

// Maps memory instead of allocating it, since most threads never use theirs.
UNSEEN static LateCopies *copies_of(Runner *r)
{
    if (!r->copies) {
        void *room = mmap(nullptr, BYTES, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (room == MAP_FAILED) perror("the host runtime: copies"), _exit(70);
        r->copies = (LateCopies *)room;
    }
    LateCopies *own = &r->copies[r->thread];
    if (own->block != r->block_count) own->count = own->groups = 0;
    own->block = r->block_count;
    return own;
}

UNSEEN void forget_copies(Runner *r)
{
    if (r->copies) munmap((void *)r->copies, BYTES);
    r->copies = nullptr;
}

UNSEEN void host_copy_later(void *to, const void *from, int bytes, bool inside)
{
    Runner *r = running();
    LateCopies *own = copies_of(r);
    if (own->count == MOST_COPIES)
        abandon_block(r, "a thread has begun too many copies");
    if ((uintptr_t)to % (size_t)bytes || (uintptr_t)from % (size_t)bytes)
        abandon_block(r, "a copy to shared memory that is not aligned");
    own->copy[own->count++] = {to, from, bytes, inside};
    memset(to, 0xff, (size_t)bytes);
}

UNSEEN void host_end_copies()
{
    Runner *r = running();
    LateCopies *own = copies_of(r);
    if (own->groups == MOST_GROUPS)
        abandon_block(r, "a thread has ended too many groups of copies");
    own->end[own->groups++] = own->count;
}

UNSEEN void host_wait_for_copies(int pending)
{
    LateCopies *own = copies_of(running());
    int done = own->groups > pending ? own->groups - pending : 0;
    int copied = done ? own->end[done - 1] : 0;
    for (int i = 0; i < copied; i++) {
        const Copy &c = own->copy[i];
        if (c.inside) memcpy(c.to, c.from, (size_t)c.bytes);
        else memset(c.to, 0, (size_t)c.bytes);
    }
    for (int i = copied; i < own->count; i++)
        own->copy[i - copied] = own->copy[i];
    for (int g = done; g < own->groups; g++)
        own->end[g - done] = own->end[g] - copied;
    own->count -= copied;
    own->groups -= done;
}
