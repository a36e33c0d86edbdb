// Reads values of a graph's text: a type, marks and fields.
#include <ctype.h>
#include "../base/unique_names.h"
#include "read.h"

ValueId read_reference(Reader *r)
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

// Reads f32[64, 28, 28, 32].
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

// Reads a field after its word and "=".
static bool read_value_field(Reader *r, Value *value, Word key)
{
    int init = word_place(key, init_names, INIT_COUNT);

    if (init != NONE) {
        value->init = (Init){ (InitKind)init, read_double(r) };
    } else if (word_is(key, "rate_factor")) {
        value->rate_factor = read_double(r);
    } else if (word_is(key, "classes")) {
        value->classes = read_int(r);
    } else if (word_is(key, "output")) {
        value->output = true;
        value->output_number = read_int32(r);
    } else if (word_is(key, "of")) {
        *(value->kind == STATE ? &value->state_of : &value->gradient_of) =
            read_reference(r);
    } else if (word_is(key, "scale_u8") || word_is(key, "scale_i8")) {
        value->integer = word_is(key, "scale_u8") ? U8 : I8;
        value->scale = read_reference(r);
    } else if (word_is(key, "recompute_of")) {
        value->recompute_of = read_reference(r);
    } else if (word_is(key, "over") || word_is(key, "view")) {
        value->view = word_is(key, "view");
        value->alias_of = read_reference(r);
    } else if (word_is(key, "start")) {
        value->start = read_int(r);
    } else if (word_is(key, "view_rows")) {
        value->view_rows = read_int(r);
    } else if (word_is(key, "view_stride")) {
        value->view_stride = read_int(r);
    } else if (word_is(key, "offset") || word_is(key, "near")) {
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

// Reads a single word: a kind or a mark.
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
    else if (word_is(word, "frozen"))
        value->frozen = true;
    else if (word_is(word, "marked"))
        value->marked = true;
    else if (word_is(word, "keep_f32"))
        value->keep_f32 = true;
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

// Grows the array to hold value id; new entries have no name yet.
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

ValueId read_value(Reader *r)
{
    Graph *g = r->g;
    int64_t id = accept_char(r, '%') ? read_int(r) : NONE;
    Word word = read_word(r);
    ValueId taken = names_find(g->value_names, word.text, (size_t)word.length);
    bool is_header = taken == g->header && (id == NONE || id == taken);
    Value value = plain_value(ACTIVATION);

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
    note_place(r, &r->places->value, &r->places->value_capacity, (int32_t)id);
    return (ValueId)id;
}
