// --emit names: the weights of a net as JSON, for programs that convert files
// of other frameworks.  Their order is that of the program and of files.
#include <ctype.h>
#include <inttypes.h>
#include <string.h>
#include "../../ir/base/json.h"
#include "../../ir/op/op.h"
#include "run_pipeline.h"

// The first node that reads a weight, and its slot.
typedef struct Reader {
    const Node *node;
    Slot        slot;
} Reader;

static Reader find_reader(const Graph *g, ValueId v)
{
    Slot slots[MAX_SLOTS];
    for (NodeId i = 0; i < g->node_count; i++) {
        const Node *n = &g->nodes[i];
        if (n->op == NULL) continue;
        int count = kernel_slots(kernel_operands(n->op, n->kernel), slots,
                                 MAX_SLOTS);
        for (int k = 0; k < n->operand_count; k++)
            if (n->operands[k] == v)
                return (Reader){ n, *slot_at(slots, count, k) };
    }
    return (Reader){ NULL, { .name = "" } };
}

// Returns the layer's operator: bias is a node after the layer's own.
static const Op *layer_of(const Graph *g, const Node *n)
{
    while (n->op->flags & INTERNAL && g->values[n->operands[0]].def != NONE)
        n = &g->nodes[g->values[n->operands[0]].def];
    return n->op;
}

// Returns where the formula of the operator indexes this slot: at k,r,s,c] of
// weight[k,r,s,c].  NULL if it does not.
static const char *indices_of(const Op *op, const Slot *slot)
{
    for (const char *at = op->meaning; (at = strchr(at, '[')) != NULL; at++) {
        const char *name = at - slot->length;
        if (name >= op->meaning && !strncmp(name, slot->name, slot->length) &&
            (name == op->meaning || !isalnum((unsigned char)name[-1])))
            return at + 1;
    }
    return NULL;
}

static void print_layout(const char *indices, FILE *out)
{
    fputs(", \"layout\": \"", out);
    for (; *indices != ']'; indices++)
        if (*indices != ',') fputc(*indices, out);
    fputc('"', out);
}

static void print_weight(const Graph *g, ValueId v, FILE *out)
{
    const Value *value = &g->values[v];
    Reader reader = find_reader(g, v);
    fputs("{\"name\": ", out);
    json_string(value->name, out);
    fputs(", \"shape\": [", out);
    for (int i = 0; i < value->shape.rank; i++)
        fprintf(out, "%s%" PRId64, i ? ", " : "", value->shape.dim[i]);
    fprintf(out, "], \"trained\": %s", value->kind == PARAM ? "true" : "false");
    if (reader.node != NULL) {
        const Op *op = layer_of(g, reader.node);
        const char *indices = indices_of(op, &reader.slot);
        fprintf(out, ", \"role\": \"%.*s\", \"operator\": \"%s\"",
                reader.slot.length, reader.slot.name, op->name);
        if (indices != NULL) print_layout(indices, out);
    }
    fputc('}', out);
}

bool print_names(const Input *in, const Options *o, FILE *out)
{
    const Graph *g = input_graph(in, &o->frontend);
    int count = 0;
    if (g == NULL) return false;
    fputc('[', out);
    for (ValueId v = 0; v < g->value_count; v++) {
        Kind kind = g->values[v].kind;
        if (kind != PARAM && kind != STATISTIC) continue;
        fputs(count++ ? ",\n " : "\n ", out);
        print_weight(g, v, out);
    }
    fputs("\n]\n", out);
    return true;
}
