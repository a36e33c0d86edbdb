// Reports where the threads of a block wait if they wait for each other
// forever. Threads that wait in the same call form one group.
#include <stdarg.h>
#include <stdio.h>
#include "runner.h"

namespace {

enum { MOST_GROUPS = 8, MOST_RANGES = 4 };

const char *const calls[] = {
    "have ended", "__syncthreads", "__syncthreads_or", "__syncwarp",
    "__shfl_sync", "__shfl_up_sync", "__shfl_down_sync", "__shfl_xor_sync",
    "__ballot_sync", "__any_sync", "__all_sync", "a warp's gathering"};

const HostPlace ended = {"", 0, HOST_NO_CALL};
const HostPlace not_begun = {"", -1, HOST_NO_CALL};

const HostPlace &place_of(const Runner *r, const bool *begun, int thread)
{
    if (!begun[thread]) return not_begun;
    const HostPlace &place = r->waiting[thread].place;
    return place.call ? place : ended;
}

// Text of bounded length, truncated at the end.
struct Text {
    char at[800];
    size_t length = 0;
    __attribute__((format(printf, 2, 3))) void add(const char *format, ...)
    {
        va_list arguments;
        va_start(arguments, format);
        int more = vsnprintf(at + length, sizeof at - length, format,
                             arguments);
        va_end(arguments);
        length += (size_t)more;
        if (length > sizeof at - 1) length = sizeof at - 1;
    }
};

// Adds "threads 0-15, 32-47 wait at __syncthreads, net.cu:120" and marks them
// done.
void add_group(Text *text, const Runner *r, const bool *begun, int thread,
               bool *done)
{
    const HostPlace &place = place_of(r, begun, thread);
    int ranges = 0, more = 0, total = 0;
    text->add("%s", thread ? "; threads" : "threads");
    for (int t = thread; t < r->threads; t++) {
        if (done[t] || !same_place(place_of(r, begun, t), place)) continue;
        int last = t;
        while (last + 1 < r->threads && !done[last + 1] &&
               same_place(place_of(r, begun, last + 1), place))
            last++;
        for (int i = t; i <= last; i++) done[i] = true;
        total += last - t + 1;
        if (ranges == MOST_RANGES) more += last - t + 1;
        else if (ranges++, text->add(ranges > 1 ? ", %d" : " %d", t), last > t)
            text->add("-%d", last);
        t = last;
    }
    if (more) text->add(" and %d more", more);
    text->add(" (%d) ", total);
    if (place.call)
        text->add("wait at %s, %s:%d", calls[place.call], place.file,
                  place.line);
    else text->add("%s", place.line ? "have not begun" : calls[0]);
}

}

void report_diverged(const Runner *r, const char *why)
{
    bool begun[MAX_THREADS] = {}, done[MAX_THREADS] = {};
    for (int p = 0; p < r->begun; p++) begun[r->at[p]] = true;
    Text text;
    int groups = 0;
    text.at[0] = 0;
    for (int t = 0; t < r->threads && groups < MOST_GROUPS; t++)
        if (!done[t]) add_group(&text, r, begun, t, done), groups++;
    report("kernel %s, step %d: block (%u, %u, %u): %s: %s", r->launch->kernel,
           r->launch->step, blockIdx.x, blockIdx.y, blockIdx.z, why, text.at);
}
