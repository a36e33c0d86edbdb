// --summary: the layers in order and what each costs, then sums.
//
//     layer    operator  result     parameters    forward  activation bytes
//     scale_1  scale     [8, 8, 1]           0  4.1 kflop             16384
//
// Parameters are what is trained; running statistics are counted on their own.
//
// A row is what the program calls a layer: the nodes that one call made, as a
// convolution and its bias.  What is counted is the program as it is written,
// before any pass; sizes of arenas, and the work of a training step, are those
// of the plans after all of them.
#include <inttypes.h>
#include <string.h>
#include "../ir/figures.h"
#include "../ir/fit.h"
#include "../ir/offload.h"
#include "../ir/op.h"
#include "../ir/precision.h"
#include "input.h"
#include "pipeline.h"
#include "table.h"

typedef struct Layer {
    const char *name;           // of its nodes, the shortest
    Pos         pos;
    const Op   *op;             // as the program calls it; NULL: unknown yet
    ValueId     result;         // of its last node
    int64_t     parameters, bytes, masks, flops;
} Layer;

typedef struct Summary {
    Arena   *arena;
    Layer   *layers;
    int      count;
    int64_t  parameters, statistics, flops;
} Summary;

// ---- layers -----------------------------------------------------------------

// Whether `name` is a name below `stem`: conv_1.weight below conv_1.
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

// The second was made after the first.
static Layer merged(const Layer *first, const Layer *second)
{
    Layer both = *second;
    if (is_below(second->name, first->name)) both.name = first->name;
    if (first->op != NULL) both.op = first->op;
    both.masks += first->masks;
    both.flops = capped_sum(both.flops, first->flops);
    return both;
}

// A node as a layer of its own.
static Layer layer_of(const Graph *g, const Node *n)
{
    Layer layer = { .name = n->name, .pos = n->pos, .result = n->results[0] };
    Cost cost = { .flops = 0 };

    if (!(n->op->flags & INTERNAL)) layer.op = n->op;
    n->op->parts[n->part].cost(g, n, &cost);
    layer.flops = cost.flops;
    for (int32_t r = 0; r < n->result_count; r++)
        if (n->results[r] != NONE && g->values[n->results[r]].kind == MASK)
            layer.masks += value_bytes(&g->values[n->results[r]]);
    return layer;
}

// Layers that come to be known as one only through a later node, as with names
// a.x, a.y and then a, are put together when it comes.
static void find_layers(Summary *s, const Graph *g)
{
    s->layers = NEW_ARRAY(s->arena, (size_t)g->node_count + 1, Layer);
    for (NodeId n = 0; n < g->node_count; n++) {
        const Node *node = &g->nodes[n];
        if (node->phase != FORWARD || node->result_count == 0) continue;
        s->layers[s->count++] = layer_of(g, node);
        while (s->count > 1 && same_call(&s->layers[s->count - 2],
                                         &s->layers[s->count - 1])) {
            Layer *last = &s->layers[--s->count];
            last[-1] = merged(&last[-1], last);
        }
    }
}

// What lies in memory of its own: a view's result does not.
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

// A parameter's layer is the one whose name begins its own; of several, as of
// a.b.weight those called a and a.b, the longest.
static Layer *owner_of(Summary *s, const Table *named, const char *name)
{
    Layer *owner = NULL;
    for (size_t end = strlen(name); end > 0 && owner == NULL; end--)
        if (name[end] == '.')
            owner = table_find(named, arena_copy(s->arena, name, end));
    return owner;
}

static void count_parameters(Summary *s, const Graph *g)
{
    Table named = { .entries = NULL };
    for (int i = 0; i < s->count; i++)
        table_set(&named, s->arena, s->layers[i].name, &s->layers[i]);
    for (ValueId v = 0; v < g->value_count; v++) {
        const Value *value = &g->values[v];
        if (value->kind == STATISTIC) s->statistics += elements(value->shape);
        if (value->kind != PARAM) continue;
        Layer *owner = owner_of(s, &named, value->name);
        if (owner != NULL) owner->parameters += elements(value->shape);
        s->parameters += elements(value->shape);
    }
}

// ---- text -------------------------------------------------------------------

enum { COLUMNS = 7 };

typedef struct Line {
    const char *cell[COLUMNS];
} Line;

static const char *int_text(Arena *arena, int64_t i)
{
    return arena_print(arena, "%" PRId64, i);
}

// [height, width, channels]: without the batch.
static const char *sample_text(Arena *arena, const Graph *g, ValueId v)
{
    const char *text = "";
    if (v == NONE) return "";
    Shape shape = g->values[v].shape;
    for (int i = 1; i < shape.rank; i++)
        text = arena_print(arena, "%s%s%" PRId64, text, i > 1 ? ", " : "",
                           shape.dim[i]);
    return arena_print(arena, "[%s]", text);
}

static Line costs_line(Arena *arena, const Layer *l)
{
    return (Line){ { l->name, "", "", int_text(arena, l->parameters),
                     flops_text(arena, l->flops), int_text(arena, l->bytes),
                     bytes_text(arena, l->bytes) } };
}

// Columns as wide as what stands in them; so many at the left have words, and
// numbers end at the right.
static void print_lines(const Line *lines, int count, int left, FILE *out)
{
    int width[COLUMNS] = { 0 };
    for (int i = 0; i < count; i++)
        for (int k = 0; k < COLUMNS; k++)
            if ((int)strlen(lines[i].cell[k]) > width[k])
                width[k] = (int)strlen(lines[i].cell[k]);
    for (int i = 0; i < count; i++) {
        const Line *line = &lines[i];
        int last = COLUMNS - (line->cell[COLUMNS - 1][0] == '\0');
        for (int k = 0; k < last; k++)
            fprintf(out, "%s%*s", k > 0 ? "  " : "",
                    k < left ? -width[k] : width[k], line->cell[k]);
        fputc('\n', out);
    }
}

