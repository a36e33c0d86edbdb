// Prints a graph as text, which read.c reads back to the same graph: a dump is
// both a test's input and a fault report.  There are four kinds of lines:
//
//     net digits mode=train batch=64 real=f32 epochs=5
//     %1 image u8[64, 8, 8, 1] input @3:11+5
//     [2] forward conv_1: %6 conv_1 f32[64, 8, 8, 16] = conv(x, conv_1.weight,
//         conv_1.bias) stride_h=1 stride_w=1 groups=1 act=relu @7:22+4
//     # a comment
//
// (a node is one line, broken here).  First come the net, the optimizer and the
// facts, then the values that no node makes, then the nodes in order, each with
// its results.  Attributes that are 0 are not printed, nor are fields that do
// not hold yet.  A value's id precedes its name; operands are printed by name.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include "../op/op.h"

// Prints the fewest digits that read back: 0.1, not 0.10000000000000001.
static void print_double(double f, FILE *out)
{
    char text[40];
    snprintf(text, sizeof text, "%.15g", f);
    if (strtod(text, NULL) != f) snprintf(text, sizeof text, "%.17g", f);
    fputs(text, out);
}

// The file is left out, since a graph comes from one.
static void print_pos(Pos pos, FILE *out)
{
    if (pos.line > 0)
        fprintf(out, " @%" PRId32 ":%" PRId32 "+%" PRId32, pos.line, pos.column,
                pos.length);
}

static void print_list(const char *name, const List *list, FILE *out)
{
    fprintf(out, " %s=[", name);
    for (int i = 0; i < list->count; i++) {
        fputs(i ? ", " : "", out);
        print_double(list->at[i], out);
    }
    fputc(']', out);
}

// Prints attributes by their names; 0 is left out, -0 is not.
static void print_attrs(const Op *op, const Attr *attr, FILE *out)
{
    const AttrSpec *spec = op->attrs;

    for (int i = 0; spec != NULL && spec[i].name != NULL; i++) {
        if (spec[i].type == ATTR_LIST && attr[i].list != NULL)
            print_list(spec[i].name, attr[i].list, out);
        if (spec[i].type == ATTR_FLOAT &&
            (attr[i].f != 0 || signbit(attr[i].f))) {
            fprintf(out, " %s=", spec[i].name);
            print_double(attr[i].f, out);
        }
        if (spec[i].type == ATTR_INT && attr[i].i != 0)
            fprintf(out, " %s=%" PRId64, spec[i].name, attr[i].i);
    }
}

// ---- the net ----------------------------------------------------------------

static void print_facts(const Graph *g, FILE *out)
{
    if (g->facts == 0) return;
    fputs("facts", out);
    for (int i = 0; i < FACT_COUNT; i++)
        if (g->facts & 1u << i) fprintf(out, " %s", fact_names[i]);
    fputc('\n', out);
}

// Prints an operator of the train section, if there is one.
static void print_called(const char *word, const Op *op, const Attr *attr,
                         Pos pos, FILE *out)
{
    if (op == NULL) return;
    fprintf(out, "%s %s", word, op->name);
    print_attrs(op, attr, out);
    print_pos(pos, out);
    fputc('\n', out);
}

static void print_limit(const char *before, const char *name, double limit,
                        FILE *out)
{
    if (limit == 0) return;
    fprintf(out, "%s%s=", before, name);
    print_double(limit, out);
}

void graph_print_training(const Graph *g, FILE *out)
{
    if (g->training.optimizer == NULL) return;
    fputs(g->training.optimizer->name, out);
    print_attrs(g->training.optimizer, g->training.optimizer_attr, out);
    if (g->training.schedule != NULL) {
        fprintf(out, ", schedule %s", g->training.schedule->name);
        print_attrs(g->training.schedule, g->training.schedule_attr, out);
    }
    print_limit(", ", "clip_value", g->training.clip_value, out);
    print_limit(", ", "clip_norm", g->training.clip_norm, out);
    print_limit(", ", "average", g->training.average, out);
    if (g->training.prune == NULL) return;
    fputs(", prune", out);
    print_attrs(g->training.prune, g->training.prune_attr, out);
}

