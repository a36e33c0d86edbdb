// Random training steps.  Forward: layers with weights, elementwise operators,
// sums with an earlier value of the same shape, views, dropout.  Backward takes
// the nodes in reverse; where a value is read twice, its gradients are summed.
// Each weight is updated in place by a node of its own.
#include "nets.h"

static const Kernel layer_kernels[] = {
    {.name = "", .operands = "x weight", .results = "y"},
    {.name = "dgrad", .operands = "dy weight mask?", .results = "dx",
     .in_place = "dx/mask"},
    {.name = "wgrad", .operands = "dy x", .results = "dw workspace?"},
    {.name = NULL}};
static const Kernel unary_kernels[] = {
    {.name = "", .operands = "x", .results = "y", .in_place = "y/x"},
    {.name = "grad", .operands = "dy y", .results = "dx",
     .in_place = "dx/dy dx/y"},
    {.name = NULL}};
static const Kernel sum_kernels[] = {
    {.name = "", .operands = "a b", .results = "y", .in_place = "y/a y/b"},
    {.name = NULL}};
static const Kernel flat_kernels[] = {
    {.name = "", .operands = "x", .results = "y"},
    {.name = "grad", .operands = "dy", .results = "dx"},
    {.name = NULL}};
static const Kernel drop_kernels[] = {
    {.name = "", .operands = "x header", .results = "y", .in_place = "y/x"},
    {.name = NULL}};
static const Kernel loss_kernels[] = {
    {.name = "", .operands = "logits label", .results = "rows"},
    {.name = "grad", .operands = "logits label", .results = "dlogits",
     .in_place = "dlogits/logits"},
    {.name = NULL}};
static const Kernel update_kernels[] = {
    {.name = "", .operands = "weight! gradient momentum! header",
     .results = ""},
    {.name = NULL}};
static const Kernel accumulate_metrics_kernels[] = {
    {.name = "", .operands = "header! rows*", .results = "figures"},
    {.name = NULL}};
static const Kernel close_kernels[] = {
    {.name = "", .operands = "header!", .results = ""},
    {.name = NULL}};

const Op stub_layer = {.name = "layer", .kernels = layer_kernels};
const Op stub_unary = {.name = "unary", .kernels = unary_kernels};
const Op stub_sum = {.name = "sum", .kernels = sum_kernels};
const Op stub_flat = {.name = "flat", .flags = VIEW, .kernels = flat_kernels};
const Op stub_drop = {.name = "drop", .kernels = drop_kernels};
const Op stub_loss = {.name = "loss", .kernels = loss_kernels};
const Op stub_update = {.name = "update", .kernels = update_kernels};
const Op stub_accumulate_metrics = {.name = "accumulate_metrics",
                                    .kernels = accumulate_metrics_kernels};
const Op stub_close = {.name = "close", .kernels = close_kernels};

uint32_t next_number(uint64_t *state, uint32_t limit)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33) % limit;
}

typedef struct Net {
    Graph   *g;
    uint64_t seed;
    ValueId  label;
    ValueId *d;                 // the gradient of each value so far
} Net;

static ValueId new_value(Net *net, const char *name, Kind kind, Shape shape)
{
    return graph_value(net->g, name, kind, F32, shape, (Pos){.line = 1});
}

static void new_node(Net *net, const Op *op, int kernel, Phase phase,
                     int operand_count, const ValueId *operands,
                     int result_count, const ValueId *results)
{
    const char *suffix = op->kernels[kernel].name;
    const char *name = arena_print(net->g->arena, "%s%s%d", op->name, suffix,
                                   net->g->node_count);
    graph_node(net->g, op, kernel, phase, name, (Pos){.line = 1}, operand_count,
               operands, result_count, results);
}

// ---- forward ----------------------------------------------------------------

static Shape shape_at(const Net *net, ValueId v)
{
    return net->g->values[v].shape;
}

static ValueId add_layer(Net *net, ValueId x)
{
    int64_t batch = net->g->batch, inputs = 1;
    Shape shape = shape_at(net, x);
    for (int i = 1; i < shape.rank; i++) inputs *= shape.dim[i];
    int64_t outputs = 1 + next_number(&net->seed, 40);
    ValueId weight = new_value(net, "weight", PARAM,
                               shape_of(2, outputs, inputs));
    ValueId y = new_value(net, "y", ACTIVATION, shape_of(2, batch, outputs));
    new_node(net, &stub_layer, 0, FORWARD, 2, (ValueId[]){x, weight}, 1, &y);
    return y;
}

static ValueId add_simple(Net *net, const Op *op, int operand_count,
                          const ValueId *operands)
{
    Shape shape = shape_at(net, operands[0]);
    if (op->flags & VIEW)
        shape = shape.rank == 2
                    ? shape_of(3, shape.dim[0], shape.dim[1], (int64_t)1)
                    : shape_of(2, shape.dim[0], shape.dim[1]);
    ValueId y = new_value(net, op->name, ACTIVATION, shape);
    new_node(net, op, 0, FORWARD, operand_count, operands, 1, &y);
    return y;
}

// An activation of the same shape among the last few values, or NONE.
static ValueId find_like(const Net *net, ValueId x)
{
    for (ValueId v = x - 1; v > 0 && v > x - 30; v--)
        if (net->g->values[v].kind == ACTIVATION &&
            same_shape(shape_at(net, v), shape_at(net, x)))
            return v;
    return NONE;
}

