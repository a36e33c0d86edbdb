// Fills a Launch, which describes how ops/<name>.c launches a node.  The
// emitter turns it into text:
//
//     launch_kernel(l, "conv_forward", 392, 256);
//     launch_constant(l, "N", 64);            struct conv1_shape { ... N = 64
//     launch_act(l, n);                       conv_forward<conv1_shape, relu>
//     launch_value(l, n->operands[0]);        (a[image], ...)
//
// This file depends on no operator.  The limits are those of the arrays in
// Launch; exceeding one is an internal error.
#include <inttypes.h>
#include "../dtype.h"

const char plain_source[] = "const real *", plain_result[] = "real *";

void launch_kernel(Launch *l, const char *kernel, int64_t grid, int block)
{
    if (block < 32 || block > 1024 || block % 32 != 0)
        bug("%s: a block of %d threads", kernel, block);
    l->kernel = kernel;
    l->library = false;
    l->grid = grid;
    l->block = block;
}

void launch_library(Launch *l, const char *function)
{
    l->kernel = function;
    l->library = true;
}

void launch_copy(Launch *l, const char *function)
{
    l->kernel = function;
    l->copy = true;
}

void launch_constant(Launch *l, const char *name, int64_t value)
{
    if (l->constant_count == MAX_CONSTANTS)
        bug("%s: more than %d constants", l->kernel, MAX_CONSTANTS);
    l->constant = arena_grow(l->g->arena, l->constant, &l->constant_capacity,
                             l->constant_count + 1, sizeof *l->constant);
    l->constant[l->constant_count++] = (Constant){ name, value };
}

void launch_type_as(Launch *l, TypeArg type)
{
    if (l->type_count == MAX_TEMPLATE)
        bug("%s: more than %d template arguments", l->kernel, MAX_TEMPLATE);
    l->type = arena_grow(l->g->arena, l->type, &l->type_capacity,
                         l->type_count + 1, sizeof *l->type);
    l->type[l->type_count++] = type;
}

void launch_type(Launch *l, const char *text)
{
    launch_type_as(l, (TypeArg){ .text = text });
}

void launch_type_int(Launch *l, int64_t value)
{
    launch_type(l, arena_print(l->g->arena, "%lld", (long long)value));
}

void launch_type_of(Launch *l, ValueId v)
{
    launch_type(l, stored_name(l->g->values[v].dtype));
}

void launch_argument(Launch *l, LaunchArg argument)
{
    if (l->arg_count == MAX_LAUNCH_ARGS)
        bug("%s: more than %d arguments", l->kernel, MAX_LAUNCH_ARGS);
    l->arg = arena_grow(l->g->arena, l->arg, &l->arg_capacity,
                        l->arg_count + 1, sizeof *l->arg);
    l->arg[l->arg_count++] = argument;
}

void launch_value(Launch *l, ValueId value)
{
    launch_argument(l, (LaunchArg){ .kind = LAUNCH_VALUE, .value = value });
}

void launch_struct(Launch *l, const char *name)
{
    l->kernel = name;
}

const char *slice_arguments_as(const Graph *g, const Value *value,
                               const char *type, int64_t size)
{
    enum { MOST = 8, BYTES = 16 };      // are moved at once
    int64_t width = value_bytes(value) / value->view_rows / size;
    int64_t stride = value->view_stride / size, start = 0;
    for (const Value *part = value; part->alias_of != NONE;
         part = &g->values[part->alias_of])
        start += part->start / size;
    int64_t vec = BYTES / size < MOST ? BYTES / size : MOST;
    while (width % vec || stride % vec || start % vec) vec /= 2;
    return arena_print(g->arena,
                       "<%s, %" PRId64 ", %" PRId64 ", %" PRId64 ">", type,
                       width, stride, vec);
}

const char *slice_arguments(const Graph *g, const Value *value)
{
    return slice_arguments_as(g, value, stored_name(value->dtype),
                              dtype_bytes(value->dtype));
}

const char *scaled_type(const Graph *g, const Value *value)
{
    if (value->kind == PARAM)
        return arena_print(g->arena, "ScaledRows<%" PRId64 ">",
                           elements(value->shape) / value->shape.dim[0]);
    const char *array =
        value->view_rows > 1
            ? arena_print(g->arena, "Strided%s", slice_arguments(g, value))
            : arena_print(g->arena, "%s *", stored_name(value->dtype));
    if (value->dtype == value->integer)
        return arena_print(g->arena, "Scaled<%s>", array);
    return arena_print(g->arena, "Measured<%s, %d>", array,
                       value->integer == U8 ? 255 : 127);
}

// Adds the type of v: a pointer, Strided for a slice of several rows, or Scaled
// for integers.  The type of reals is `pointer`.
static void launch_array(Launch *l, ValueId v, const char *pointer)
{
    const Graph *g = l->g;
    const char *qualifier = pointer == plain_source ? "const " : "";
    if (v != NONE && g->values[v].scale != NONE)
        launch_type(l, scaled_type(g, &g->values[v]));
    else if (v != NONE && g->values[v].view_rows > 1)
        launch_type(l, arena_print(g->arena, "Strided%s",
                                   slice_arguments(g, &g->values[v])));
    else if (v != NONE && g->values[v].dtype != g->real)
        launch_type(l, arena_print(g->arena, "%s%s *", qualifier,
                                   stored_name(g->values[v].dtype)));
    else
        launch_type(l, pointer);
}

void launch_result_type(Launch *l, ValueId v)
{
    launch_array(l, v, plain_result);
}

