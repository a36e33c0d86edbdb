// Orders of launches: the one with the smallest peak, and a lower bound of all
// peaks.
#ifndef CNNC_ORDER_H
#define CNNC_ORDER_H

#include "dependences.h"
#include "live_model.h"

// The nodes start ..  end - 1, which may run in any order that keeps the
// dependences.  Nodes before them have run, later ones have not.
typedef struct Region {
    NodeId start, end;
} Region;

// Sets order[start ..  end - 1] to the order of the region's nodes with the
// smallest peak; reads the other elements.  floor: a lower bound of the best
// order's peak; orders below it are of no use.  Spends *work, counted in nodes
// that are run or undone; if it is too little, takes the best order found.
// Returns true if no order has a smaller peak, where peaks up to floor count as
// equal.
bool best_order(const Lives *start, const Dependences *d, Region region,
                int64_t floor, int64_t *work, NodeId *order);

// Returns a lower bound of the peak of all orders that run the nodes before
// `middle` first.  It is the largest sum of values that must be alive at one
// launch.  Nodes that the launch waits for make them, and nodes that wait for
// it read them.  The argument order is any such order; its fullest launches are
// tried first.
int64_t order_bound(const Lives *start, const Dependences *d, NodeId middle,
                    const NodeId *order);

#endif
