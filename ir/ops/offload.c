// offload: keeps a map in host memory until the backward pass.
//
//   [12] forward relu_1.offload: = offload(relu_1) place=0 event=1
//   [13] forward relu_1.offload.wait: = offload.wait(relu_1) event=1
//   ...                                 relu_1 has no bytes from here on
//   [40] backward relu_1.fetch: %60 relu_1.back = offload.fetch() event=1
//   [41] backward relu_1.arrive: = offload.arrive(relu_1.back) event=1
//   [42] backward ... (relu_1.back)     and has bytes again from [40] on
//
// Each copy is two steps: one starts it, after all earlier launches; the other
// waits until it is done.  Between them launches continue, while the copy uses
// the map's bytes.  Copies run in sequence, so host memory holds the last value
// stored.  The result of a fetch is Value.again of the offloaded value.
#include "../gpu/offload.h"
#include "../op/op_row.h"

static const AttrSpec attrs[] = {
    { "place", ATTR_INT, 0, (double)((int64_t)1 << 52) },
    { "event", ATTR_INT, 1, MOST_EVENTS },
    { .name = NULL },
};

// The copy's traffic with device memory is not part of a launch.
static void cost(const Graph *g, const Node *n, Cost *cost)
{
    (void)g, (void)n;
    *cost = (Cost){ .flops = 0 };
}

static void begin(const Node *n, Launch *l, const char *function, ValueId v)
{
    launch_copy(l, function);
    launch_value(l, v);
    launch_int(l, n->attr[COPY_PLACE].i, "place");
    launch_int(l, value_bytes(&l->g->values[v]), "bytes");
    launch_int(l, n->attr[COPY_EVENT].i, "event");
}

static void out_launch(const Graph *g, const Node *n, Launch *l)
{
    (void)g;
    begin(n, l, "copy_out", n->operands[0]);
}

static void in_launch(const Graph *g, const Node *n, Launch *l)
{
    (void)g;
    begin(n, l, "copy_in", n->results[0]);
}

static void wait_launch(const Graph *g, const Node *n, Launch *l)
{
    (void)g;
    launch_copy(l, "await_copy");
    launch_value(l, n->operands[0]);
    launch_int(l, n->attr[COPY_EVENT].i, "event");
}

static void reference(const Ref *r)
{
    (void)r;
}

// Copies the offloaded value, as if it had stayed in device memory.
static void fetch_reference(const Ref *r)
{
    ValueId v = r->g->values[r->n->results[0]].recompute_of;
    int64_t count = elements(ref_out(r, 0));
    for (int64_t i = 0; i < count; i++) r->out[0][i] = r->all[v][i];
}

static const Kernel kernels[] = {
    [COPY_OUT] = { .name = "", .results = "", .cost = cost,
                   .launch = out_launch, .reference = reference },
    [COPY_OUT_WAIT] = { .name = "wait", .operands = "x", .results = "",
                        .cost = cost, .launch = wait_launch,
                        .reference = reference },
    [COPY_IN] = { .name = "fetch", .operands = "", .results = "y",
                  .cost = cost, .launch = in_launch,
                  .reference = fetch_reference },
    [COPY_IN_WAIT] = { .name = "arrive", .operands = "y", .results = "",
                       .cost = cost, .launch = wait_launch,
                       .reference = reference },
    { .results = NULL },
};

const Op op_offload = { ROW(offload), .attrs = attrs, .kernels = kernels };
