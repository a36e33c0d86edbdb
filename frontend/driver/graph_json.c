// --emit graph: the net before any pass as JSON, for programs that write
// another format.  Operators are in the order of execution, and each has all
// its attributes.  The flat program tells how the language says the same.
#include <inttypes.h>
#include <string.h>
#include "../../ir/base/json.h"
#include "../../ir/op/op.h"
#include "run_pipeline.h"

// Prints the separator before item number `count` of a list.
static void print_line(int count, FILE *out)
{
    fputs(count > 0 ? ",\n  " : "\n  ", out);
}

static void print_position(const Graph *g, Pos pos, FILE *out)
{
    fputs("\"file\": ", out);
    json_string(g->diag->sources[pos.file].name, out);
    fprintf(out, ", \"line\": %" PRId32 ", \"column\": %" PRId32, pos.line,
            pos.column);
}

static void print_place(const Graph *g, Pos pos, FILE *out)
{
    if (pos.line <= 0) return;
    fputs(", ", out);
    print_position(g, pos, out);
}

static void print_dims(const int64_t *dims, int count, FILE *out)
{
    fputc('[', out);
    for (int i = 0; i < count; i++)
        fprintf(out, "%s%" PRId64, i ? ", " : "", dims[i]);
    fputc(']', out);
}

// ---- values -----------------------------------------------------------------

// Prints the names of the net's inputs or of its outputs, in its order.
static void print_inputs(const Graph *g, FILE *out)
{
    int count = 0;
    fputs(" \"inputs\": [", out);
    for (ValueId v = 0; v < g->value_count; v++) {
        if (g->values[v].kind != INPUT) continue;
        fputs(count++ ? ", " : "", out);
        json_string(g->values[v].name, out);
    }
    fputs("],\n", out);
}

static void print_outputs(const Graph *g, FILE *out)
{
    ValueId found = 0;
    fputs(" \"outputs\": [", out);
    for (int32_t number = 1; found != NONE; number++) {
        found = NONE;
        for (ValueId v = 0; v < g->value_count; v++)
            if (g->values[v].output_number == number) found = v;
        if (found == NONE) break;
        fputs(number > 1 ? ", " : "", out);
        json_string(g->values[found].name, out);
    }
    fputs("],\n", out);
}

static void print_value(const Graph *g, const Value *value, FILE *out)
{
    fputs("{\"name\": ", out);
    json_string(value->name, out);
    fprintf(out, ", \"kind\": \"%s\", \"dtype\": \"%s\", \"shape\": ",
            kind_names[value->kind], dtype_names[value->dtype]);
    print_dims(value->shape.dim, value->shape.rank, out);
    if (value->classes > 0)
        fprintf(out, ", \"classes\": %" PRId64, value->classes);
    if (value->marked) fputs(", \"checkpoint\": true", out);
    if (value->keep_f32) fputs(", \"float32\": true", out);
    print_place(g, value->pos, out);
    fputc('}', out);
}

static void print_values(const Graph *g, FILE *out)
{
    fputs(" \"values\": [", out);
    for (ValueId v = 0; v < g->value_count; v++) {
        print_line(v, out);
        print_value(g, &g->values[v], out);
    }
    fputs("\n ],\n", out);
}

// ---- operators --------------------------------------------------------------

// Prints the word of the operator's attribute `mode` with this number.
static void print_mode(const char *words, int64_t mode, FILE *out)
{
    for (; mode > 0; mode--) words = strchr(words, '|') + 1;
    fprintf(out, "\"%.*s\"", (int)strcspn(words, "|"), words);
}

static void print_list(const List *list, FILE *out)
{
    fputc('[', out);
    for (int i = 0; list != NULL && i < list->count; i++) {
        fputs(i ? ", " : "", out);
        json_number(list->at[i], out);
    }
    fputc(']', out);
}

static void print_attributes(const Node *n, FILE *out)
{
    const AttrSpec *spec = n->op->attrs;

    fputs(", \"attributes\": {", out);
    for (int i = 0; spec != NULL && spec[i].name != NULL; i++) {
        fprintf(out, "%s\"%s\": ", i ? ", " : "", spec[i].name);
        if (n->op->modes != NULL && strcmp(spec[i].name, "mode") == 0)
            print_mode(n->op->modes, n->attr[i].i, out);
        else if (spec[i].type == ATTR_LIST) print_list(n->attr[i].list, out);
        else if (spec[i].type == ATTR_FLOAT) json_number(n->attr[i].f, out);
        else fprintf(out, "%" PRId64, n->attr[i].i);
    }
    fputc('}', out);
}

// Prints the values in the slots of a list; absent ones are left out.
static void print_slots(const Graph *g, const char *word, const char *list,
                        const ValueId *values, int count, FILE *out)
{
    Slot slots[MAX_SLOTS];
    int slot_count = kernel_slots(list, slots, MAX_SLOTS), printed = 0;

    fprintf(out, ", \"%s\": [", word);
    for (int k = 0; k < count; k++) {
        if (values[k] == NONE) continue;
        const Slot *slot = slot_at(slots, slot_count, k);
        fprintf(out, "%s{\"role\": \"%.*s\", \"value\": ",
                printed++ ? ", " : "", slot->length, slot->name);
        json_string(g->values[values[k]].name, out);
        fputc('}', out);
    }
    fputc(']', out);
}

