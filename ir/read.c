// The text of a graph, read back; print.c says what it looks like.  Written by
// hand it may leave out more: a value's %id (it takes the next one), the
// node's [number] (never looked at), all positions, the header.  Operands may
// be names or %ids.  Reading ends at the first error.  Whether the graph makes
// sense is for verify to say; here only what could not be stored is refused.
//
// Positions are those of the net's source, which is not at hand: their file
// is NONE.
#include <ctype.h>
#include <string.h>
#include "op.h"
#include "names.h"
#include "text.h"

enum { MOST_SLOTS = 64 };

// ---- values -----------------------------------------------------------------

// %id, which may be of a value to come, or the name of one declared before.
static ValueId read_reference(Reader *r)
{
    if (accept_char(r, '%')) return read_int32(r);
    Word word = read_word(r);
    if (word_is(word, "-")) return NONE;
    ValueId id = names_find(r->g->value_names, word.text, (size_t)word.length);
    if (id == NONE && !r->failed)
        read_fail(r, arena_print(r->arena, "no value is called %s, so far",
                                 word_text(r, word)));
    return id;
}

// f32[64, 28, 28, 32].
static void read_type(Reader *r, Value *value)
{
    value->dtype = (DType)read_choice(r, dtype_names, DTYPE_COUNT);
    expect_char(r, '[');
    while (!r->failed && peek_char(r) != ']') {
        if (value->shape.rank == MAX_RANK) {
            read_fail(r, "too many dimensions");
            return;
        }
        value->shape.dim[value->shape.rank++] = read_int(r);
        if (!accept_char(r, ',')) break;
    }
    expect_char(r, ']');
    if (!r->failed && !is_addressable(value->shape, value->dtype))
        read_fail(r, "this shape is too large to be addressed, or empty");
}

// What follows a word and "=".
static bool read_value_field(Reader *r, Value *value, Word key)
{
    int init = word_place(key, init_names, INIT_COUNT);

    if (init != NONE) {
        value->init = (Init){ (InitKind)init, read_double(r) };
    } else if (word_is(key, "classes")) {
        value->classes = read_int(r);
    } else if (word_is(key, "output")) {
        value->output = true;
        value->output_number = read_int32(r);
    } else if (word_is(key, "of")) {
        *(value->kind == STATE ? &value->state_of : &value->gradient_of) =
            read_reference(r);
    } else if (word_is(key, "over") || word_is(key, "view")) {
        value->view = word_is(key, "view");
        value->alias_of = read_reference(r);
    } else if (word_is(key, "offset")) {
        value->offset = read_int(r);
    } else if (word_is(key, "live")) {
        value->first = read_int32(r);
        // Two dots.
        // NOLINTNEXTLINE(misc-redundant-expression)
        if (expect_char(r, '.') && expect_char(r, '.'))
            value->last = read_int32(r);
    } else {
        return read_fail(r, "a value has no such field");
    }
    return !r->failed;
}

// A word alone: the kind, or what holds.
static bool read_value_flag(Reader *r, Value *value, Word word)
{
    int kind = word_place(word, kind_names, KIND_COUNT);

    if (kind != NONE)
        value->kind = (Kind)kind;
    else if (word_is(word, "persistent"))
        value->persistent = true;
    else if (word_is(word, "output"))
        value->output = true;
    else if (word_is(word, "decayed"))
        value->decayed = true;
    else
        return read_fail(r, "a value has no such mark");
    value->persistent |= kind != NONE && is_persistent((Kind)kind);
    return true;
}

static void read_value_rest(Reader *r, Value *value)
{
    read_type(r, value);
    while (!r->failed && isalpha((unsigned char)peek_char(r))) {
        Word word = read_word(r);
        if (r->at < r->end && *r->at == '=') {
            r->at++;
            read_value_field(r, value, word);
        } else {
            read_value_flag(r, value, word);
        }
    }
    read_pos(r, &value->pos);
}

// Makes room for value id, with blanks before it that have no name yet.
static bool make_room(Reader *r, int64_t id)
{
    Graph *g = r->g;
    if (id < 0 || id >= r->most_values)
        return read_fail(r, "there is no such id");
    g->values = arena_grow(g->arena, g->values, &g->value_capacity, id + 1,
                           sizeof(Value));
    if (g->value_count <= id) g->value_count = (int32_t)id + 1;
    return true;
}

