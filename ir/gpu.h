#ifndef CNNC_GPU_H
#define CNNC_GPU_H
#include "op.h"
typedef struct Gpu { int x; } Gpu;
const Gpu *graph_gpu(const Graph *g);
int64_t node_time(const Graph *g, const Node *n, const Gpu *gpu);
#endif
