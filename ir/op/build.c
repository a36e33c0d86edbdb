// Functions for build rules, which make nodes from calls in the language.
// Names follow the program: the layer conv1 makes the node and the value conv1
// and the parameters conv1.weight and conv1.bias.
#include <string.h>
#include "op.h"

// Returns the full name of a value of the layer.
static const char *path_of(const Build *b, const char *name)
{
    return arena_print(b->g->arena, "%s.%s", b->name, name);
}

static ValueId build_kept(Build *b, const char *name, Kind kind, DType dtype,
                          Shape shape, Init init)
{
    Graph *g = b->g;
    ValueId id = graph_value(g, path_of(b, name), kind, dtype, shape, b->pos);
    g->values[id].init = init;
    return id;
}

static bool freezes(Build *b, const char *name, bool of_norm)
{
    return b->freezes != NULL && b->freezes(b, path_of(b, name), of_norm);
}

static ValueId build_trained(Build *b, const char *name, Shape shape,
                             Init init, bool decayed, bool of_norm)
{
    ValueId id = build_kept(b, name, PARAM, b->g->real, shape, init);
    b->g->values[id].decayed = decayed;
    b->g->values[id].frozen = freezes(b, name, of_norm);
    if (b->rate_factor != NULL)
        b->g->values[id].rate_factor = b->rate_factor(b, path_of(b, name));
    return id;
}

ValueId build_param(Build *b, const char *name, Shape shape, Init init,
                    bool decayed)
{
    return build_trained(b, name, shape, init, decayed, false);
}

ValueId build_norm_param(Build *b, const char *name, Shape shape, Init init)
{
    return build_trained(b, name, shape, init, true, true);
}

bool build_freezes(Build *b, const char *name)
{
    return freezes(b, name, true);
}

ValueId build_statistic(Build *b, const char *name, Shape shape, double value)
{
    return build_kept(b, name, STATISTIC, b->g->real, shape,
                      (Init){ INIT_CONSTANT, value });
}

ValueId build_state(Build *b, const char *name, DType dtype, Shape shape)
{
    return build_kept(b, name, STATE, dtype, shape,
                      (Init){ INIT_CONSTANT, 0 });
}

// Returns the number of the operator's attributes.
static int attr_count(const Op *op)
{
    int count = 0;
    while (op->attrs != NULL && op->attrs[count].name != NULL) count++;
    return count;
}

// Copies operands and appends NONE for optional slots that the call left out;
// returns their number.
static int pad_operands(const Op *op, int count, const ValueId *operands,
                        ValueId *padded)
{
    Slot slot[MAX_SLOTS];
    int slots = kernel_slots(kernel_operands(op, 0), slot, MAX_SLOTS);
    if (count > MAX_SLOTS) bug("%s: %d operands", op->name, count);
    memcpy(padded, operands, (size_t)count * sizeof *padded);
    while (count < slots && !slot[count].variadic) padded[count++] = NONE;
    return count;
}

// Losses and metrics make scalars, a view keeps its operand's type, and all
// other results are real.
ValueId build_node(Build *b, int operand_count, const ValueId *operands,
                   const Attr *attr, Shape result)
{
    Graph *g = b->g;
    const Op *op = b->op;
    Kind kind = (op->flags & (LOSS | METRIC)) != 0 ? SCALAR : ACTIVATION;
    DType dtype = (op->flags & VIEW) != 0 ? g->values[operands[0]].dtype
                                           : g->real;
    ValueId padded[MAX_SLOTS], results[MAX_SLOTS];
    Slot slot[MAX_SLOTS];
    int result_count = kernel_slots(op->kernels[0].results, slot, MAX_SLOTS);

    operand_count = pad_operands(op, operand_count, operands, padded);
    for (int i = 0; i < result_count; i++) results[i] = NONE;
    results[0] = graph_value(g, b->name, kind, dtype, result, b->pos);
    NodeId id = graph_node(g, op, 0, FORWARD, b->name, b->pos, operand_count,
                           padded, result_count, results);
    if (attr != NULL)
        memcpy(g->nodes[id].attr, attr, (size_t)attr_count(op) * sizeof *attr);
    return results[0];
}

void build_kernel(Build *b, int kernel, const Attr *attr, int operand_count,
                  const ValueId *operands, int result_count,
                  const ValueId *results)
{
    Graph *g = b->g;
    const char *name =
        arena_print(g->arena, "%s.%s", b->name, b->op->kernels[kernel].name);
    NodeId id = graph_node(g, b->op, kernel, FORWARD, name, b->pos,
                           operand_count, operands, result_count, results);
    if (attr == NULL) return;
    memcpy(g->nodes[id].attr, attr, (size_t)attr_count(b->op) * sizeof *attr);
}

// Returns a shape as in the language, without the batch.
static const char *sample_text(Graph *g, Shape shape)
{
    Shape sample = { .rank = shape.rank - 1 };
    for (int i = 0; i < sample.rank; i++) sample.dim[i] = shape.dim[i + 1];
    return shape_text(g, sample);
}

// Reports one error at a time: after a wrong rank, the type is irrelevant.
bool build_wants(Build *b, int k, int rank, const char *layout)
{
    Graph *g = b->g;
    const Value *value = &g->values[b->operand[k]];

    if (value->shape.rank != rank) {
        error(g->diag, b->operand_pos[k], "%s needs %s, but this is %s",
              b->op->name, layout, sample_text(g, value->shape));
        return false;
    }
    if (value->dtype != g->real) {
        error(g->diag, b->operand_pos[k],
              "%s needs real numbers, but this is %s; scale() converts",
              b->op->name, dtype_names[value->dtype]);
        return false;
    }
    return true;
}
