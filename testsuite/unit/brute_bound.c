// Computes the live values at a step for each set of steps that may be
// recomputed, from each value's rows of the schedule. Nothing here knows of
// cuts.
#include "brute_bound.h"
#include <stdlib.h>

static bool reads(const Remat *r, int32_t s, int32_t v)
{
    for (int32_t k = r->reads[s]; k < r->reads[s + 1]; k++)
        if (r->read[k] == v) return true;
    return false;
}

static bool makes(const Remat *r, int32_t s, int32_t v)
{
    for (int32_t k = r->makes[s]; k < r->makes[s + 1]; k++)
        if (r->make[k] == v) return true;
    return false;
}

// The readers and makers of value v, as far as needed here.
typedef struct Facts {
    // How many make it before t; later; of the first, who can't be recomputed;
    // who does.
    int  before, behind, lost, again;
    bool read_at, made_at, read_forward, read_behind, read_again;
} Facts;

static Facts facts_of(const Remat *r, int32_t t, uint32_t set, int32_t v)
{
    Facts f = {0};
    for (int32_t s = 0; s < r->step_count; s++) {
        bool runs_again = s < r->backward_start && set >> s & 1;
        f.read_again |= runs_again && reads(r, s, v);
        f.read_behind |= s > t && reads(r, s, v);
        f.read_forward |= s > t && s < r->backward_start && reads(r, s, v);
        if (!makes(r, s, v)) continue;
        f.before += s < t;
        f.behind += s >= t;
        f.lost += s < t && (s >= r->backward_start || !r->may_repeat[s]);
        f.again += s < t && runs_again;
    }
    f.read_at = reads(r, t, v);
    f.made_at = makes(r, t, v);
    return f;
}

// True if value v is alive after t.
static bool lives_on(const Remat *r, const Facts *f, int32_t v)
{
    bool asked = f->read_behind || f->read_again || r->kept[v];
    if (r->kept[v] && f->behind == 0) return true;
    if (f->before + f->behind == 0) return asked;
    return f->before > 0 && (f->read_forward ||
                             (asked && (f->lost > 0 || f->again < f->before)));
}

// The most that results of t from the k-th on may save by overwriting dying
// values.
static int64_t saved_by_overs(const Remat *r, int32_t t, uint32_t dying,
                              int32_t k)
{
    if (k == r->makes[t + 1]) return 0;
    int64_t most = saved_by_overs(r, t, dying, k + 1);
    for (int32_t j = r->overs[t]; j < r->overs[t + 1]; j++) {
        int32_t v = r->over[j].result, under = r->over[j].value;
        if (v != r->make[k] || !(dying >> under & 1)) continue;
        int64_t a = r->bytes[v], b = r->bytes[under];
        int64_t bytes = (a < b ? a : b) +
                        saved_by_overs(r, t, dying & ~(1u << under), k + 1);
        if (bytes > most) most = bytes;
    }
    return most;
}

BruteWay brute_way(const Remat *r, int32_t t, uint32_t set)
{
    BruteWay way = {0, 0};
    uint32_t dying = 0;
    for (int32_t s = 0; s < r->backward_start; s++) {
        if (!(set >> s & 1)) continue;
        if (!r->may_repeat[s]) return (BruteWay){-1, 0};
        way.cost += r->cost[s];
    }
    for (int32_t v = 0; v < r->value_count; v++) {
        Facts f = facts_of(r, t, set, v);
        bool stays = lives_on(r, &f, v);
        if (f.read_at && !stays) dying |= 1u << v;
        if (f.read_at || f.made_at || stays) way.bytes += r->bytes[v];
    }
    way.bytes -= saved_by_overs(r, t, dying, r->makes[t]);
    return way;
}

static int compare_ways(const void *a, const void *b)
{
    const BruteWay *x = a, *y = b;
    if (x->bytes != y->bytes) return x->bytes < y->bytes ? -1 : 1;
    return (x->cost > y->cost) - (x->cost < y->cost);
}

static bool is_below(BruteWay a, BruteWay b, BruteWay c)
{
    return (b.cost - a.cost) * (c.bytes - a.bytes) <
           (c.cost - a.cost) * (b.bytes - a.bytes);
}

int brute_ways(const Remat *r, int32_t t, BruteWay *ways)
{
    int count = 0, best = 0;
    for (uint32_t set = 0; set < 1u << r->backward_start; set++) {
        BruteWay way = brute_way(r, t, set);
        if (way.bytes >= 0) ways[count++] = way;
    }
    qsort(ways, (size_t)count, sizeof *ways, compare_ways);
    for (int i = 0; i < count; i++)
        if (best == 0 || ways[i].cost < ways[best - 1].cost)
            ways[best++] = ways[i];
    return best;
}

int brute_corners(const BruteWay *ways, int count, BruteWay *corner)
{
    int best = 0;
    for (int i = 0; i < count; i++) {
        while (best > 1 &&
               !is_below(corner[best - 2], corner[best - 1], ways[i]))
            best--;
        corner[best++] = ways[i];
    }
    return best;
}

int64_t brute_way_cost(const BruteWay *ways, int count, int64_t bytes)
{
    int64_t least = -1;
    for (int i = 0; i < count && ways[i].bytes <= bytes; i++)
        least = ways[i].cost;
    return least;
}

int64_t brute_hull(const BruteWay *corner, int count, int64_t bytes)
{
    int i = 0;
    if (corner[0].bytes > bytes) return -1;
    while (i + 1 < count && corner[i + 1].bytes <= bytes) i++;
    if (i == count - 1) return 0;
    int64_t dx = corner[i + 1].bytes - corner[i].bytes;
    int64_t dy = corner[i].cost - corner[i + 1].cost;
    return corner[i].cost - dy * (bytes - corner[i].bytes) / dx;
}