// A declaration; the header, which every graph has, may be declared again.
static ValueId read_value(Reader *r)
{
    Graph *g = r->g;
    int64_t id = accept_char(r, '%') ? read_int(r) : NONE;
    Word word = read_word(r);
    ValueId taken = names_find(g->value_names, word.text, (size_t)word.length);
    bool is_header = taken == g->header && (id == NONE || id == taken);
    Value value = { .kind = ACTIVATION, .def = NONE, .gradient_of = NONE,
                    .state_of = NONE, .first = NONE, .last = NONE,
                    .alias_of = NONE, .offset = NONE };

    read_value_rest(r, &value);
    if (is_header) id = taken;
    if (id == NONE) id = g->value_count;
    if (r->failed || !make_room(r, id)) return NONE;
    if (!is_header && (taken != NONE || g->values[id].name != NULL)) {
        read_fail(r, "this name or id is taken");
        return NONE;
    }
    value.name = is_header ? g->values[id].name
        : names_take(g->value_names, word_text(r, word), (int32_t)id);
    g->values[id] = value;
    return (ValueId)id;
}

// ---- nodes ------------------------------------------------------------------

// NULL, and a complaint, if there is none.
static const Op *read_op(Reader *r, Word word)
{
    const Op *op = find_op(word.text, (size_t)word.length);
    if (op == NULL && !r->failed)
        read_fail(r, arena_print(r->arena, "there is no operator \"%s\"",
                                 word_text(r, word)));
    return op;
}

// conv or conv.dgrad.
static const Op *read_part(Reader *r, int *part)
{
    Word word = read_word(r), name = { .text = "" };
    const char *dot = memchr(word.text, '.', (size_t)word.length);
    if (dot != NULL) {
        name = (Word){ dot + 1, word.length - (int)(dot + 1 - word.text) };
        word.length = (int)(dot - word.text);
    }
    const Op *op = read_op(r, word);
    if (op == NULL) return NULL;
    for (*part = 0; op->parts[*part].results != NULL; ++*part)
        if (word_is(name, op->parts[*part].name)) return op;
    read_fail(r, arena_print(r->arena, "%s has no such part", op->name));
    return NULL;
}

// [1, 0.5, 2]
static const List *read_list(Reader *r)
{
    List *list = NEW(r->arena, List);
    double *at = NEW_ARRAY(r->arena, r->end - r->at + 1, double);

    expect_char(r, '[');
    while (!r->failed && peek_char(r) != ']') {
        at[list->count++] = read_double(r);
        if (!accept_char(r, ',')) break;
    }
    expect_char(r, ']');
    list->at = at;
    return list;
}

// Attributes and act=, as far as there are any.  act is NULL where an
// activation cannot stand.
static void read_attrs(Reader *r, const Op *op, Attr *attr, const Op **act)
{
    while (op != NULL && !r->failed &&
           isalpha((unsigned char)peek_char(r))) {
        Word key = read_word(r);
        const AttrSpec *spec = op->attrs;
        if (!expect_char(r, '=')) return;
        if (act != NULL && word_is(key, "act")) {
            *act = read_op(r, read_word(r));
            continue;
        }
        while (spec != NULL && spec->name != NULL && !word_is(key, spec->name))
            spec++;
        // attr is as long as op->attrs.
        // NOLINTBEGIN(clang-analyzer-core.NullDereference)
        if (spec == NULL || spec->name == NULL)
            read_fail(r, arena_print(r->arena, "%s has no attribute %s",
                                     op->name, word_text(r, key)));
        else if (spec->type == ATTR_LIST)
            attr[spec - op->attrs].list = read_list(r);
        else if (spec->type == ATTR_FLOAT)
            attr[spec - op->attrs].f = read_double(r);
        else
            attr[spec - op->attrs].i = read_int(r);
        // NOLINTEND(clang-analyzer-core.NullDereference)
    }
}

