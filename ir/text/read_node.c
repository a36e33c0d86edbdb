// Reads nodes of a graph's text: the part of an operator, operands, results,
// and attributes, each within its range.
#include <ctype.h>
#include <string.h>
#include "../base/unique_names.h"
#include "read.h"

enum { MOST_SLOTS = 64 };

// Returns the operator; NULL, with an error, if there is none.
static const Op *read_op(Reader *r, Word word)
{
    const Op *op = find_op(word.text, (size_t)word.length);
    if (op == NULL && !r->failed)
        read_fail(r, arena_print(r->arena, "there is no operator \"%s\"",
                                 word_text(r, word)));
    return op;
}

// Reads conv or conv.dgrad.
static const Op *read_kernel(Reader *r, int *kernel)
{
    Word word = read_word(r), name = { .text = "" };
    const char *dot = memchr(word.text, '.', (size_t)word.length);
    if (dot != NULL) {
        name = (Word){ dot + 1, word.length - (int)(dot + 1 - word.text) };
        word.length = (int)(dot - word.text);
    }
    const Op *op = read_op(r, word);
    if (op == NULL) return NULL;
    for (*kernel = 0; op->kernels[*kernel].results != NULL; ++*kernel)
        if (word_is(name, op->kernels[*kernel].name)) return op;
    read_fail(r, arena_print(r->arena, "%s has no such kernel", op->name));
    return NULL;
}

// Reads [1, 0.5, 2].
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

// Gets the range of an attribute: its own, or its argument's.
static void attr_range(const Op *op, const AttrSpec *spec, double *low,
                       double *high)
{
    *low = spec->low;
    *high = spec->high;
    if (*low != 0 || *high != 0) return;
    for (const ArgSpec *arg = op->args; arg && arg->name; arg++) {
        *low = arg->low;
        *high = arg->high;
        if (strcmp(arg->name, spec->name) == 0) return;
    }
    bug("%s: no argument is called %s", op->name, spec->name);
}

// True if an attribute's number is within its range; reports an error
// otherwise.
static bool check_attr(Reader *r, const Op *op, const AttrSpec *spec,
                       double number)
{
    double low, high;
    attr_range(op, spec, &low, &high);
    if (number >= low && number <= high) return true;
    return read_fail(r, arena_print(r->arena, "%s of %s is from %.15g to "
                                    "%.15g, not %.15g", spec->name, op->name,
                                    low, high, number));
}

static void read_attr(Reader *r, const AttrSpec *spec, Attr *attr)
{
    if (spec->type == ATTR_LIST)
        attr->list = read_list(r);
    else if (spec->type == ATTR_FLOAT)
        attr->f = read_double(r);
    else
        attr->i = read_int(r);
}

static void check_list(Reader *r, const Op *op, const AttrSpec *spec,
                       const List *list)
{
    for (int k = 0; list != NULL && k < list->count && !r->failed; k++)
        check_attr(r, op, spec, list->at[k]);
}

// Checks absent attributes too, which are 0: if 0 is not allowed, they are
// missing.
static void check_attrs(Reader *r, const Op *op, const Attr *attr)
{
    const AttrSpec *spec = op->attrs;
    for (int i = 0; spec != NULL && spec[i].name != NULL && !r->failed; i++)
        if (spec[i].type == ATTR_FLOAT)
            check_attr(r, op, &spec[i], attr[i].f);
        else if (spec[i].type == ATTR_INT)
            check_attr(r, op, &spec[i], (double)attr[i].i);
        else
            check_list(r, op, &spec[i], attr[i].list);
}

// Reads attributes, act=, and the words for a node's flags.  n is NULL if only
// attributes are allowed.
static void read_attrs(Reader *r, const Op *op, Attr *attr, Node *n)
{
    if (op == NULL) return;     // after an error
    while (!r->failed && isalpha((unsigned char)peek_char(r))) {
        Word key = read_word(r);
        const AttrSpec *spec = op->attrs;
        if (n != NULL && word_is(key, "fused_load")) {
            n->fused_load = true;
            continue;
        }
        if (n != NULL && word_is(key, "stored")) {
            n->stored = true;
            continue;
        }
        if (n != NULL && word_is(key, "in_place")) {
            n->in_place = true;
            continue;
        }
        if (n != NULL && word_is(key, "grouped")) {
            n->grouped = true;
            continue;
        }
        if (!expect_char(r, '=')) return;
        if (n != NULL && word_is(key, "act")) {
            n->act = read_op(r, read_word(r));
            continue;
        }
        while (spec != NULL && spec->name != NULL && !word_is(key, spec->name))
            spec++;
        if (spec == NULL || spec->name == NULL)
            read_fail(r, arena_print(r->arena, "%s has no attribute %s",
                                     op->name, word_text(r, key)));
        else
            read_attr(r, spec, &attr[spec - op->attrs]);
    }
    check_attrs(r, op, attr);
}

// Reads results up to "="; none if the operator's call comes first.
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

// Reads (a, %3, -); the verifier checks their number.
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

void read_node(Reader *r, Phase phase)
{
    Graph *g = r->g;
    ValueId operands[MOST_SLOTS], results[MOST_SLOTS];
    int kernel = 0;

    Word name = read_word(r);
    expect_char(r, ':');
    int result_count = r->failed ? 0 : read_results(r, results);
    const Op *op = r->failed ? NULL : read_kernel(r, &kernel);
    int operand_count = op != NULL ? read_operands(r, operands) : 0;
    if (r->failed) return;
    if (names_find(g->node_names, name.text, (size_t)name.length) != NONE) {
        read_fail(r, "two nodes have this name");
        return;
    }
    NodeId id = graph_node(g, op, kernel, phase, word_text(r, name),
                           (Pos){ .file = NONE }, operand_count, operands,
                           result_count, results);
    Node *n = &g->nodes[id];
    note_place(r, &r->places->node, &r->places->node_capacity, id);
    read_attrs(r, op, n->attr, n);
    read_pos(r, &n->pos);
    // The position of a result is its node's by default.
    for (int k = 0; k < result_count; k++)
        if (results[k] != NONE && g->values[results[k]].pos.line == 0)
            g->values[results[k]].pos = n->pos;
}

void read_called(Reader *r, const Op **op, Attr *attr, Pos *pos)
{
    *op = read_op(r, read_word(r));
    if (*op == NULL) return;
    read_attrs(r, *op, attr, NULL);
    read_pos(r, pos);
}