static void print_net(const Graph *g, FILE *out)
{
    fprintf(out, "net %s mode=%s batch=%" PRId64 " real=%s", g->name,
            mode_names[g->mode], g->batch, dtype_names[g->real]);
    if (g->map != g->real) fprintf(out, " map=%s", dtype_names[g->map]);
    if (g->weight != g->real)
        fprintf(out, " weight=%s", dtype_names[g->weight]);
    if (g->tf32) fprintf(out, " tf32");
    if (g->calibrates) fprintf(out, " calibrates");
    if (g->training.epochs != 0)
        fprintf(out, " epochs=%" PRId64, g->training.epochs);
    if (g->training.step_batch != 0)
        fprintf(out, " step_batch=%" PRId64, g->training.step_batch);
    if (g->training.accumulate != 0)
        fprintf(out, " accumulate=%" PRId64, g->training.accumulate);
    if (g->dropout_count != 0) fprintf(out, " dropouts=%d", g->dropout_count);
    if (g->training.optimizer_states != 0)
        fprintf(out, " states=%d", g->training.optimizer_states);
    print_limit(" ", "clip_value", g->training.clip_value, out);
    print_limit(" ", "clip_norm", g->training.clip_norm, out);
    print_limit(" ", "average", g->training.average, out);
    print_limit(" ", "loss_scale", g->training.loss_scale, out);
    if (g->training.loss_scale_interval != 0)
        fprintf(out, " loss_scale_interval=%" PRId64,
                g->training.loss_scale_interval);
    if (g->training.keep_gradients) fputs(" keep_gradients", out);
    fputc('\n', out);
    print_called("optimizer", g->training.optimizer, g->training.optimizer_attr,
                 g->training.optimizer_pos, out);
    print_called("schedule", g->training.schedule, g->training.schedule_attr,
                 g->training.schedule_pos,
                 out);
    print_called("prune", g->training.prune, g->training.prune_attr,
                 g->training.prune_pos, out);
    print_facts(g, out);
    if (g->facts & IS_PLACED)
        fprintf(out, "memory arena=%" PRId64 " state=%" PRId64 " live=%" PRId64
                "\n", g->arena_bytes, g->state_bytes, g->max_live_bytes);
    fputc('\n', out);
}

// ---- values -----------------------------------------------------------------

static void print_type(const Value *value, FILE *out)
{
    fprintf(out, " %s[", dtype_names[value->dtype]);
    for (int i = 0; i < value->shape.rank; i++)
        fprintf(out, "%s%" PRId64, i ? ", " : "", value->shape.dim[i]);
    fputc(']', out);
}

// Prints only fields that the facts guarantee.
static void print_memory(const Graph *g, const Value *value, FILE *out)
{
    if (g->facts & HAS_LIFETIMES)
        fprintf(out, " live=%" PRId32 "..%" PRId32, value->first, value->last);
    if ((g->facts & IS_SHARED) && value->alias_of != NONE)
        fprintf(out, " %s=%%%" PRId32, value->view ? "view" : "over",
                value->alias_of);
    if ((g->facts & IS_SHARED) && value->start > 0)
        fprintf(out, " start=%" PRId64, value->start);
    if ((g->facts & IS_SHARED) && value->view_rows > 0)
        fprintf(out, " view_rows=%" PRId64 " view_stride=%" PRId64,
                value->view_rows, value->view_stride);
    if (g->facts & IS_PLACED)
        fprintf(out, " offset=%" PRId64, value->offset);
    else if (value->offset != NONE)
        fprintf(out, " near=%" PRId64, value->offset);
}