// Up to the "="; none where the operator's call comes at once.
static int read_results(Reader *r, ValueId *results)
{
    int count = 0;
    const char *before = (skip_blanks(r), r->at);

    if (*before != '%') {
        read_word(r);
        bool is_call = r->at < r->end && *r->at == '(';
        r->at = before;
        if (is_call) return 0;
    }
    do {
        bool left_out = peek_char(r) == '-';
        if (left_out) r->at++;
        results[count++] = left_out ? NONE : read_value(r);
    } while (!r->failed && count < MOST_SLOTS && accept_char(r, ','));
    expect_char(r, '=');
    return count;
}

// (a, %3, -), as many as there are; whether that is right is not asked here.
static int read_operands(Reader *r, ValueId *operands)
{
    int count = 0;
    expect_char(r, '(');
    while (!r->failed && count < MOST_SLOTS && peek_char(r) != ')') {
        operands[count++] = read_reference(r);
        if (!accept_char(r, ',')) break;
    }
    expect_char(r, ')');
    return count;
}

// name: results = op.part(operands) attributes @position
static void read_node(Reader *r, Phase phase)
{
    Graph *g = r->g;
    ValueId operands[MOST_SLOTS], results[MOST_SLOTS];
    int part = 0;

    Word name = read_word(r);
    expect_char(r, ':');
    int result_count = r->failed ? 0 : read_results(r, results);
    const Op *op = r->failed ? NULL : read_part(r, &part);
    int operand_count = op != NULL ? read_operands(r, operands) : 0;
    if (r->failed) return;
    if (names_find(g->node_names, name.text, (size_t)name.length) != NONE) {
        read_fail(r, "two nodes have this name");
        return;
    }
    NodeId id = graph_node(g, op, part, phase, word_text(r, name),
                           (Pos){ .file = NONE }, operand_count, operands,
                           result_count, results);
    Node *n = &g->nodes[id];
    read_attrs(r, op, n->attr, &n->act);
    read_pos(r, &n->pos);
    // A result is where its node is unless it says otherwise.
    for (int k = 0; k < result_count; k++)
        if (results[k] != NONE && g->values[results[k]].pos.line == 0)
            g->values[results[k]].pos = n->pos;
}

// ---- the net ----------------------------------------------------------------

// The line that must come first, since it makes the graph.
static void read_net(Reader *r)
{
    char *name = word_text(r, read_word(r));
    Graph *g = r->g = graph_new(r->arena, r->diag, name, TRAIN, 1, F32);

    while (!r->failed && isalpha((unsigned char)peek_char(r))) {
        Word key = read_word(r);
        if (word_is(key, "keep_gradients")) {
            g->keep_gradients = true;
            continue;
        }
        if (!expect_char(r, '=')) return;
        if (word_is(key, "mode"))
            g->mode = (Mode)read_choice(r, mode_names, MODE_COUNT);
        else if (word_is(key, "batch"))
            g->batch = read_int(r);
        else if (word_is(key, "real"))
            g->real = (DType)read_choice(r, dtype_names, DTYPE_COUNT);
        else if (word_is(key, "epochs"))
            g->epochs = read_int(r);
        else if (word_is(key, "dropouts"))
            g->dropout_count = read_int32(r);
        else if (word_is(key, "states"))
            g->optimizer_states = read_int32(r);
        else if (word_is(key, "clip_value"))
            g->clip_value = read_double(r);
        else if (word_is(key, "clip_norm"))
            g->clip_norm = read_double(r);
        else if (word_is(key, "average"))
            g->average = read_double(r);
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

// What the train section calls.
static void read_called(Reader *r, const Op **op, Attr *attr, Pos *pos)
{
    *op = read_op(r, read_word(r));
    if (*op == NULL) return;
    read_attrs(r, *op, attr, NULL);
    read_pos(r, pos);
}

// The first word tells what the line is; one that is none of the words below
// is the name of a value.
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
        read_called(r, &r->g->optimizer, r->g->optimizer_attr,
                    &r->g->optimizer_pos);
    else if (word_is(word, "schedule"))
        read_called(r, &r->g->schedule, r->g->schedule_attr,
                    &r->g->schedule_pos);
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

// Every id that was named must have been declared.
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
                 .most_values = (int64_t)source->length };

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
