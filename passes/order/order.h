// Orders of launches: the one with the smallest peak, and a bound that no order
// beats.
#ifndef CNNC_ORDER_H
#define CNNC_ORDER_H

#include "dependences.h"
#include "live_model.h"

// The nodes start .. end - 1, which may run in any order that keeps the
// dependences; those before have run, those after have not.
typedef struct Region {
    NodeId start, end;
} Region;

// Puts the region's nodes into the order with the smallest peak into
// order[start .. end - 1]; its other elements are read.  floor: a peak that
// nothing is gained by going below, at most that of the best order.  Spends
// *work, counted in nodes that are run or taken back; where that does not
// suffice, the best found.  Returns whether no order has a smaller peak, floor
// apart.
bool best_order(const Lives *start, const Dependences *d, Region region,
                int64_t floor, int64_t *work, NodeId *order);

// A peak that no order has less than which runs all nodes before `middle`
// before all others: the most that must be alive at one launch, since what was
// made by what it waits for is read by what waits for it.  order: any such
// order, where it is best to look first.
int64_t order_bound(const Lives *start, const Dependences *d, NodeId middle,
                    const NodeId *order);

#endif
