// Quantization-aware training: nodes that round maps and weights as inference
// in integers of 8 bits will.
//
//   %5 relu_1 = conv(x, conv_1.weight)
//   %9 relu_2 = conv(%5, conv_2.weight)
// becomes
//   %20 conv_2.weight.scales = row_scales(conv_2.weight, header)
//   %21 conv_2.weight.quantized = fake_quantize(conv_2.weight, %20)
//   %5 relu_1 = conv(x, conv_1.weight)
//   %22 relu_1.quantized = fake_quantize(%5, relu_1.scale)
//   %9 relu_2 = conv(%22, %21)
//
// The program that calibrates tells which maps and weights these are, and which
// maps share a scale.  The passes have merged launches in it, so each of its
// maps is stored.  Some maps are read by copies with the same scale alone, such
// as the operands of a concat.  There the copies are rounded instead.  A scale
// has the name that calibration looks for.
#include <stdlib.h>
#include <string.h>
#include "../../ir/families/grad_accumulation.h"
#include "../../ir/families/quantize.h"
#include "../../ir/dtype.h"
#include "../../passes/pass.h"
#include "fake_quantize.h"

// A value that has a scale in the program that calibrates.
typedef struct Scaled {
    const char *name;
    ValueId     value, scale;   // there; a weight's value is NONE
    DType       integer;
} Scaled;

typedef struct Quantizing {
    Graph        *g;
    const Graph  *infer;        // the program that calibrates
    Scaled       *scaled;       // by name
    int32_t       count;
    const Scaled **of;          // of each old value of g, or NULL
    ValueId      *state;        // of each scale in infer: that of g, or NONE
    NodeId       *after;        // of each new node: the node that it follows,
                                // or NONE
    NodeId        old;          // nodes of g before
} Quantizing;

static int by_name(const void *a, const void *b)
{
    return strcmp(((const Scaled *)a)->name, ((const Scaled *)b)->name);
}

// Returns the program that calibrates, up to the pass that chooses its maps.
static const Graph *calibrating(const Input *in, const FrontendOptions *options,
                                Diag *quiet)
{
    FrontendOptions infer = *options;
    PassOptions passes_on;
    Ast ast = *in->ast;
    *quiet = *in->diag;
    quiet->quiet = true;
    quiet->error_count = 0;
    ast.diag = quiet;
    infer.mode = INFER;
    infer.real = F32;
    infer.map = I8;
    infer.calibrates = true;
    infer.tf32 = infer.ghost = infer.keep_gradients = false;
    infer.microbatch = 0;
    infer.flat = NULL;
    pass_options_default(&passes_on, 2);
    passes_on.stop_after = "lower_precision";
    Graph *g = resolve(&ast, &infer);
    if (g == NULL || ast.diag->error_count > 0) return NULL;
    run_passes(g, &passes_on);
    return g;
}

// Returns the name of the weight whose rows have the scales v, or NULL.
static const char *weight_of(const Graph *infer, ValueId v)
{
    static const char suffix[] = ".scale";
    const Value *value = &infer->values[v];
    size_t length = strlen(value->name), end = sizeof suffix - 1;
    if (value->kind != STATE || value->dtype != infer->real || length <= end ||
        strcmp(value->name + length - end, suffix) != 0)
        return NULL;
    return arena_print(infer->arena, "%.*s", (int)(length - end), value->name);
}

// Lists the values with a scale, by name.
static void list_scaled(Quantizing *q)
{
    const Graph *infer = q->infer;
    q->scaled = NEW_ARRAY(q->g->arena, infer->value_count, Scaled);
    for (ValueId v = 0; v < infer->value_count; v++) {
        const Value *value = &infer->values[v];
        const char *weight = weight_of(infer, v);
        if (weight != NULL)
            q->scaled[q->count++] = (Scaled){ weight, NONE, v, I8 };
        else if (value->scale != NONE)
            q->scaled[q->count++] =
                (Scaled){ value->name, v, value->scale, value->integer };
    }
    qsort(q->scaled, (size_t)q->count, sizeof *q->scaled, by_name);
}