// What no call of the program made, as the sum of losses, has no row.
static void print_layers(Summary *s, const Graph *g, FILE *out)
{
    Line *lines = NEW_ARRAY(s->arena, (size_t)s->count + 2, Line);
    Layer sum = { .name = "sum", .parameters = s->parameters };
    int count = 0;

    lines[count++] = (Line){ { "layer", "operator", "result", "parameters",
                               "forward", "activation bytes", "" } };
    for (int i = 0; i < s->count; i++) {
        const Layer *layer = &s->layers[i];
        sum.flops = capped_sum(sum.flops, layer->flops);
        if (layer->op == NULL) continue;
        lines[count] = costs_line(s->arena, layer);
        lines[count].cell[1] = layer->op->name;
        lines[count++].cell[2] = sample_text(s->arena, g, layer->result);
        sum.bytes += layer->bytes;
    }
    lines[count++] = costs_line(s->arena, &sum);
    s->flops = sum.flops;
    print_lines(lines, count, 3, out);
}

// ---- plans ------------------------------------------------------------------

typedef struct Placed {         // a graph through all passes
    const Graph *g;
    const Plan  *plan;          // NULL: there were errors
} Placed;

// A fresh graph of one mode.
static Placed plan_for(const Input *in, const Options *o, Mode mode)
{
    FrontendOptions frontend = o->frontend;
    frontend.mode = mode;
    Graph *g = input_graph(in, &frontend);
    return (Placed){ g, g != NULL ? run_pipeline(g, &o->passes) : NULL };
}

static Line phase_line(Arena *arena, const char *name, const PhaseCost *sum)
{
    return (Line){ { name, int_text(arena, sum->launches),
                     flops_text(arena, sum->cost.flops),
                     int_text(arena, sum->cost.bytes),
                     bytes_text(arena, sum->cost.bytes),
                     time_text(arena, sum->time), "" } };
}

// Adds what the launches of each phase cost, if there is more than one, and all
// of them, with what they wait for copies.
static void add_phases(Arena *arena, const Graph *g, Line *lines, int *count)
{
    static const char *const whole[MODE_COUNT] = {
        "training step", "evaluation", "inference",
    };
    PhaseCost sums[PHASE_COUNT], all = { .launches = 0 };

    step_cost(g, graph_gpu(g), false, sums);
    for (int phase = 0; phase < PHASE_COUNT; phase++) {
        const PhaseCost *sum = &sums[phase];
        if (g->mode == TRAIN && sum->launches > 0)
            lines[(*count)++] = phase_line(arena, phase_names[phase], sum);
        all.launches += sum->launches;
        all.time = capped_sum(all.time, sum->time);
        cost_add(&all.cost, &sum->cost);
    }
    all.time = capped_sum(all.time, host_use(g).waiting);
    lines[(*count)++] = phase_line(arena, whole[g->mode], &all);
}

// What the launches of one graph for each mode cost; NULL: there is none.
static void print_launches(Arena *arena, const Graph *const g[MODE_COUNT],
                           const Gpu *gpu, FILE *out)
{
    Line lines[PHASE_COUNT + 1 + MODE_COUNT];
    int count = 1;

    lines[0] = (Line){ { "phase", "launches", "work", "bytes moved", "",
                         arena_print(arena, "model of %s", gpu->name), "" } };
    for (int mode = 0; mode < MODE_COUNT; mode++)
        if (g[mode] != NULL) add_phases(arena, g[mode], lines, &count);
    fputc('\n', out);
    print_lines(lines, count, 1, out);
    fputc('\n', out);
}

static void print_arena(Arena *arena, const char *what, int64_t bytes,
                        FILE *out)
{
    fprintf(out, "%-22s%16" PRId64 "  %s\n", what, bytes,
            bytes_text(arena, bytes));
}

// A file that trains holds the programs train and eval over one arena.  The
// text of a graph is of one mode alone.
static bool print_plans(Summary *s, const Input *in, const Options *o,
                        Mode mode, FILE *out)
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
    const Plan *own = plan[mode], *eval = plan[EVAL], *infer = plan[INFER];
    print_launches(s->arena, g, graph_gpu(g[mode]), out);
    int64_t bytes = eval != NULL && eval->arena_bytes > own->arena_bytes
                        ? eval->arena_bytes
                        : own->arena_bytes;
    if (mode != INFER)
        print_arena(s->arena,
                    mode == TRAIN ? "arena, training" : "arena, evaluation",
                    bytes, out);
    if (g[mode]->split_samples > 0)
        fprintf(out, "%-22s%s\n", "slices", slices_text(g[mode]));
    if (own->host_bytes > 0)
        print_arena(s->arena, "host memory", own->host_bytes, out);
    if (g[mode]->fit != NULL)
        fprintf(out, "%-22s%s\n", "checkpoint", fit_text(g[mode]));
    if (infer != NULL)
        print_arena(s->arena, "arena, inference", infer->arena_bytes, out);
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
    fprintf(out, "%s, batch %" PRId64 ", %s, mode %s\n\n", g->name, g->batch,
            precision_name(g), mode_names[g->mode]);
    print_layers(&s, g, out);
    fprintf(out, "\n%-22s%16" PRId64 "\n", "parameters", s.parameters);
    fprintf(out, "%-22s%16" PRId64 "\n", "running statistics", s.statistics);
    fprintf(out, "%-22s%16s\n", "forward", flops_text(s.arena, s.flops));
    return print_plans(&s, in, o, g->mode, out);
}