bool can_load(const Graph *g, const Node *n)
{
    const Kernel *kernel = &n->op->kernels[n->kernel];
    if (kernel->load == NULL) return false;
    Graph scratch = graph_with_new_arena(g);
    Launch trial = { .g = &scratch };
    bool can = kernel->load(&scratch, n, &trial);
    arena_free(scratch.arena);
    return can;
}

void launch_load(Launch *l, const Node *n, int k)
{
    const Graph *g = l->g;
    ValueId v = n->operands[k];

    if (v == NONE || is_stored(g, v)) {
        launch_array(l, v, plain_source);
        launch_value(l, v);
        return;
    }
    launch_type(l, plain_source);
    const Node *maker = &g->nodes[g->values[v].def];
    Launch *made = NEW(g->arena, Launch);
    *made = (Launch){ .g = l->g, .node = maker };
    if (!maker->op->kernels[maker->kernel].load(g, maker, made))
        bug("%s can't be computed on load", maker->name);
    l->type[l->type_count - 1] = (TypeArg){ .source = made };
    launch_argument(l, (LaunchArg){ .kind = LAUNCH_SOURCE, .value = NONE,
                                    .source = made });
}

Launch *launch_members(Launch *l, const char *name)
{
    Launch *made = NEW(l->g->arena, Launch);
    *made = (Launch){ .g = l->g, .node = l->node, .kernel = name };
    launch_argument(l, (LaunchArg){ .kind = LAUNCH_SOURCE, .value = NONE,
                                    .source = made });
    return made;
}

Launch **launch_items(Launch *l, const char *name, int count,
                      const int64_t *blocks)
{
    Arena *arena = l->g->arena;
    TensorList *items = NEW(arena, TensorList);
    Launch **item = NEW_ARRAY(arena, count, Launch *);
    int64_t *own = NEW_ARRAY(arena, count, int64_t);
    for (int k = 0; k < count; k++) {
        item[k] = NEW(arena, Launch);
        *item[k] = (Launch){ .g = l->g, .node = l->node, .kernel = name };
        own[k] = blocks[k];
    }
    *items = (TensorList){ count, (const Launch **)item, own };
    launch_type_int(l, count);
    launch_argument(l, (LaunchArg){ .kind = LAUNCH_TENSOR_LIST, .value = NONE,
                                    .items = items });
    return item;
}

Launch *launch_item(Launch *l, const char *name)
{
    return launch_items(l, name, 1, &l->grid)[0];
}

// ---- several in one launch --------------------------------------------------

static const char nothing[] = "Nothing";

// Adds a struct as an argument, and its type.
static Launch *launch_typed(Launch *l, const char *name, const Node *n)
{
    Launch *made = launch_members(l, name);
    made->node = n;
    launch_type(l, name);
    l->type[l->type_count - 1] = (TypeArg){ .source = made };
    return made;
}

Launch *launch_own(Launch *l, const char *name)
{
    l->own_type = l->type_count;
    l->own_arg = l->arg_count;
    return launch_typed(l, name, l->node);
}

Launch *launch_operand(Launch *l, const char *name)
{
    return launch_typed(l, name, l->node);
}

void launch_mask_plus_other(Launch *l, const Node *n, int mask, int other)
{
    Launch *made = launch_operand(l, "PlusOther");
    launch_act(made, n);
    launch_type_of(made, n->results[0]);
    launch_load(made, n, mask);
    launch_load(made, n, other);
}

void launch_last(Launch *l)
{
    l->takes_last = true;
    l->last_type = l->type_count;
    l->last_arg = l->arg_count;
}

void launch_nothing_last(Launch *l)
{
    launch_last(l);
    launch_typed(l, nothing, l->node);
}

// Replaces Nothing by the last type and argument of l.
static void move_to_last(Launch *l)
{
    l->type[l->last_type] = l->type[--l->type_count];
    l->arg[l->last_arg] = l->arg[--l->arg_count];
}

void launch_add_last(Launch *l, const Node *n)
{
    const Graph *g = l->g;
    bool instead = l->last_type < l->type_count;
    if (!l->takes_last) bug("%s: its kernel does no more last", l->kernel);
    n->op->kernels[n->kernel].last(g, n, launch_typed(l, nothing, n));
    if (instead) move_to_last(l);
    l->takes_last = false;
}

void launch_alone(const Graph *g, const Node *n, Launch *l)
{
    launch_kernel(l, "do_alone", 1, 32);
    n->op->kernels[n->kernel].last(g, n, launch_typed(l, nothing, n));
}

// ---- numbers and other arguments --------------------------------------------

void launch_int(Launch *l, int64_t i, const char *label)
{
    launch_argument(l, (LaunchArg){ .kind = LAUNCH_INT, .value = NONE, .i = i,
                                    .label = label });
}

void launch_real(Launch *l, double f, const char *label)
{
    launch_argument(l, (LaunchArg){ .kind = LAUNCH_REAL, .value = NONE, .f = f,
                                    .label = label });
}

void launch_samples(Launch *l)
{
    launch_argument(l, (LaunchArg){ .kind = LAUNCH_SAMPLES, .value = NONE });
}

void launch_header(Launch *l)
{
    launch_argument(l, (LaunchArg){ .kind = LAUNCH_HEADER,
                                    .value = l->g->header });
}

void launch_list(Launch *l, const List *list, const char *label)
{
    launch_argument(l, (LaunchArg){ .kind = LAUNCH_LIST, .value = NONE,
                                    .list = list, .label = label });
}

const char *functor_of(const Op *op)
{
    return op->functor != NULL ? op->functor : op->name;
}

void launch_act(Launch *l, const Node *n)
{
    launch_type(l, n->act ? functor_of(n->act) : "identity");
}
