// Dependences between nodes: pairs of which the first must run first in any
// order.
#ifndef CNNC_DEPENDENCES_H
#define CNNC_DEPENDENCES_H

#include "../../ir/op/op.h"

typedef struct Edge {
    NodeId  to;
    int32_t next;               // in a list, or NONE
} Edge;

// The nodes that wait for node i: the list from edges[first[i]].  It may
// contain a node twice, and needed counts it as often.
typedef struct Dependences {
    Graph   *g;
    Edge    *edges;
    int32_t  count, capacity;
    int32_t *first;
    int32_t *needed;            // number of edges to a node
} Dependences;

// class_of: for each value the representative of it and all its views.
Dependences find_dependences(Graph *g, const ValueId *class_of);

#endif
