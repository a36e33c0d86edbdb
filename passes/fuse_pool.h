// Fusion of a pool with the launch that makes its map, for passes.
#ifndef CNNC_FUSE_POOL_H
#define CNNC_FUSE_POOL_H

#include "pass.h"

// Fuses `maker` into the pool, the only reader of its result, if Op.pooling has
// a launch for both.  A mark of that result moves to the pool's.
void fuse_into_pool(Graph *g, NodeId maker, const Node *pool);
// Fuses pools of the largest with the makers of their maps, if both store
// integers of 8 bits with one scale.
void fuse_integer_pools(Graph *g);

#endif
