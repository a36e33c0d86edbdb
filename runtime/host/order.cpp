// The orders of CNNC_HOST_ORDER=ascending, descending, random or random:SEED. A
// correct kernel computes the same bits in each of them.
#include <algorithm>
#include <stdlib.h>
#include <string.h>
#include "host.h"
#include "order.h"

namespace {

struct Asked {
    HostOrder order = AS_IT_COMES;
    uint64_t  seed = 0;
    Asked();
};

Asked::Asked()
{
    const char *text = getenv("CNNC_HOST_ORDER");
    if (!text || !*text) return;
    char *end = nullptr;
    if (!strcmp(text, "ascending")) order = ASCENDING;
    else if (!strcmp(text, "descending")) order = DESCENDING;
    else if (!strcmp(text, "random") ||
             (!strncmp(text, "random:", 7) &&
              (seed = strtoull(text + 7, &end, 10), end > text + 7 && !*end)))
        order = RANDOM;
    else {
        report("CNNC_HOST_ORDER is %s: not ascending, descending, random or "
               "random:SEED", text);
        exit(2);
    }
}

const Asked asked;

// splitmix64.
UNSEEN uint64_t next(uint64_t *random)
{
    uint64_t z = *random += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

template <class T>
UNSEEN void shuffle(T *x, int64_t count, uint64_t *random)
{
    for (int64_t i = count - 1; i > 0; i--) {
        int64_t k = (int64_t)(next(random) % (uint64_t)(i + 1));
        T other = x[k];
        x[k] = x[i];
        x[i] = other;
    }
}

}

UNSEEN HostOrder host_order()
{
    return asked.order;
}

UNSEEN uint64_t random_start(uint64_t number, uint64_t of)
{
    uint64_t random = asked.seed;
    random = next(&random) ^ number;
    random = next(&random) ^ of;
    return next(&random);
}

std::vector<int64_t> order_blocks(int64_t blocks, int step)
{
    std::vector<int64_t> order;
    if (asked.order < DESCENDING) return order;
    order.resize((size_t)blocks);
    for (int64_t b = 0; b < blocks; b++) order[(size_t)b] = blocks - 1 - b;
    if (asked.order == RANDOM) {
        static thread_local uint64_t launches = 0;
        uint64_t random = random_start(launches++, (uint64_t)step);
        shuffle(order.data(), blocks, &random);
    }
    return order;
}

UNSEEN void order_threads(short *at, int threads, uint64_t *random)
{
    short warps[MAX_THREADS / WARP];
    int count = (threads + WARP - 1) / WARP, position = 0;
    bool down = asked.order == DESCENDING;
    for (int w = 0; w < count; w++)
        warps[w] = (short)(down ? count - 1 - w : w);
    if (asked.order == RANDOM) shuffle(warps, count, random);
    for (int w = 0; w < count; w++) {
        int first = warps[w] * WARP;
        int lanes = threads - first < WARP ? threads - first : WARP;
        for (int l = 0; l < lanes; l++)
            at[position + l] = (short)(first + (down ? lanes - 1 - l : l));
        shuffle_lanes(at + position, lanes, random);
        position += lanes;
    }
}

UNSEEN void shuffle_lanes(short *at, int count, uint64_t *random)
{
    if (asked.order == RANDOM) shuffle(at, count, random);
}