static void print_operator(const Graph *g, const Node *n, FILE *out)
{
    const char *part = n->op->kernels[n->kernel].name;

    fputs("{\"name\": ", out);
    json_string(n->name, out);
    fprintf(out, ", \"operator\": \"%s%s%s\"", n->op->name, *part ? "." : "",
            part);
    print_slots(g, "operands", kernel_operands(n->op, n->kernel), n->operands,
                n->operand_count, out);
    print_attributes(n, out);
    print_slots(g, "results", n->op->kernels[n->kernel].results, n->results,
                n->result_count, out);
    print_place(g, n->pos, out);
    fputc('}', out);
}

static void print_operators(const Graph *g, FILE *out)
{
    int count = 0;
    fputs(" \"operators\": [", out);
    for (NodeId i = 0; i < g->node_count; i++) {
        if (g->nodes[i].op == NULL) continue;
        print_line(count++, out);
        print_operator(g, &g->nodes[i], out);
    }
    fputs("\n ],\n", out);
}

// ---- the flat program -------------------------------------------------------

// Prints the value of an argument: a number, true or false, a list of
// dimensions or numbers, or a word.
static void print_argument(const ArgSpec *spec, const ArgValue *value,
                           FILE *out)
{
    if (value->word != NULL) {
        json_string(value->word, out);
        return;
    }
    switch (spec->type) {
    case ARG_BOOL:    fputs(value->i ? "true" : "false", out); break;
    case ARG_INT:
    case ARG_LABEL:   fprintf(out, "%" PRId64, value->i); break;
    case ARG_FLOAT:
    case ARG_INIT:    json_number(value->f, out); break;
    case ARG_DIMS:
    case ARG_PADDING: print_dims(value->dim, value->count, out); break;
    case ARG_LIST:    print_list(value->list, out); break;
    case ARG_WORD:    bug("a word without one");
    }
}

// True if the call leaves out dimensions that another argument gives.
static bool is_absent(const ArgSpec *spec, const ArgValue *value)
{
    return spec->type == ARG_DIMS && value->count == 0;
}

static void print_arguments(const FlatCall *call, FILE *out)
{
    const ArgSpec *spec = call->op->args;
    int printed = 0;

    fputs(", \"arguments\": {", out);
    for (int k = 0; spec != NULL && spec[k].name != NULL; k++) {
        if (is_absent(&spec[k], &call->args[k])) continue;
        fprintf(out, "%s\"%s\": ", printed++ ? ", " : "", spec[k].name);
        print_argument(&spec[k], &call->args[k], out);
    }
    fputc('}', out);
}

static void print_call(const FlatCall *call, FILE *out)
{
    fprintf(out, "{\"operator\": \"%s\", \"name\": ", call->op->name);
    json_string(call->name, out);
    fputs(", \"operands\": [", out);
    for (int k = 0; k < call->operand_count; k++) {
        fputs(k ? ", " : "", out);
        json_string(call->operand_names[k], out);
    }
    fputs("], \"result\": ", out);
    json_string(call->result_name, out);
    fputs(", \"shape\": ", out);
    print_dims(call->shape.dim, call->shape.rank, out);
    print_arguments(call, out);
    if (call->part != NULL) fprintf(out, ", \"train\": \"%s\"", call->part);
    if (call->weights != NULL) {
        fputs(", \"weights\": ", out);
        json_string(call->weights, out);
    }
    fputc('}', out);
}

static void print_flat(const FlatProgram *flat, FILE *out)
{
    fputs(" \"constants\": {", out);
    for (int32_t i = 0; i < flat->constant_count; i++) {
        fputs(i ? ", " : "", out);
        json_string(flat->constants[i].name, out);
        fputs(": ", out);
        json_string(flat->constants[i].text, out);
    }
    fputs("},\n \"results\": [", out);
    for (int32_t i = 0; i < flat->output_count; i++) {
        fputs(i ? ", " : "", out);
        json_string(flat->outputs[i], out);
    }
    fputs("],\n \"calls\": [", out);
    for (int32_t i = 0; i < flat->call_count; i++) {
        print_line(i, out);
        print_call(&flat->calls[i], out);
    }
    fputs("\n ]}\n", out);
}

// Prints where the train section begins, if there is one.
static void print_train(const Graph *g, const Ast *ast, FILE *out)
{
    if (ast->train == NULL) return;
    fputs(" \"train\": {", out);
    print_position(g, ast->train->pos, out);
    fputs("},\n", out);
}

bool print_graph_json(const Input *in, const Options *o, FILE *out)
{
    FlatProgram flat = { .arena = in->arena };
    FrontendOptions frontend = o->frontend;
    frontend.flat = &flat;
    const Graph *g = input_graph(in, &frontend);
    if (g == NULL) return false;
    if (in->ast == NULL) {
        error(in->diag, g->places->net, "--emit graph takes a program, and "
              "this is a graph as text");
        return false;
    }
    fputs("{\"net\": ", out);
    json_string(g->name, out);
    fprintf(out, ", \"mode\": \"%s\", \"batch\": %" PRId64
            ", \"precision\": \"%s\",\n", mode_names[g->mode], g->batch,
            dtype_names[g->real]);
    print_inputs(g, out);
    print_outputs(g, out);
    print_values(g, out);
    print_operators(g, out);
    print_train(g, in->ast, out);
    print_flat(&flat, out);
    return true;
}
