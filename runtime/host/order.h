// CNNC_HOST_ORDER: the order in which blocks, and the threads of a block, run.
#ifndef CNNC_HOST_ORDER_H
#define CNNC_HOST_ORDER_H

#include <stdint.h>
#include <vector>

// As it comes: ascending, but whoever arrives last at a barrier goes on first,
// which saves a switch; the others begin again with the first after a barrier.
enum HostOrder { AS_IT_COMES, ASCENDING, DESCENDING, RANDOM };

HostOrder host_order();

// A state that depends on the seed and on the two numbers alone.
uint64_t random_start(uint64_t number, uint64_t of);

// The order of all the launch's blocks; empty where it is ascending.
std::vector<int64_t> order_blocks(int64_t blocks, int step);

// Puts the threads of a block in order, a warp's beside one another; a RANDOM
// order moves *random on.
void order_threads(short *at, int threads, uint64_t *random);

// Draws the first `count` threads in another order, if it is random.
void shuffle_lanes(short *at, int count, uint64_t *random);

#endif
