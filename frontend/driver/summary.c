// --summary: the layers in order, with the cost of each, then sums.
//
//     layer    operator  result     parameters    forward  activation bytes
//     scale_1  scale     [8, 8, 1]           0  4.1 kflop             16384
//
// Parameters are trained values; running statistics are counted separately.
//
// A row is a layer of the program: the nodes that one call made, such as a
// convolution and its bias.  The counts are of the program as written, before
// any pass.  Arena sizes and the work of a training step are of the final
// plans.
#include <inttypes.h>
#include <string.h>
#include "../../ir/base/format.h"
#include "../../ir/families/prune.h"
#include "../../ir/gpu/overhead.h"
#include "../../ir/base/sizes.h"
#include "../../ir/gpu/offload.h"
#include "../../ir/op/op.h"
#include "../../ir/gpu/precision.h"
#include "input.h"
#include "run_pipeline.h"

typedef struct Layer {
    const char *name;           // the shortest of its nodes' names
    Pos         pos;
    const Op   *op;             // the operator called; NULL: unknown yet
    NodeId      last;           // of its nodes
    ValueId     result;         // of that node
    int64_t     parameters, bytes, masks, flops;
} Layer;

typedef struct Summary {
    Arena   *arena;
    Layer   *layers;
    int      count;
    Layer    sum;
    int64_t  statistics;
    Sheet   *sheets[6];
    int      sheet_count;
} Summary;

// ---- layers -----------------------------------------------------------------

// True if `name` is below `stem`, as conv_1.weight is below conv_1.
static bool is_below(const char *name, const char *stem)
{
    size_t length = strlen(stem);
    return strncmp(name, stem, length) == 0 && name[length] == '.';
}

static bool same_call(const Layer *a, const Layer *b)
{
    bool same_pos = a->pos.file == b->pos.file && a->pos.line == b->pos.line &&
                    a->pos.column == b->pos.column;
    return same_pos &&
           (is_below(a->name, b->name) || is_below(b->name, a->name));
}

// Merges two layers; the second was made after the first.
static Layer merged(const Layer *first, const Layer *second)
{
    Layer both = *second;
    if (is_below(second->name, first->name)) both.name = first->name;
    if (first->op != NULL) both.op = first->op;
    both.masks += first->masks;
    both.flops = capped_sum(both.flops, first->flops);
    return both;
}

// Makes a layer of one node.
static Layer layer_of(const Graph *g, NodeId id)
{
    const Node *n = &g->nodes[id];
    Layer layer = { .name = n->name, .pos = n->pos, .last = id,
                    .result = n->results[0] };
    Cost cost = { .flops = 0 };

    if (!(n->op->flags & INTERNAL)) layer.op = n->op;
    n->op->kernels[n->kernel].cost(g, n, &cost);
    layer.flops = cost.flops;
    for (int32_t r = 0; r < n->result_count; r++)
        if (n->results[r] != NONE && g->values[n->results[r]].kind == MASK)
            layer.masks += value_bytes(&g->values[n->results[r]]);
    return layer;
}

// A later node may show that earlier layers are one, as with names a.x, a.y and
// then a.  They are merged when it comes.
static void find_layers(Summary *s, const Graph *g)
{
    s->layers = NEW_ARRAY(s->arena, (size_t)g->node_count + 1, Layer);
    for (NodeId n = 0; n < g->node_count; n++) {
        const Node *node = &g->nodes[n];
        if (node->phase != FORWARD || node->result_count == 0) continue;
        s->layers[s->count++] = layer_of(g, n);
        while (s->count > 1 && same_call(&s->layers[s->count - 2],
                                         &s->layers[s->count - 1])) {
            Layer *last = &s->layers[--s->count];
            last[-1] = merged(&last[-1], last);
        }
    }
}

// Counts the bytes of results that have their own memory; a view has none.
static void count_activations(Summary *s, const Graph *g)
{
    for (int i = 0; i < s->count; i++) {
        Layer *layer = &s->layers[i];
        bool is_view = layer->op != NULL && layer->op->flags & VIEW;
        if (layer->result != NONE && !is_view)
            layer->bytes = value_bytes(&g->values[layer->result]);
        layer->bytes += layer->masks;
    }
}

