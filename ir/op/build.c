// Functions for build rules, which make nodes from calls in the language.
// Names follow the program: the layer conv1 makes the node and the value conv1
// and the parameters conv1.weight and conv1.bias.
#include <string.h>
#include "op.h"

// Returns the full name of a value of the layer.
static const char *path_of(const Build *b, const char *name)
{
    return arena_print(b->g->arena, "%s.%s",
                       b->weights != NULL ? b->weights->name : b->name, name);
}

static ValueId new_kept(Build *b, const char *name, const Value *like)
{
    Graph *g = b->g;
    ValueId id = graph_value(g, path_of(b, name), like->kind, like->dtype,
                             like->shape, b->pos);
    g->values[id].init = like->init;
    g->values[id].decayed = like->decayed;
    g->values[id].frozen = like->frozen;
    g->values[id].rate_factor = like->rate_factor;
    return id;
}

// ---- weights of several layers ----------------------------------------------

// One mistake makes a layer differ in several parameters: reports the first.
static void unlike(Build *b, const char *role, const char *how)
{
    if (b->g->diag->error_count > b->weights->errors) return;
    error(b->g->diag, b->pos, "%s.%s is shared, %s", b->weights->name, role,
          how);
    note(b->g->diag, b->weights->pos, "the first of its layers is here");
}

// Returns the word of the argument that says how weights begin, or NULL.
static const char *init_word(const Build *b)
{
    const ArgSpec *spec = b->op->args;
    for (int k = 0; spec != NULL && spec[k].name != NULL; k++)
        if (spec[k].type == ARG_INIT) return b->arg[k].word;
    return NULL;
}

static bool same_word(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

// Random weights begin in the range of the first layer: it may depend on the
// stride.
static bool begin_alike(const Build *b, const Init *shared, const Init *wanted)
{
    return shared->kind == wanted->kind &&
           (shared->kind != INIT_CONSTANT || shared->scale == wanted->scale) &&
           same_word(b->weights->init, init_word(b));
}

// Layers that share a parameter agree about it.
static void check_alike(Build *b, const char *role, const Value *shared,
                        const Value *wanted)
{
    Graph *g = b->g;
    if (!same_shape(shared->shape, wanted->shape))
        unlike(b, role, arena_print(
                   g->arena, "and has the shape %s; here it would be %s",
                   shape_text(g, shared->shape),
                   shape_text(g, wanted->shape)));
    else if (!begin_alike(b, &shared->init, &wanted->init))
        unlike(b, role, "but here it would begin otherwise: init differs");
    else if (shared->kind == PARAM && shared->frozen != wanted->frozen)
        unlike(b, role, wanted->frozen
               ? "and is trained; here it would be frozen"
               : "and is frozen; here it would be trained");
}

// Returns the parameter of b->weights in this role, which the first layer makes
// and adds to them.  After an error it is a new one.
static ValueId shared_value(Build *b, const char *role, const Value *wanted)
{
    Weights *w = b->weights;
    int k = 0;
    while (k < w->count && strcmp(w->role[k], role) != 0) k++;
    if (k < w->count) {
        check_alike(b, role, &b->g->values[w->made[k]], wanted);
    } else if (w->layers == 0) {
        if (w->count == MAX_WEIGHTS)
            bug("%s: too many parameters", b->op->name);
        w->role[k] = role;
        w->made[w->count++] = new_kept(b, role, wanted);
    } else {
        unlike(b, role, "but its first layer has none");
        return new_kept(b, role, wanted);
    }
    w->taken[k] = true;
    return w->made[k];
}

ValueId build_layer(Build *b)
{
    Weights *w = b->weights;
    if (w == NULL) return b->op->build(b);
    w->errors = b->g->diag->error_count;
    if (w->layers == 0) {
        w->pos = b->pos;
        w->init = init_word(b);
    }
    for (int k = 0; k < MAX_WEIGHTS; k++) w->taken[k] = false;
    ValueId result = b->op->build(b);
    w->layers++;
    for (int k = 0; k < w->count; k++)
        if (!w->taken[k])
            unlike(b, w->role[k], "but this layer has none");
    return b->g->diag->error_count == w->errors ? result : NONE;
}

// ---- parameters and other kept values ---------------------------------------

static ValueId build_kept(Build *b, const char *name, const Value *wanted)
{
    return b->weights != NULL ? shared_value(b, name, wanted)
                              : new_kept(b, name, wanted);
}

static Value kept_value(Kind kind, DType dtype, Shape shape, Init init)
{
    Value value = plain_value(kind);
    value.dtype = dtype;
    value.shape = shape;
    value.init = init;
    return value;
}

static bool freezes(Build *b, const char *name, bool of_norm)
{
    return b->freezes != NULL && b->freezes(b, path_of(b, name), of_norm);
}

static ValueId build_trained(Build *b, const char *name, Shape shape,
                             Init init, bool decayed, bool of_norm)
{
    Value value = kept_value(PARAM, b->g->real, shape, init);
    value.decayed = decayed;
    value.frozen = freezes(b, name, of_norm);
    if (b->rate_factor != NULL)
        value.rate_factor = b->rate_factor(b, path_of(b, name));
    return build_kept(b, name, &value);
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
    Value statistic = kept_value(STATISTIC, b->g->real, shape,
                                 (Init){ INIT_CONSTANT, value });
    statistic.frozen = true;
    return build_kept(b, name, &statistic);
}

ValueId build_state(Build *b, const char *name, DType dtype, Shape shape)
{
    Value state = kept_value(STATE, dtype, shape, (Init){ INIT_CONSTANT, 0 });
    return new_kept(b, name, &state);
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
