// Requests to memory, counted as the hardware splits them, and the columns of
// the table of counts.
#include "counts.h"

#include <algorithm>
#include <cstring>

namespace ptx {

void Counts::add(const Counts &other)
{
    enum { COUNT = sizeof(Counts) / sizeof(uint64_t) };
    static_assert(sizeof(Counts) == COUNT * sizeof(uint64_t), "all are counts");
    uint64_t to[COUNT], from[COUNT];
    memcpy(to, this, sizeof to);
    memcpy(from, &other, sizeof from);
    for (int i = 0; i < COUNT; i++) to[i] += from[i];
    memcpy((void *)this, to, sizeof to);
}

namespace {

// Sorts the numbers, and returns how many differ.
int differing(uint64_t *numbers, int count)
{
    std::sort(numbers, numbers + count);
    return (int)(std::unique(numbers, numbers + count) - numbers);
}

}

void count_sectors(Counts::Traffic &traffic, const uint64_t (&at)[WARP],
                   int bytes, Mask lanes)
{
    const int sector = 32;
    uint64_t places[WARP], touched[WARP];
    int n = 0;
    for (int l = 0; l < WARP; l++) {
        if (!(lanes >> l & 1)) continue;
        places[n] = at[l];
        touched[n++] = at[l] / sector;
    }
    traffic.requests++;
    traffic.bytes += (uint64_t)(n * bytes);
    traffic.sectors += (uint64_t)differing(touched, n);
    traffic.least +=
        (uint64_t)((differing(places, n) * bytes + sector - 1) / sector);
}

// Lanes that touch one word share it.  If each has 8 bytes, half a warp has a
// pass, and a quarter if it has 16: that is the least.
void count_passes(Counts::Passes &passes, const uint64_t (&at)[WARP], int bytes,
                  Mask lanes)
{
    const int banks = 32, bank_bytes = 4;
    int together = bytes <= bank_bytes ? WARP : WARP * bank_bytes / bytes;
    passes.requests++;
    passes.bytes += (uint64_t)(__builtin_popcount(lanes) * bytes);
    for (int first = 0; first < WARP; first += together) {
        uint64_t words[WARP];
        int n = 0, most = 0, in_bank[banks] = {};
        for (int l = first; l < first + together; l++)
            for (int k = 0; lanes >> l & 1 && k < (bytes + 3) / 4; k++)
                words[n++] = at[l] / bank_bytes + (uint64_t)k;
        n = differing(words, n);
        for (int k = 0; k < n; k++)
            most = std::max(most, ++in_bank[words[k] % banks]);
        passes.passes += (uint64_t)most;
        passes.least += n > 0;
    }
}

std::vector<Column> columns_of(const Counts &c)
{
    static const char *const groups[] = {
        "integer", "float", "double", "convert", "move", "predicate", "special",
        "mma", "load_matrix", "load_global", "store_global", "load_shared",
        "store_shared", "local", "async", "atomic", "control", "warp",
    };
    static_assert(sizeof groups / sizeof *groups == (int)Group::COUNT,
                  "each has a name");
    std::vector<Column> columns = {
        {"blocks", c.blocks}, {"threads", c.threads},
        {"instructions", c.instructions}, {"lanes", c.lanes},
    };
    for (int g = 0; g < (int)Group::COUNT; g++)
        columns.push_back({groups[g], c.groups[g]});
    const Column rest[] = {
        {"branches", c.branches}, {"divergent", c.divergent},
        {"load_requests", c.load.requests}, {"load_bytes", c.load.bytes},
        {"load_sectors", c.load.sectors}, {"load_least", c.load.least},
        {"store_requests", c.store.requests}, {"store_bytes", c.store.bytes},
        {"store_sectors", c.store.sectors}, {"store_least", c.store.least},
        {"atomic_requests", c.atomic.requests},
        {"atomic_bytes", c.atomic.bytes}, {"atomic_sectors", c.atomic.sectors},
        {"atomic_least", c.atomic.least},
        {"shared_requests", c.shared.requests},
        {"shared_bytes", c.shared.bytes}, {"shared_passes", c.shared.passes},
        {"shared_least", c.shared.least},
    };
    columns.insert(columns.end(), std::begin(rest), std::end(rest));
    return columns;
}

}
