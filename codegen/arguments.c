// Prints a launch's template arguments and arguments as C++:
//
//     (conv_forward<conv_2_shape, GemmTile<128, 64, 8, 8>, relu, true, Normalized<64, relu>>)
//     a[conv_2], Normalized<64, relu>{a[conv_1], a[norm_1.mean], ...}, a[conv_2.weight], ...
//
// An operand that is computed on load (a prologue) is a struct of the runtime. It appears as a
// template argument and as a braced list of its own operands, which may be computed on load too.

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../ir/base/unique_names.h"
#include "emitter.h"

// ---- template arguments ----------------------------------------------------------

// Sets items to the template arguments of l, in order. Trailing arguments equal to their defaults
// are left out.
static int type_items(Emitter *e, const Launch *l, const char **items);

static const char *joined(Emitter *e, const char *const *items, int count)
{
    const char *text = "";
    for (int i = 0; i < count; i++)
        text = arena_print(e->arena, "%s%s%s", text, i ? ", " : "", items[i]);
    return text;
}

// Returns the C++ type of a source: Normalized<64, relu>, Momentum, or its alias if it has one.
static const char *source_type(Emitter *e, const Launch *source)
{
    const char *items[MAX_TEMPLATE + 1];
    int count = type_items(e, source, items);
    if (!count) return source->kernel;
    const char *text = joined(e, items, count);
    text = arena_print(e->arena, "%s<%s>", source->kernel, text);
    int32_t named = names_find(e->source_texts, text, strlen(text));
    return named == NONE ? text : e->sources[named];
}

// Prints an alias for a long type: using swish_1_load = Applied<swish, Normalized<32, identity>>; A
// source without members gets none: it is only part of another type, such as Columns<64,
// swish_1_load>. The alias of a struct that stores, such as NormalizedStore, ends in _store.
static void name_source(Emitter *e, const Launch *source)
{
    enum { SHORT = 32 };
    const char *text = source_type(e, source), *items[MAX_TEMPLATE + 1];
    if (strlen(text) <= SHORT || !strchr(text, '<') || source->arg_count == 0) return;
    int count = type_items(e, source, items);
    const char *use = strstr(source->kernel, "Store") ? "store" : "load";
    const char *name = arena_print(e->arena, "%s_%s", word_of(e, source->node->name), use);
    name = names_take(e->taken, name, e->source_count);
    names_take(e->source_texts, text, e->source_count);
    e->sources = arena_grow(e->arena, e->sources, &e->source_capacity,
                            (int64_t)e->source_count + 1, sizeof *e->sources);
    e->sources[e->source_count++] = name;
    write_list(&e->w, arena_print(e->arena, "using %s = %s<", name, source->kernel), items, count,
               ">;");
}

// Names nested types first, since the outer alias refers to them.
void name_sources(Emitter *e, const Launch *l)
{
    for (int i = 0; i < l->type_count; i++) {
        if (!l->type[i].source) continue;
        name_sources(e, l->type[i].source);
        name_source(e, l->type[i].source);
    }
}

static int type_items(Emitter *e, const Launch *l, const char **items)
{
    const char *shape = shape_name(e, l);
    int count = 0, types = l->type_count;
    while (types > 0 && (l->type[types - 1].text == plain_source ||
                         l->type[types - 1].text == plain_result))
        types--;
    if (shape) items[count++] = shape;
    for (int i = 0; i < types; i++)
        items[count++] = l->type[i].source ? source_type(e, l->type[i].source) : l->type[i].text;
    return count;
}

// Sets items to kernel, or to (kernel<conv1_shape, relu>), as one item of a list. If that exceeds
// the width, each template argument is an item of its own.
int kernel_items(Emitter *e, const char *head, const Launch *l, const char **items)
{
    int count = type_items(e, l, items);
    if (!count) {
        bool plain = l->type_count == 0 && !l->takes_last;
        items[0] = plain ? l->kernel : arena_print(e->arena, "%s<>", l->kernel);
        return 1;
    }
    items[0] = arena_print(e->arena, "(%s<%s", l->kernel, items[0]);
    items[count - 1] = arena_print(e->arena, "%s>)", items[count - 1]);
    const char *text = joined(e, items, count);
    int margin = e->w.indent + (int)strlen(head);
    if (margin + (int)strlen(text) + 1 > e->w.width) return count;
    items[0] = text;
    return 1;
}

// Prints the runtime's structs that a template argument names, if any: relu, GemmTile<64, 32, 4,
// 4>. Plain values such as 64 or true need none.
static void print_type(Emitter *e, const char *text)
{
    static const char *const between = "<>, *";
    while (*text) {
        int length = (int)strcspn(text, between);
        print_if_chunk(e, text, length);
        text += length;
        text += strspn(text, between);
    }
}

void print_types(Emitter *e, const Launch *l)
{
    for (int i = 0; i < l->type_count; i++) {
        if (!l->type[i].source) {
            print_type(e, l->type[i].text);
            continue;
        }
        print_chunk(e, l->type[i].source->kernel);
        print_types(e, l->type[i].source);
    }
    for (int i = 0; i < l->arg_count; i++)
        if (l->arg[i].kind == LAUNCH_LIST) print_chunk(e, "List");
}

// ---- arguments -------------------------------------------------------------------

void mark_arguments(const Launch *l, bool *named)
{
    for (int i = 0; i < l->arg_count; i++) {
        const LaunchArg *arg = &l->arg[i];
        if ((arg->kind == LAUNCH_VALUE || arg->kind == LAUNCH_PACKED) && arg->value != NONE) {
            ValueId scale = l->g->values[arg->value].scale;
            named[arg->value] = true;
            if (scale != NONE) named[scale] = true;
        }
        if (arg->kind == LAUNCH_SOURCE) mark_arguments(arg->source, named);
        for (int k = 0; arg->kind == LAUNCH_TENSOR_LIST && k < arg->items->count; k++)
            mark_arguments(arg->items->item[k], named);
    }
}

