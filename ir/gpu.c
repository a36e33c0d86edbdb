#include "gpu.h"
#include <stdlib.h>
const Gpu *graph_gpu(const Graph *g) { (void)g; return 0; }
int64_t node_time(const Graph *g, const Node *n, const Gpu *gpu)
{
    (void)gpu;
    Cost c = {0};
    if (n->op->parts[n->part].cost) n->op->parts[n->part].cost(g, n, &c);
    int64_t a = c.flops / 45, b = c.bytes * 10 / 34;
    if (getenv("FL")) return 1 + c.flops / 100;
    return 3000000 + (a > b ? a : b);
}