static void match_values(Quantizing *q)
{
    const Graph *g = q->g;
    q->of = NEW_ARRAY(g->arena, g->value_count, const Scaled *);
    for (ValueId v = 0; v < g->value_count; v++) {
        Scaled key = { .name = g->values[v].name };
        q->of[v] = bsearch(&key, q->scaled, (size_t)q->count,
                           sizeof *q->scaled, by_name);
    }
}

// True if the node's result has the scale of its operand v.
static bool copies(const Quantizing *q, const Node *n, ValueId v)
{
    ValueId to = n->result_count > 0 ? n->results[0] : NONE;
    return to != NONE && q->of[to] != NULL &&
           q->of[to]->scale == q->of[v]->scale;
}

// True if v is a copy of maps that are rounded already.  Its operands have its
// scale in the program that calibrates, and here they come from a dropout.
static bool is_rounded_copy(const Quantizing *q, ValueId v)
{
    NodeId made = q->infer->values[q->of[v]->value].def;
    NodeId here = q->g->values[v].def;
    bool is_copy = false;
    if (made == NONE || here == NONE) return false;
    const Node *n = &q->infer->nodes[made];
    for (int k = 0; k < n->operand_count; k++)
        if (n->operands[k] != NONE &&
            q->infer->values[n->operands[k]].scale == q->of[v]->scale)
            is_copy = true;
    n = &q->g->nodes[here];
    for (int k = 0; k < n->operand_count && is_copy; k++) {
        const Scaled *of =
            n->operands[k] != NONE ? q->of[n->operands[k]] : NULL;
        if (of != NULL && of->scale == q->of[v]->scale) return false;
    }
    return is_copy;
}

// Appends a node that rounds v for all its readers, but not for copies.
static void quantize_value(Quantizing *q, const Uses *uses, ValueId v,
                           ValueId scale)
{
    Graph *g = q->g;
    const Quantize *setting = g->training.quantize;
    bool is_positive = q->of[v]->integer == U8;
    const char *name =
        arena_print(g->arena, "%s.quantized", g->values[v].name);
    ValueId made = graph_value_like(g, v, name, ACTIVATION, g->values[v].shape,
                                    g->values[v].pos);
    for (int32_t k = uses->start[v]; k < uses->start[v + 1]; k++) {
        Node *reader = &g->nodes[uses->list[k]];
        for (int j = 0; j < reader->operand_count; j++)
            if (reader->operands[j] == v && !copies(q, reader, v))
                reader->operands[j] = made;
    }
    ValueId operands[] = { v, scale };
    NodeId id = graph_node(g, ops[OP_fake_quantize], 0, FORWARD, name,
                           g->values[v].pos, 2, operands, 1, &made);
    g->nodes[id].attr[QUANTIZE_LEAST].i = is_positive ? 0 : -127;
    g->nodes[id].attr[QUANTIZE_MOST].i = is_positive ? 255 : 127;
    g->nodes[id].attr[QUANTIZE_KEEP].f = setting->average;
    g->nodes[id].attr[QUANTIZE_DELAY].i = setting->delay;
    q->after[id - q->old] = g->values[v].def;
}

static bool has_other_readers(const Quantizing *q, const Uses *uses, ValueId v)
{
    for (int32_t k = uses->start[v]; k < uses->start[v + 1]; k++)
        if (!copies(q, &q->g->nodes[uses->list[k]], v)) return true;
    return false;
}

// Returns a new scale with this name.  A value that has it, such as a norm's
// result of training alone, gives it up: all programs name the scale alike.
static ValueId scale_called(Graph *g, const char *name, Pos pos)
{
    ValueId scale = graph_value(g, name, STATE, g->real,
                                shape_of(1, SCALE_NUMBERS), pos);
    const char *other = g->values[scale].name;
    for (ValueId v = 0; v < scale && strcmp(other, name) != 0; v++)
        if (strcmp(g->values[v].name, name) == 0) {
            g->values[scale].name = g->values[v].name;
            g->values[v].name = other;
            return scale;
        }
    return scale;
}

