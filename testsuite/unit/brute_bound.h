// The bound for recomputation, from all sets of steps that may be recomputed.
// Tests hold passes/remat/remat_bound.h against it, for problems of at most 12
// forward steps and 32 values.
#ifndef CNNC_TEST_BRUTE_BOUND_H
#define CNNC_TEST_BRUTE_BOUND_H

#include "../../passes/remat/remat_schedule.h"

enum { MOST_WAYS = 1 << 12 };

// One set of forward steps that are recomputed after t: its cost, and the
// bytes that are alive at t at least; bytes -1: it can't be.
typedef struct BruteWay {
    int64_t bytes, cost;
} BruteWay;

// For the steps whose bits are in set.
BruteWay brute_way(const Remat *r, int32_t t, uint32_t set);
// The ways that are cheaper than all of no more bytes, by ascending bytes, into
// ways, of MOST_WAYS; how many.
int brute_ways(const Remat *r, int32_t t, BruteWay *ways);
// The corners of the lower hull of such ways into corner, of as many; how many.
int brute_corners(const BruteWay *ways, int count, BruteWay *corner);
// The cost of the cheapest way that takes at most that number of bytes; -1:
// there is none.
int64_t brute_way_cost(const BruteWay *ways, int count, int64_t bytes);
// The hull of such corners at that number of bytes, rounded up; -1: none fits.
int64_t brute_hull(const BruteWay *corner, int count, int64_t bytes);

#endif