// Returns the shortest floating literal that reads back as f.
static const char *real_text(Emitter *e, double f)
{
    bool is_double = e->g->real == F64;
    if (!isfinite(f) || (!is_double && fabs(f) > FLT_MAX))
        bug("a launch with the argument %g", f);
    const char *text = "";
    for (int digits = 1; digits <= 17; digits++) {
        text = arena_print(e->arena, "%.*g", digits, f);
        double back = strtod(text, NULL);
        if (is_double ? back == f : (float)back == (float)f) break;
    }
    if (!strpbrk(text, ".e")) text = arena_print(e->arena, "%s.0", text);
    return is_double ? text : arena_print(e->arena, "%sf", text);
}

// List<3>{{0.5f, 1.0f, 2.0f}}
static const char *list_text(Emitter *e, const List *list)
{
    const char *text = arena_print(e->arena, "List<%d>{{", list->count);
    for (int i = 0; i < list->count; i++)
        text = arena_print(e->arena, "%s%s%s", text, i ? ", " : "",
                           real_text(e, list->at[i]));
    return arena_print(e->arena, "%s}}", text);
}

// a[x], Strided<real, 64, 128, 4>{a[x]} or Scaled<uint8_t *>{a[x], a[x_scale]}
static const char *array_text(Emitter *e, const Program *p, ValueId v)
{
    const Value *value = &p->g->values[v];
    const char *text = input_text(e, p, v);
    if (!text) text = arena_print(e->arena, "a[%s]", p->name[v]);
    if (p->plan->buffers[v].rows > 1)
        text = arena_print(e->arena, "Strided%s{%s}", slice_arguments(p->g, value), text);
    if (value->scale == NONE) return text;
    return arena_print(e->arena, "%s{%s, %sa[%s]}", scaled_type(p->g, value), text,
                       p->g->calibrates ? "(MapRange *)" : "", p->name[value->scale]);
}

// (const Pair *)a[x], or (const Quad *)a[x], or Strided<const Pair, 32, 64, 2>{(const Pair *)a[x]}
static const char *packed_text(Emitter *e, const Program *p, ValueId v)
{
    const char *given = input_text(e, p, v);
    const char *text = given ? arena_print(e->arena, "(%s *)(%s)", packed_name(p->g), given)
                             : arena_print(e->arena, "(%s *)a[%s]", packed_name(p->g), p->name[v]);
    if (p->plan->buffers[v].rows <= 1) return text;
    return arena_print(e->arena, "%s{%s}", packed_type(p->g, &p->g->values[v]), text);
}

static const char *argument(Emitter *e, const Program *p, const LaunchArg *arg)
{
    const char *text;
    switch (arg->kind) {
    case LAUNCH_VALUE:
        if (arg->value == NONE) return "nullptr";
        return array_text(e, p, arg->value);
    case LAUNCH_PACKED: return packed_text(e, p, arg->value);
    case LAUNCH_SAMPLES: return "samples";
    case LAUNCH_HEADER: return "header";
    case LAUNCH_REAL: text = real_text(e, arg->f); break;
    case LAUNCH_LIST: text = list_text(e, arg->list); break;
    default:
        text = arena_print(e->arena, "%" PRId64 "%s", arg->i,
                           llabs(arg->i) > INT32_MAX ? "ll" : "");
    }
    if (!arg->label) return text;
    return arena_print(e->arena, "/*%s*/ %s", arg->label, text);
}

// Sets items to the operands of a source: its type and a brace precede the first; a brace follows
// the last.
static int source_items(Emitter *e, const Program *p, const Launch *source, const char **items)
{
    int count = argument_items(e, p, source, items);
    if (!count) items[count++] = "";
    items[0] = arena_print(e->arena, "%s{%s", source_type(e, source), items[0]);
    items[count - 1] = arena_print(e->arena, "%s}", items[count - 1]);
    return count;
}

// TensorList<SgdMoved, 2>{{{a[v], a[m], 64}, {a[w], a[n], 5}}, {0, 1}}
static int array_items(Emitter *e, const Program *p, const TensorList *arrays, const char **items)
{
    int count = 0, n = arrays->count;
    int64_t first = 0;
    for (int k = 0; k < n; k++) {
        int begin = count;
        count += argument_items(e, p, arrays->item[k], &items[count]);
        items[begin] = arena_print(e->arena, "{%s", items[begin]);
        items[count - 1] = arena_print(e->arena, "%s}%s", items[count - 1], k + 1 < n ? "" : "}");
    }
    items[0] = arena_print(e->arena, "TensorList<%s, %d>{{%s", source_type(e, arrays->item[0]), n,
                           items[0]);
    for (int k = 0; k < n; first += arrays->blocks[k++])
        items[count++] = arena_print(e->arena, "%s%" PRId64 "%s", k ? "" : "{", first,
                                     k + 1 < n ? "" : "}}");
    return count;
}

int argument_items(Emitter *e, const Program *p, const Launch *l, const char **items)
{
    int count = 0;
    for (int i = 0; i < l->arg_count; i++)
        if (l->arg[i].kind == LAUNCH_SOURCE)
            count += source_items(e, p, l->arg[i].source, &items[count]);
        else if (l->arg[i].kind == LAUNCH_TENSOR_LIST)
            count += array_items(e, p, l->arg[i].items, &items[count]);
        else
            items[count++] = argument(e, p, &l->arg[i]);
    return count;
}