// Adds each parameter to the layer that reads it first; others share it.
static void count_parameters(Summary *s, const Graph *g)
{
    bool *counted = NEW_ARRAY(s->arena, (size_t)g->value_count, bool);
    Layer *layer = s->layers;
    for (NodeId n = 0; n < g->node_count; n++) {
        const Node *node = &g->nodes[n];
        if (node->phase != FORWARD || node->result_count == 0) continue;
        while (layer->last < n) layer++;
        for (int k = 0; k < node->operand_count; k++) {
            ValueId v = node->operands[k];
            if (v == NONE || g->values[v].kind != PARAM || counted[v]) continue;
            layer->parameters += elements(g->values[v].shape);
            counted[v] = true;
        }
    }
    WeightCount count = count_weights(g);
    s->sum.parameters = count.parameters;
    s->statistics = count.statistics;
}

// ---- tables -----------------------------------------------------------------

static const SheetColumn program_columns[] = {
    { "net", NULL, AS_TEXT },
    { "mode", NULL, AS_TEXT },
    { "batch", NULL, AS_COUNT },
    { "microbatch", NULL, AS_COUNT },
    { "precision", NULL, AS_TEXT },
    { "gpu", NULL, AS_TEXT },
    { "budget_bytes", NULL, AS_COUNT },
};

// The batch of a step in slices is larger than that of one run.
Sheet *program_sheet(const Input *in, const Options *o, const Graph *g)
{
    Sheet *s = sheet_new(in->arena, "program", program_columns,
                         sizeof program_columns / sizeof *program_columns);
    bool in_slices = is_accumulating(g);
    s->use = IS_RECORD;
    sheet_row(s);
    put_text(s, g->name);
    put_text(s, mode_names[g->mode]);
    put_count(s, in_slices ? g->training.step_batch : g->batch);
    if (in_slices) put_count(s, g->batch);
    else put_nothing(s);
    put_text(s, precision_name(g));
    put_text(s, graph_gpu(g)->name);
    if (o->passes.budget > 0) put_count(s, o->passes.budget);
    return s;
}

static const SheetColumn layer_columns[] = {
    { "layer", "layer", AS_TEXT },
    { "operator", "operator", AS_TEXT },
    { "result", "result", AS_SHAPE },
    { "parameters", "parameters", AS_COUNT },
    { "forward_flops", "forward", AS_FLOPS },
    { "activation_bytes", "activation bytes", AS_COUNT },
    { NULL, "", AS_BYTES },
};

// Returns [height, width, channels], without the batch.
static const char *sample_text(Arena *arena, const Graph *g, ValueId v)
{
    const char *text = "";
    if (v == NONE) return "[]";
    Shape shape = g->values[v].shape;
    for (int i = 1; i < shape.rank; i++)
        text = arena_print(arena, "%s%s%" PRId64, text, i > 1 ? ", " : "",
                           shape.dim[i]);
    return arena_print(arena, "[%s]", text);
}

static void put_costs(Sheet *s, const Layer *l)
{
    put_count(s, l->parameters);
    put_count(s, l->flops);
    put_count(s, l->bytes);
}

// Nodes that no call of the program made, such as sums of losses, have no row.
static Sheet *layers_sheet(Summary *s, const Graph *g)
{
    Layer *sum = &s->sum;
    Sheet *sheet = sheet_new(s->arena, "layers", layer_columns,
                             sizeof layer_columns / sizeof *layer_columns);
    for (int i = 0; i < s->count; i++) {
        const Layer *layer = &s->layers[i];
        sum->flops = capped_sum(sum->flops, layer->flops);
        if (layer->op == NULL) continue;
        sheet_row(sheet);
        put_text(sheet, layer->name);
        put_text(sheet, layer->op->name);
        put_text(sheet, sample_text(s->arena, g, layer->result));
        put_costs(sheet, layer);
        sum->bytes += layer->bytes;
    }
    sheet_sum(sheet);
    put_text(sheet, "sum");
    put_text(sheet, "");
    put_text(sheet, "");
    put_costs(sheet, sum);
    return sheet;
}

static const SheetColumn total_columns[] = {
    { "parameters", "parameters", AS_COUNT },
    { "running_statistics", "running statistics", AS_COUNT },
    { "forward_flops", "forward", AS_FLOPS },
    { "activation_bytes", NULL, AS_COUNT },
};

static Sheet *totals_sheet(const Summary *s)
{
    Sheet *sheet = sheet_new(s->arena, "totals", total_columns,
                             sizeof total_columns / sizeof *total_columns);
    sheet->use = IS_RECORD;
    sheet_row(sheet);
    put_count(sheet, s->sum.parameters);
    put_count(sheet, s->statistics);
    put_count(sheet, s->sum.flops);
    put_count(sheet, s->sum.bytes);
    return sheet;
}