static ValueId add_forward(Net *net, ValueId x, bool chain)
{
    uint32_t choice = next_number(&net->seed, 100);
    ValueId other = find_like(net, x);
    if (choice < 25) return add_simple(net, &stub_unary, 1, &x);
    if (choice < 35) return add_simple(net, &stub_flat, 1, &x);
    if (choice < 45)
        return add_simple(net, &stub_drop, 2, (ValueId[]){x, net->g->header});
    if (choice < 65 && other != NONE && !chain)
        return add_simple(net, &stub_sum, 2, (ValueId[]){x, other});
    return add_layer(net, x);
}

// ---- backward ---------------------------------------------------------------

static void contribute(Net *net, ValueId v, ValueId part)
{
    if (net->d[v] == NONE) {
        net->d[v] = part;
        return;
    }
    ValueId sum = new_value(net, "d.sum", GRADIENT, shape_at(net, v));
    new_node(net, &stub_sum, 0, BACKWARD, 2, (ValueId[]){net->d[v], part}, 1,
             &sum);
    net->d[v] = sum;
}

static ValueId new_gradient(Net *net, ValueId v)
{
    return new_value(net, "d", v == NONE ? WORKSPACE : GRADIENT,
                     v == NONE ? shape_of(1, (int64_t)100) : shape_at(net, v));
}

static void layer_back(Net *net, const ValueId *operands, ValueId dy)
{
    ValueId x = operands[0], weight = operands[1];
    ValueId results[] = {new_gradient(net, weight), new_gradient(net, NONE)};
    new_node(net, &stub_layer, 2, BACKWARD, 2, (ValueId[]){dy, x}, 2, results);
    ValueId momentum = new_value(net, "momentum", STATE, shape_at(net, weight));
    ValueId update[] = {weight, results[0], momentum, net->g->header};
    if (net->g->values[x].kind != INPUT) {
        ValueId dx = new_gradient(net, x);
        bool mask = next_number(&net->seed, 2);
        new_node(net, &stub_layer, 1, BACKWARD, 3,
                 (ValueId[]){dy, weight, mask ? x : NONE}, 1, &dx);
        contribute(net, x, dx);
    }
    new_node(net, &stub_update, 0, UPDATE, 4, update, 0, NULL);
}

static void node_back(Net *net, NodeId i)
{
    const Node *n = &net->g->nodes[i];
    const Op *op = n->op;
    const ValueId *operands = n->operands;
    ValueId x = operands[0], y = n->results[0], dy = net->d[y];
    if (op == &stub_layer) {
        layer_back(net, operands, dy);
    } else if (op == &stub_sum) {
        contribute(net, x, dy);
        contribute(net, operands[1], dy);
    } else if (net->g->values[x].kind != INPUT) {
        ValueId dx = new_gradient(net, x);
        bool drop = op == &stub_drop;
        ValueId reads[] = {dy, drop ? net->g->header : y};
        new_node(net, op, !drop, BACKWARD, op == &stub_flat ? 1 : 2, reads, 1,
                 &dx);
        contribute(net, x, dx);
    }
}

static void add_loss(Net *net, ValueId logits)
{
    Graph *g = net->g;
    ValueId reads[] = {logits, net->label};
    ValueId rows = new_value(net, "rows", SCALAR, shape_of(1, g->batch));
    new_node(net, &stub_loss, 0, FORWARD, 2, reads, 1, &rows);
    ValueId figures = new_value(net, "figures", SCALAR,
                                shape_of(1, (int64_t)1));
    g->values[figures].output = true;
    new_node(net, &stub_accumulate_metrics, 0, FORWARD, 2,
             (ValueId[]){ g->header, rows }, 1, &figures);
    net->d = NEW_ARRAY(g->arena, g->value_count, ValueId);
    for (ValueId v = 0; v < g->value_count; v++) net->d[v] = NONE;
    ValueId d = new_gradient(net, logits);
    new_node(net, &stub_loss, 1, BACKWARD, 2, reads, 1, &d);
    net->d[logits] = d;
}

Graph *random_net(Arena *arena, Diag *diag, uint64_t seed, int layers,
                  bool chain)
{
    Net *net = NEW(arena, Net);
    Graph *g = graph_new(arena, diag, "random", TRAIN, 1 + (int64_t)seed % 40,
                         F32);
    *net = (Net){.g = g, .seed = seed + 1};
    ValueId x = new_value(net, "image", INPUT, shape_of(2, g->batch,
                                                        (int64_t)20));
    net->label = new_value(net, "label", INPUT, shape_of(1, g->batch));
    for (int i = 0; i < layers; i++) x = add_forward(net, x, chain);
    x = add_layer(net, x);
    NodeId forward = g->node_count;
    add_loss(net, x);
    for (NodeId i = forward - 1; i >= 0; i--)
        if (net->d[g->nodes[i].results[0]] != NONE) node_back(net, i);
    new_node(net, &stub_close, 0, UPDATE, 1, &g->header, 0, NULL);
    g->facts = HAS_GRADIENTS;
    return g;
}

const PassOptions *all_passes(void)
{
    static PassOptions options;
    pass_options_default(&options, 2);
    return &options;
}

void place_net(Graph *g, unsigned which)
{
    PassOptions o = *all_passes();
    o.enabled[PASS_share_buffers] = which & 2;
    o.enabled[PASS_assign_offsets] = which & 4;
    if (which & 1) pass_schedule(g, &o);
    pass_liveness(g, &o);
    pass_share_buffers(g, &o);
    pass_assign_offsets(g, &o);
    g->facts |= IS_SCHEDULED | IS_GROUPED | HAS_LIFETIMES | IS_SHARED | IS_PLACED;
}