static void quantize_map(Quantizing *q, const Uses *uses, ValueId v)
{
    Graph *g = q->g;
    ValueId in_infer = q->of[v]->scale;
    if (!has_other_readers(q, uses, v) || is_rounded_copy(q, v)) return;
    if (q->state[in_infer] == NONE)
        q->state[in_infer] = scale_called(g, q->infer->values[in_infer].name,
                                          g->values[v].pos);
    quantize_value(q, uses, v, q->state[in_infer]);
}

static void quantize_weight(Quantizing *q, const Uses *uses, ValueId v)
{
    Graph *g = q->g;
    const char *name = arena_print(g->arena, "%s.scales", g->values[v].name);
    ValueId operands[] = { v, g->header };
    ValueId scales = graph_value(g, name, WORKSPACE, g->real,
                                 shape_of(1, g->values[v].shape.dim[0]),
                                 g->values[v].pos);
    NodeId id = graph_node(g, ops[OP_row_scales], 0, FORWARD, name,
                           g->values[v].pos, 2, operands, 1, &scales);
    g->nodes[id].attr[0].i = g->training.quantize->delay;
    q->after[id - q->old] = NONE;
    quantize_value(q, uses, v, scales);
}

// Moves the new nodes to where their operands are made.
static void put_in_order(const Quantizing *q)
{
    Graph *g = q->g;
    NodeId count = g->node_count - q->old, at = 0;
    NodeId *order = NEW_ARRAY(g->arena, g->node_count, NodeId);
    NodeId *next = NEW_ARRAY(g->arena, count, NodeId);
    NodeId *first = NEW_ARRAY(g->arena, q->old, NodeId);
    for (NodeId i = 0; i < q->old; i++) first[i] = NONE;
    for (NodeId k = count - 1; k >= 0; k--)
        if (q->after[k] != NONE) {
            next[k] = first[q->after[k]];
            first[q->after[k]] = k;
        }
    for (NodeId k = 0; k < count; k++)
        if (q->after[k] == NONE) order[at++] = q->old + k;
    for (NodeId i = 0; i < q->old; i++) {
        order[at++] = i;
        for (NodeId k = first[i]; k != NONE; k = next[k])
            order[at++] = q->old + k;
    }
    graph_reorder(g, order);
}

static void quantize_values(Quantizing *q)
{
    Graph *g = q->g;
    const Uses uses = graph_uses(g);
    int32_t count = g->value_count;
    q->old = g->node_count;
    q->after = NEW_ARRAY(g->arena, 2 * count, NodeId);
    q->state = NEW_ARRAY(g->arena, q->infer->value_count, ValueId);
    for (ValueId v = 0; v < q->infer->value_count; v++) q->state[v] = NONE;
    for (ValueId v = 0; v < count; v++) {
        if (q->of[v] == NULL) continue;
        if (is_weight(g->values[v].kind)) quantize_weight(q, &uses, v);
        else quantize_map(q, &uses, v);
    }
    put_in_order(q);
}

// False, with an error, if the training step is of a kind that is not
// quantized.
static bool may_quantize(const Graph *g)
{
    Pos pos = g->training.quantize->pos;
    if (is_half(g->map))
        error(g->diag, pos, "quantize trains with --precision f32, tf32 or "
              "f64, not with maps of 16 bits");
    else if (is_accumulating(g))
        error(g->diag, pos, "quantize takes the whole batch of a training step "
              "at once: no --microbatch, and no accumulate");
    else
        return true;
    return false;
}

bool quantize_training(const Input *in, const FrontendOptions *options,
                       Graph *g)
{
    if (g->training.quantize == NULL || g->mode == INFER) return true;
    if (!may_quantize(g)) return false;
    Arena *arena = arena_new();
    Input apart = input_apart(in, arena);
    Diag quiet;
    Quantizing q = { .g = g, .infer = calibrating(&apart, options, &quiet) };
    bool ok = q.infer != NULL;
    if (ok) {
        list_scaled(&q);
        match_values(&q);
        quantize_values(&q);
    } else {
        error(g->diag, g->training.quantize->pos, "the inference program of "
              "this net has errors, which --mode infer prints");
    }
    arena_free(arena);
    return ok;
}