// ---- pruning ----------------------------------------------------------------

static const SheetColumn pruning_columns[] = {
    { "pruned_kernels", "pruned kernels", AS_COUNT },
    { "pruned_weights", "their weights", AS_COUNT },
    { "zeros", "of these 0 at the end", AS_COUNT },
    { "zeros_step", "from step", AS_COUNT },
    { "mask_bytes", "bytes of masks", AS_COUNT },
    { "weights_bytes", "bytes of all weights", AS_COUNT },
    { "packed_bytes", "in bits and non-zeros", AS_COUNT },
    { NULL, "bytes of arena saved", AS_TEXT },
};

static Sheet *pruning_sheet(const Summary *s, const Graph *g)
{
    Sheet *sheet = sheet_new(s->arena, "pruning", pruning_columns,
                             sizeof pruning_columns / sizeof *pruning_columns);
    Pruned p = count_pruned(g);
    sheet->use = IS_RECORD;
    sheet_row(sheet);
    put_count(sheet, p.kernels);
    put_count(sheet, p.weights);
    put_count(sheet, p.zeros);
    put_count(sheet, (int64_t)p.from);
    put_count(sheet, p.mask_bytes);
    put_count(sheet, p.whole_bytes);
    put_count(sheet, p.packed_bytes);
    put_text(sheet, "0; zeros save no time either");
    return sheet;
}

// ---- plans ------------------------------------------------------------------

typedef struct Placed {         // a graph through all passes
    const Graph *g;
    const Plan  *plan;          // NULL: there were errors
} Placed;

// Plans a new graph of one mode.
static Placed plan_for(const Input *in, const Options *o, Mode mode)
{
    FrontendOptions frontend = o->frontend;
    frontend.mode = mode;
    Graph *g = input_graph(in, &frontend);
    return (Placed){ g, g != NULL ? run_pipeline(g, &o->passes) : NULL };
}

static const SheetColumn phase_columns[] = {
    { "mode", NULL, AS_TEXT },
    { "phase", NULL, AS_TEXT },
    { NULL, "phase", AS_TEXT },
    { "launches", "launches", AS_COUNT },
    { "flops", "work", AS_FLOPS },
    { "moved_bytes", "bytes moved", AS_COUNT },
    { NULL, "", AS_BYTES },
    { "model_time_ps", "model", AS_TIME },
};

// Adds a row; the key of a whole step is "all".
static void put_phase(Sheet *s, Mode mode, const char *key, const char *text,
                      const PhaseCost *sum)
{
    sheet_row(s);
    put_text(s, mode_names[mode]);
    put_text(s, key);
    put_text(s, text);
    put_count(s, sum->launches);
    put_count(s, sum->cost.flops);
    put_count(s, sum->cost.bytes);
    put_count(s, sum->time);
}

// Adds a row for the launches of each phase, if there are several.  Then adds a
// row for the whole step, which includes waits for copies.
static void put_phases(Sheet *s, const Graph *g)
{
    static const char *const whole[MODE_COUNT] = {
        "training step", "evaluation", "inference",
    };
    PhaseCost sums[PHASE_COUNT], all = { .launches = 0 };

    step_cost(g, graph_gpu(g), false, sums);
    for (int phase = 0; phase < PHASE_COUNT; phase++) {
        const PhaseCost *sum = &sums[phase];
        const char *name = phase_names[phase];
        if (g->mode == TRAIN && sum->launches > 0)
            put_phase(s, g->mode, name, name, sum);
        all.launches += sum->launches;
        all.time = capped_sum(all.time, sum->time);
        cost_add(&all.cost, &sum->cost);
    }
    all.time = capped_sum(all.time, host_use(g).waiting);
    put_phase(s, g->mode, "all", whole[g->mode], &all);
}

// Makes the table of phases from a graph for each mode; NULL: no graph.
static Sheet *phases_sheet(Arena *arena, const Graph *const g[MODE_COUNT],
                           const Gpu *gpu)
{
    enum { WIDTH = sizeof phase_columns / sizeof *phase_columns };
    SheetColumn *columns = NEW_ARRAY(arena, WIDTH, SheetColumn);
    for (int k = 0; k < WIDTH; k++) columns[k] = phase_columns[k];
    columns[WIDTH - 1].title = arena_print(arena, "model of %s", gpu->name);
    Sheet *s = sheet_new(arena, "phases", columns, WIDTH);
    for (int mode = 0; mode < MODE_COUNT; mode++)
        if (g[mode] != NULL) put_phases(s, g[mode]);
    return s;
}