// The kind activation is left out, and so are persistence implied by the kind
// and the position `here`.
static void print_value(const Graph *g, ValueId id, Pos here, FILE *out)
{
    const Value *value = &g->values[id];

    fprintf(out, "%%%" PRId32 " %s", id, value->name);
    print_type(value, out);
    if (value->kind != ACTIVATION)
        fprintf(out, " %s", kind_names[value->kind]);
    if (value->persistent && !is_persistent(value->kind))
        fputs(" persistent", out);
    if (value->output) fputs(" output", out);
    if (value->output_number > 0)
        fprintf(out, "=%" PRId32, value->output_number);
    if (value->marked) fputs(" marked", out);
    if (value->keep_f32) fputs(" keep_f32", out);
    if (value->init.scale != 0) {
        fprintf(out, " %s=", init_names[value->init.kind]);
        print_double(value->init.scale, out);
    }
    if (value->decayed) fputs(" decayed", out);
    if (value->frozen) fputs(" frozen", out);
    if (value->rate_factor != 1) {
        fputs(" rate_factor=", out);
        print_double(value->rate_factor, out);
    }
    if (value->classes != 0) fprintf(out, " classes=%" PRId64, value->classes);
    if (value->gradient_of != NONE)
        fprintf(out, " of=%%%" PRId32, value->gradient_of);
    if (value->state_of != NONE)
        fprintf(out, " of=%%%" PRId32, value->state_of);
    if (value->scale != NONE)
        fprintf(out, " %s=%%%" PRId32,
                value->integer == U8 ? "scale_u8" : "scale_i8", value->scale);
    if (value->recompute_of != NONE)
        fprintf(out, " recompute_of=%%%" PRId32, value->recompute_of);
    print_memory(g, value, out);
    if (value->pos.line != here.line || value->pos.column != here.column ||
        value->pos.length != here.length)
        print_pos(value->pos, out);
}

// ---- nodes ------------------------------------------------------------------

// Prints each result with its fields, and then " =".  A node without results
// (an update) begins with its operator.
static void print_results(const Graph *g, const Node *n, FILE *out)
{
    for (int k = 0; k < n->result_count; k++) {
        fputs(k ? ", " : " ", out);
        if (n->results[k] == NONE)
            fputc('-', out);
        else
            print_value(g, n->results[k], n->pos, out);
    }
    if (n->result_count > 0) fputs(" =", out);
}

static void print_operands(const Graph *g, const Node *n, FILE *out)
{
    fputc('(', out);
    for (int k = 0; k < n->operand_count; k++) {
        ValueId operand = n->operands[k];
        fprintf(out, "%s%s", k ? ", " : "",
                operand == NONE ? "-" : g->values[operand].name);
    }
    fputc(')', out);
}

static void print_node(const Graph *g, NodeId id, FILE *out)
{
    const Node *n = &g->nodes[id];
    const char *kernel = n->op->kernels[n->kernel].name;

    fprintf(out, "[%" PRId32 "] %s %s:", id, phase_names[n->phase], n->name);
    print_results(g, n, out);
    fprintf(out, " %s%s%s", n->op->name, *kernel ? "." : "", kernel);
    print_operands(g, n, out);
    print_attrs(n->op, n->attr, out);
    if (n->act != NULL) fprintf(out, " act=%s", n->act->name);
    if (n->fused_load) fputs(" fused_load", out);
    if (n->stored) fputs(" stored", out);
    if (n->in_place) fputs(" in_place", out);
    if (n->grouped) fputs(" grouped", out);
    print_pos(n->pos, out);
    fputc('\n', out);
}

void graph_print(const Graph *g, FILE *out)
{
    const Pos nowhere = { .line = 0 };

    print_net(g, out);
    for (ValueId v = 0; v < g->value_count; v++) {
        NodeId def = g->values[v].def;
        if (def != NONE && g->nodes[def].op != NULL) continue;
        print_value(g, v, nowhere, out);
        fputc('\n', out);
    }
    fputc('\n', out);
    for (NodeId i = 0; i < g->node_count; i++)
        if (g->nodes[i].op != NULL) print_node(g, i, out);
}
