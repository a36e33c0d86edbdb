// Reads the text of a graph, in the format of print.c.  A text written by hand
// may omit a value's %id (it gets the next one), the node's [number] (which is
// ignored), positions, and the header.  Operands may be names or %ids.  Reading
// ends at the first error.  The verifier checks the graph; the reader refuses
// only text that can't be stored.
//
// Positions refer to the net's source, which is not available: their file is
// NONE.
#include <ctype.h>
#include "read.h"

// Returns the range of the current line, from its first word on.
static Pos line_pos(const Reader *r)
{
    Pos pos = r->pos;
    const char *first = r->start;
    while (first < r->end && (*first == ' ' || *first == '\t')) first++;
    pos.column = (int32_t)(first - r->start) + 1;
    pos.length = (int32_t)(r->end - first);
    return pos;
}

void note_place(Reader *r, Pos **places, int32_t *capacity, int32_t id)
{
    *places = arena_grow(r->arena, *places, capacity, (int64_t)id + 1,
                         sizeof(Pos));
    (*places)[id] = line_pos(r);
}

// Reads the first line, which makes the graph.
static void read_net(Reader *r)
{
    char *name = word_text(r, read_word(r));
    Graph *g = r->g = graph_new(r->arena, r->diag, name, TRAIN, 1, F32);

    r->places->net = line_pos(r);
    g->places = r->places;

    while (!r->failed && isalpha((unsigned char)peek_char(r))) {
        Word key = read_word(r);
        if (word_is(key, "keep_gradients")) {
            g->training.keep_gradients = true;
            continue;
        }
        if (word_is(key, "calibrates")) {
            g->calibrates = true;
            continue;
        }
        if (word_is(key, "tf32")) {
            g->tf32 = true;
            continue;
        }
        if (!expect_char(r, '=')) return;
        if (word_is(key, "mode"))
            g->mode = (Mode)read_choice(r, mode_names, MODE_COUNT);
        else if (word_is(key, "batch"))
            g->batch = read_int(r);
        else if (word_is(key, "real"))
            g->real = g->map = g->weight =
                (DType)read_choice(r, dtype_names, DTYPE_COUNT);
        else if (word_is(key, "map"))
            g->map = (DType)read_choice(r, dtype_names, DTYPE_COUNT);
        else if (word_is(key, "weight"))
            g->weight = (DType)read_choice(r, dtype_names, DTYPE_COUNT);
        else if (word_is(key, "epochs"))
            g->training.epochs = read_int(r);
        else if (word_is(key, "step_batch"))
            g->training.step_batch = read_int(r);
        else if (word_is(key, "accumulate"))
            g->training.accumulate = read_int(r);
        else if (word_is(key, "dropouts"))
            g->dropout_count = read_int32(r);
        else if (word_is(key, "states"))
            g->training.optimizer_states = read_int32(r);
        else if (word_is(key, "clip_value"))
            g->training.clip_value = read_double(r);
        else if (word_is(key, "clip_norm"))
            g->training.clip_norm = read_double(r);
        else if (word_is(key, "average"))
            g->training.average = read_double(r);
        else if (word_is(key, "loss_scale"))
            g->training.loss_scale = read_double(r);
        else if (word_is(key, "loss_scale_interval"))
            g->training.loss_scale_interval = read_int(r);
        else
            read_fail(r, "a net has no such field");
    }
}

static void read_memory(Reader *r)
{
    static const char *const fields[] = { "arena", "state", "live" };
    Graph *g = r->g;
    int64_t *bytes[] = { &g->arena_bytes, &g->state_bytes, &g->max_live_bytes };

    while (!r->failed && peek_char(r) != '\0') {
        int field = read_choice(r, fields, 3);
        if (expect_char(r, '=')) *bytes[field] = read_int(r);
    }
}

// Reads a line by its first word; a word that is none of those below is the
// name of a value.
static void read_line(Reader *r)
{
    if (accept_char(r, '[')) {
        read_int(r);
        expect_char(r, ']');
    }
    const char *start = (skip_blanks(r), r->at);
    Word word = peek_char(r) == '%' ? (Word){ "", 0 } : read_word(r);
    int phase = word_place(word, phase_names, PHASE_COUNT);

    if (r->g == NULL && !word_is(word, "net"))
        read_fail(r, "the text of a graph begins with the line net");
    else if (r->g == NULL)
        read_net(r);
    else if (word_is(word, "optimizer"))
        read_called(r, &r->g->training.optimizer, r->g->training.optimizer_attr,
                    &r->g->training.optimizer_pos);
    else if (word_is(word, "schedule"))
        read_called(r, &r->g->training.schedule, r->g->training.schedule_attr,
                    &r->g->training.schedule_pos);
    else if (word_is(word, "prune"))
        read_called(r, &r->g->training.prune, r->g->training.prune_attr,
                    &r->g->training.prune_pos);
    else if (word_is(word, "memory"))
        read_memory(r);
    else if (word_is(word, "facts"))
        while (!r->failed && peek_char(r) != '\0')
            r->g->facts |= 1u << read_choice(r, fact_names, FACT_COUNT);
    else if (phase != NONE)
        read_node(r, (Phase)phase);
    else
        r->at = start, read_value(r);
    if (peek_char(r) != '\0') read_fail(r, "the line should end here");
}

// True if an id that was named is declared.
static bool is_declared(const Graph *g, ValueId id)
{
    return id == NONE ||
           (id >= 0 && id < g->value_count && g->values[id].name != NULL);
}

static bool all_declared(const Graph *g)
{
    for (ValueId v = 0; v < g->value_count; v++)
        if (!is_declared(g, v) || !is_declared(g, g->values[v].gradient_of) ||
            !is_declared(g, g->values[v].state_of) ||
            !is_declared(g, g->values[v].scale) ||
            !is_declared(g, g->values[v].alias_of))
            return false;
    for (NodeId i = 0; i < g->node_count; i++)
        for (int k = 0; k < g->nodes[i].operand_count; k++)
            if (!is_declared(g, g->nodes[i].operands[k])) return false;
    return true;
}

Graph *graph_read(Arena *arena, Diag *diag, int32_t file)
{
    const Source *source = &diag->sources[file];
    Reader r = { .arena = arena, .diag = diag, .pos = { .file = file },
                 .most_values = (int64_t)source->length,
                 .places = NEW(arena, Places) };

    for (int32_t line = 1; line <= source->line_count && !r.failed; line++) {
        int32_t length;
        r.start = r.at = source_line(source, line, &length);
        r.end = r.start + length;
        r.pos.line = line;
        if (peek_char(&r) != '\0') read_line(&r);
    }
    if (!r.failed && (r.g == NULL || !all_declared(r.g)))
        read_fail(&r, r.g == NULL ? "there is no graph in this file"
                             : "an id is named that no value has");
    return r.failed ? NULL : r.g;
}