static const SheetColumn arena_columns[] = {
    { "training_arena_bytes", "arena, training", AS_COUNT },
    { NULL, "", AS_BYTES },
    { "evaluation_arena_bytes", "arena, evaluation", AS_COUNT },
    { NULL, "", AS_BYTES },
    { "slices_samples", NULL, AS_COUNT },
    { "slices_least_pixels", NULL, AS_COUNT },
    { NULL, "slices", AS_TEXT },
    { "host_bytes", "host memory", AS_COUNT },
    { NULL, "", AS_BYTES },
    { "recomputed_launches", NULL, AS_COUNT },
    { NULL, "checkpoint", AS_TEXT },
    { "inference_arena_bytes", "arena, inference", AS_COUNT },
    { NULL, "", AS_BYTES },
};

static void put_some(Sheet *s, bool is_there, int64_t count)
{
    if (is_there) put_count(s, count);
    else put_nothing(s);
}

static void put_some_text(Sheet *s, bool is_there, const char *text)
{
    if (is_there) put_text(s, text);
    else put_nothing(s);
}

// Adds the arenas: a training file holds train and eval over one arena.
static Sheet *arenas_sheet(Arena *arena, const Graph *const g[MODE_COUNT],
                           const Plan *const plan[MODE_COUNT], Mode mode)
{
    const Graph *own = g[mode];
    const Plan *eval = plan[EVAL], *infer = plan[INFER];
    bool sliced = own->decisions.split_samples > 0,
        fitted = own->decisions.fit != NULL;
    Sheet *s = sheet_new(arena, "arenas", arena_columns,
                         sizeof arena_columns / sizeof *arena_columns);
    s->use = IS_RECORD;
    int64_t bytes = plan[mode]->arena_bytes;
    if (eval != NULL) bytes = larger(bytes, eval->arena_bytes);
    sheet_row(s);
    put_some(s, mode == TRAIN, bytes);
    put_some(s, mode == EVAL, bytes);
    put_some(s, sliced, own->decisions.split_samples);
    put_some(s, sliced, own->decisions.split_pixels);
    put_some_text(s, sliced, sliced ? slices_text(own) : NULL);
    put_some(s, plan[mode]->host_bytes > 0, plan[mode]->host_bytes);
    put_some(s, mode == TRAIN, graph_overhead(own).launches);
    put_some_text(s, fitted, fitted ? fit_text(own) : NULL);
    put_some(s, infer != NULL, infer != NULL ? infer->arena_bytes : 0);
    return s;
}

// Adds the plans of all modes; the text of a graph has one.
static bool add_plans(Summary *s, const Input *in, const Options *o, Mode mode)
{
    const Graph *g[MODE_COUNT] = { NULL };
    const Plan *plan[MODE_COUNT] = { NULL };
    bool is_program = in->ast != NULL;

    for (int m = mode; m < MODE_COUNT; m++) {
        if (m != (int)mode && (!is_program || (m == EVAL && mode != TRAIN)))
            continue;
        const Placed placed = plan_for(in, o, (Mode)m);
        if (placed.plan == NULL) return false;
        g[m] = placed.g;
        plan[m] = placed.plan;
    }
    s->sheets[s->sheet_count++] = phases_sheet(s->arena, g, graph_gpu(g[mode]));
    s->sheets[s->sheet_count++] = arenas_sheet(s->arena, g, plan, mode);
    return true;
}

bool summarize(const Input *in, const Options *o, FILE *out)
{
    Graph *g = input_graph(in, &o->frontend);
    Summary s = { .arena = in->arena };

    if (g == NULL) return false;
    verify(g, "the front end");
    find_layers(&s, g);
    count_activations(&s, g);
    count_parameters(&s, g);
    Sheet *program = program_sheet(in, o, g);
    program->heading =
        arena_print(s.arena, "%s, batch %" PRId64 ", %s, mode %s", g->name,
                    g->batch, precision_name(g), mode_names[g->mode]);
    s.sheets[s.sheet_count++] = program;
    s.sheets[s.sheet_count++] = layers_sheet(&s, g);
    s.sheets[s.sheet_count++] = totals_sheet(&s);
    if (is_pruning(g)) s.sheets[s.sheet_count++] = pruning_sheet(&s, g);
    if (!add_plans(&s, in, o, g->mode)) return false;
    sheets_print(s.sheets, s.sheet_count, o->format, out);
    return true;
}
