// CNNC_HOST_ORDER: the order of blocks, and of the threads of a block.
#ifndef CNNC_HOST_ORDER_H
#define CNNC_HOST_ORDER_H

#include <stdint.h>
#include <vector>

// AS_IT_COMES is ascending, except at a barrier: the last thread to arrive
// continues at once, which saves a switch.  In all other orders the first
// thread in order continues after a barrier.
enum HostOrder { AS_IT_COMES, ASCENDING, DESCENDING, RANDOM };

HostOrder host_order();

// Returns a random state that depends only on the seed and the two numbers.
uint64_t random_start(uint64_t number, uint64_t of);

// Returns the order of the launch's blocks; empty if it is ascending.
std::vector<int64_t> order_blocks(int64_t blocks, int step);

// Sets at[0..threads) to the order of a block's threads.  A warp's threads stay
// adjacent.  A RANDOM order advances *random.
void order_threads(short *at, int threads, uint64_t *random);

// Shuffles the first `count` threads if the order is RANDOM.
void shuffle_lanes(short *at, int count, uint64_t *random);

#endif
