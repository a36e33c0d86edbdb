// --emit names: the weights of a net as JSON, for programs that convert files
// of other frameworks.  Their order is that of the program and of files.
#include <ctype.h>
#include <inttypes.h>
#include <string.h>
#include "../../ir/base/json.h"
#include "../../ir/families/quantize.h"
#include "../../ir/op/op.h"
#include "run_pipeline.h"

// The first node that reads a value, and the operand that the value is.
typedef struct Reader {
    const Node *node;
    int         operand;
} Reader;

// Returns the reader of each value, in arena.  The layer is that of a weight,
// also if training rounds it by internal nodes (fake_quantize.c).
static Reader *find_readers(Arena *arena, const Graph *g)
{
    Reader *readers = NEW_ARRAY(arena, g->value_count, Reader);
    for (NodeId i = g->node_count; i-- > 0;) {
        const Node *n = &g->nodes[i];
        for (int k = 0; n->op != NULL && k < n->operand_count; k++)
            if (n->operands[k] != NONE) {
                Reader *of = &readers[unrounded_weight(g, n->operands[k])];
                if (of->node == NULL || !(n->op->flags & INTERNAL))
                    *of = (Reader){ n, k };
            }
    }
    return readers;
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

static void print_role(const Graph *g, Reader reader, FILE *out)
{
    const Node *n = reader.node;
    const Op *op = layer_of(g, n);
    Slot slots[MAX_SLOTS];
    int count = kernel_slots(kernel_operands(n->op, n->kernel), slots,
                             MAX_SLOTS);
    const Slot *slot = slot_at(slots, count, reader.operand);
    const char *indices = indices_of(op, slot);
    fprintf(out, ", \"role\": \"%.*s\", \"operator\": \"%s\"", slot->length,
            slot->name, op->name);
    if (indices != NULL) print_layout(indices, out);
}

static void print_weight(const Graph *g, ValueId v, Reader reader, FILE *out)
{
    const Value *value = &g->values[v];
    fputs("{\"name\": ", out);
    json_string(value->name, out);
    fputs(", \"shape\": [", out);
    for (int i = 0; i < value->shape.rank; i++)
        fprintf(out, "%s%" PRId64, i ? ", " : "", value->shape.dim[i]);
    fprintf(out, "], \"trained\": %s", is_trained(value) ? "true" : "false");
    if (reader.node != NULL) print_role(g, reader, out);
    fputc('}', out);
}

bool print_names(const Input *in, const Options *o, FILE *out)
{
    const Graph *g = input_graph(in, &o->frontend);
    int count = 0;
    if (g == NULL) return false;
    const Reader *readers = find_readers(in->arena, g);
    fputc('[', out);
    for (ValueId v = 0; v < g->value_count; v++) {
        Kind kind = g->values[v].kind;
        if (kind != PARAM && kind != STATISTIC) continue;
        fputs(count++ ? ",\n " : "\n ", out);
        print_weight(g, v, readers[v], out);
    }
    fputs("\n]\n", out);
    return true;
}
