// Dependences between nodes: which must run before which, whatever the order.
#ifndef CNNC_DEPENDENCES_H
#define CNNC_DEPENDENCES_H

#include "../../ir/op/op.h"

typedef struct Edge {
    NodeId  to;
    int32_t next;               // in a list, or NONE
} Edge;

// The nodes that wait for node i: the list from edges[first[i]].  One may be
// in it twice; needed counts it as often.
typedef struct Dependences {
    Graph   *g;
    Edge    *edges;
    int32_t  count, capacity;
    int32_t *first;
    int32_t *needed;            // how many a node waits for
} Dependences;

// class_of: of each value, one that stands for it and all its views.
Dependences find_dependences(Graph *g, const ValueId *class_of);

#endif
