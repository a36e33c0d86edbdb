// Prints the cost of each launch of a net in the model, a line each:
//
//     forward conv conv_1 flops=4 products=4 bytes=16 tiles=9 time=2000009
//
// usage: costs [options of cnnc] FILE.cnn
//
// The last line has the rates that the times are made of.  A node without a
// launch has no line, because it costs nothing.
#include <inttypes.h>
#include <stdio.h>
#include "../../frontend/driver/input.h"
#include "../../frontend/driver/run_pipeline.h"
#include "../../ir/gpu/offload.h"
#include "../../ir/launch_group.h"

static void print_launch(const Graph *g, NodeId i)
{
    const Node *n = &g->nodes[i];
    const Kernel *kernel = &n->op->kernels[n->kernel];
    Cost cost;
    group_cost(g, i, &cost);
    int64_t time = is_launch(n) && !is_copy(n)
                       ? cost_time(&cost, g, graph_gpu(g)) : 0;
    if (!is_launch(n) && cost.flops + cost.bytes + time == 0) return;
    printf("%s %s%s%s %s flops=%" PRId64 " products=%" PRId64 " bytes=%" PRId64
           " tiles=%" PRId64 " time=%" PRId64 "\n", phase_names[n->phase], n->op->name,
           kernel->name[0] ? "." : "", kernel->name, n->name, cost.flops,
           cost.products, cost.bytes, cost.tiles, time);
}

int main(int argc, char **argv)
{
    Arena *arena = arena_new();
    Diag diag = { .arena = arena, .stream = stderr };
    Options o;
    Input in;
    int status = options_read(&o, arena, &diag, argc, argv);
    if (status < 0) status = read_gpu_file(&o);
    if (status < 0 && !input_open(&in, arena, &diag, o.input)) status = 3;
    if (status >= 0) return status;
    Graph *g = input_graph(&in, &o.frontend);
    if (g == NULL || run_pipeline(g, &o.passes) == NULL) return 1;
    for (NodeId i = 0; i < g->node_count; i = group_end(g, i))
        print_launch(g, i);
    const Gpu *gpu = graph_gpu(g);
    int64_t rate = g->real == F64 ? gpu->fp64 : gpu->fp32;
    printf("rates rate=%" PRId64 " tensor=%" PRId64 " memory=%" PRId64 " launch=%" PRId64
           " product=%" PRId64 " elementwise=%" PRId64 "\n",
           rate, g->tf32 ? gpu->tf32 : rate, gpu->memory, gpu->launch,
           gpu->product, gpu->elementwise);
    arena_free(arena);
    return 0;
}
