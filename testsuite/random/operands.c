// Operands of a call.  The first is a value of the pool, or a new input. The
// shapes of the others match in one of the ways that operands permit. They are
// the same, with 1 along some axes, a label of as many classes as it has
// channels, or any other value.  The operator's shape rule refuses operands
// that do not fit. Where that would be too rare, the operator proposes shapes
// (Op.fits).
#include "net.h"

#include <stdlib.h>
#include <string.h>
#include "../../frontend/resolve.h"

// ---- new inputs -------------------------------------------------------------

static const Pooled *new_input(Net *n, const char *type, Shape shape,
                               int64_t classes)
{
    Pooled *p = &n->pool[n->pool_count++];
    const char *dims = "";

    *p = (Pooled){ .name = arena_print(n->arena, "x%d", ++n->input_number),
                   .shape = shape, .classes = classes, .is_input = true,
                   .dtype = classes > 0 ? I32 : type[0] == 'u' ? U8 : F64 };
    for (int i = 0; i < shape.rank; i++)
        dims = arena_print(n->arena, "%s%s%lld", dims, i > 0 ? ", " : "",
                           (long long)shape.dim[i]);
    if (classes > 0)
        dims = arena_print(n->arena, "%s%s%lld", dims,
                           shape.rank > 0 ? ", " : "", (long long)classes);
    add_line(&n->inputs, arena_print(n->arena, "input %s : %s[%s]", p->name,
                                     type, dims));
    add_drawn(n, arena_print(n->arena, "input.%s", type));
    return p;
}

static int64_t draw_side(Net *n)
{
    return draw_chance(&n->draw, 0.5) ? n->side
                                      : draw_small(&n->draw, 1, 2 * n->side);
}

// Mostly a map.
static const Pooled *any_input(Net *n)
{
    Shape shape = { .rank = (int)draw_int(&n->draw, 1, 2) };
    if (draw_chance(&n->draw, 0.75)) shape.rank = 3;
    for (int i = 0; i < shape.rank; i++)
        shape.dim[i] = i < 2 && shape.rank == 3
            ? draw_side(n) : draw_chance(&n->draw, 0.6)
            ? n->channels : draw_small(&n->draw, 1, n->channels);
    for (int i = 0; i < shape.rank; i++)
        shape.dim[i] = round_dim(n, shape.dim[i]);
    return new_input(n, draw_chance(&n->draw, 0.25) ? "u8" : "f32", shape, 0);
}

// ---- from the pool ----------------------------------------------------------

// The last ones, and those that nothing uses, come more often.
Pooled *draw_pooled(Net *n)
{
    int total = 0, weight[MOST_LINES];

    for (int i = 0; i < n->pool_count; i++) {
        const Pooled *p = &n->pool[i];
        weight[i] = p->classes > 0 ? 0 : p->is_input ? 1 : p->uses > 0 ? 2 : 6;
        if (i + 2 >= n->pool_count) weight[i] *= 3;
        total += weight[i];
    }
    int64_t at = draw_int(&n->draw, 0, total - 1);
    for (int i = 0; i < n->pool_count && total > 0; i++)
        if ((at -= weight[i]) < 0) return &n->pool[i];
    return NULL;
}

// One whose shape is that, seldom `but` itself; or NULL.
static const Pooled *same_in_pool(Net *n, Shape shape, int64_t classes,
                                  const Pooled *but)
{
    const Pooled *found = NULL;
    int count = 0;

    for (int i = 0; i < n->pool_count; i++) {
        const Pooled *p = &n->pool[i];
        if (same_shape(p->shape, shape) && p->classes == classes &&
            (p != but || draw_chance(&n->draw, 0.05)) &&
            draw_int(&n->draw, 0, count++) == 0)
            found = p;
    }
    return found;
}

static const Pooled *like(Net *n, Shape shape, int64_t classes,
                          const Pooled *but)
{
    const Pooled *p = same_in_pool(n, shape, classes, but);
    if (p != NULL && draw_chance(&n->draw, 0.8)) return p;
    return new_input(n, classes > 0 ? "class" : "f32", shape, classes);
}

static const Pooled *operand_beside(Net *n, const Pooled *first)
{
    Shape shape = first->shape;
    int64_t classes = 0;

    switch (draw_int(&n->draw, 0, 3)) {
    case 0:                     // with 1 along some axes
        for (int i = 0; i < shape.rank; i++)
            if (draw_chance(&n->draw, 0.5)) shape.dim[i] = 1;
        break;
    case 1:                     // a label; of a shape not known yet, none
        if (shape.rank > 0) classes = shape.dim[--shape.rank];
        break;
    case 2:
        if (draw_chance(&n->draw, 0.5)) return draw_pooled(n);
    }
    return like(n, shape, classes, first);
}

// ---- the operator's proposal
// -------------------------------------------------

// A dimension of Op.fits: a number, or a letter that stands for one everywhere.
static int64_t dim_of(Net *n, const char *word, int64_t letter[128])
{
    if (*word >= '0' && *word <= '9') return strtoll(word, NULL, 10);
    int64_t *dim = &letter[*word & 127];
    if (*dim == 0) *dim = draw_small(&n->draw, 1, 2 * n->channels);
    return *dim;
}

// A new input seldom goes directly to its reader: through any layer of one
// operand.  That its shape stays is for the shape rules to find.
static const Pooled *through_layer(Net *n, const Pooled *input)
{
    const Op *op = draw_op(n, LAYER);

    if (op->fits != NULL) return input;
    if (strpbrk(op->operands, " *") != NULL &&
        strchr(op->operands, '[') == NULL)
        return input;
    const char *call = draw_call(n, op, input);
    Pooled *p = &n->pool[n->pool_count++];
    *p = (Pooled){ .name = arena_print(n->arena, "v%d", ++n->value_number),
                   .shape = input->shape, .dtype = F64,
                   .from = n->first_operand };
    add_line(&n->body, arena_print(n->arena, "%s = %s", p->name, call));
    return p;
}

// One of the ways in which op.fits has it, and the argument that goes with it.
static const char *draw_fits(Net *n, const Op *op, const char **argument)
{
    const char *fits = op->fits;
    int count = 1;

    if (fits == NULL) return NULL;
    for (const char *c = fits; *c != '\0'; c++) count += *c == '|';
    for (int64_t skip = draw_int(&n->draw, 0, count - 1); skip > 0; skip--)
        fits = strchr(fits, '|') + 1;
    fits += strspn(fits, " ");
    size_t length = strcspn(fits, "|"), shapes = strcspn(fits, ";|");
    if (shapes < length)
        *argument = arena_copy(n->arena, fits + shapes + 2,
                               length - shapes - 2);
    return arena_copy(n->arena, fits, shapes);
}

// The next operand of fits, "a 4, b:c": a value of a x 4, a label class[b, c].
static const Pooled *fitting(Net *n, const char **fits, int64_t letter[128])
{
    Shape shape = { .rank = 0 };
    int64_t classes = 0;
    const char *c = *fits;
    bool as_input = *c == '!';

    c += as_input;
    while (*c != '\0' && *c != ',' && *c != ';') {
        bool is_classes = *c == ':';
        c += strspn(c, " :");
        int64_t dim = dim_of(n, c, letter);
        if (is_classes) classes = dim;
        else shape.dim[shape.rank++] = dim;
        c += strcspn(c, " :,;");
        if (*c == ' ') c++;
    }
    *fits = c + strspn(c, ", ");
    if (as_input) return new_input(n, "f32", shape, 0);
    const Pooled *p = like(n, shape, classes, NULL);
    return p->is_input && classes == 0 && draw_chance(&n->draw, 0.6)
        ? through_layer(n, p) : p;
}

// ---- the call ---------------------------------------------------------------

typedef struct Operands {
    const Pooled *at[MAX_SLOTS];
    int           count;
    const char   *argument;     // that goes with them, or NULL
} Operands;

// How many operands a call of op has: those not in brackets; operators of the
// train section have none.
static int draw_count(Net *n, const Op *op)
{
    int count = 0;

    if (op->flags & (OPTIMIZER | SCHEDULE)) return 0;
    for (const char *c = op->operands; *c != '\0';) {
        size_t length = strcspn(c, " ");
        bool optional = memchr(c, '?', length) != NULL;
        if (*c != '[' && (!optional || draw_chance(&n->draw, 0.5)))
            count += memchr(c, '*', length) != NULL
                ? (int)draw_int(&n->draw, 1, 4) : 1;
        c += length + strspn(c + length, " ");
    }
    return count;
}

static Operands draw_operands(Net *n, const Op *op, const Pooled *first)
{
    Operands o = { .count = draw_count(n, op) };
    int64_t letter[128] = { 0 };
    const char *fits = draw_fits(n, op, &o.argument);

    for (int k = 0; k < o.count; k++) {
        if (fits != NULL) o.at[k] = fitting(n, &fits, letter);
        else if (k > 0) o.at[k] = operand_beside(n, o.at[0]);
        else if (first != NULL) o.at[k] = first;
        else o.at[k] = draw_chance(&n->draw, 0.2) ? NULL : draw_pooled(n);
        if (o.at[k] == NULL) o.at[k] = any_input(n);
    }
    // Which is first matters where they are not alike.
    if (o.count == 2 && fits == NULL && op->flags & LAYER &&
        draw_chance(&n->draw, 0.5)) {
        const Pooled *swap = o.at[0];
        o.at[0] = o.at[1];
        o.at[1] = swap;
    }
    return o;
}

// An earlier call of op whose weights a further call is to share, or NULL; sets
// *first to an operand of as many channels.
static const Named *earlier_call(Net *n, const Op *op, const Pooled **first)
{
    int64_t at = draw_int(&n->draw, 0, 2 * MOST_LINES);
    for (int i = 0; i < n->named_count; i++) {
        const Named *named = &n->named[(at + i) % n->named_count];
        Shape x = named->x;
        for (int k = 0; k < n->pool_count && named->op == op; k++) {
            const Pooled *p = &n->pool[(at + k) % n->pool_count];
            if (p->shape.rank != x.rank || p->dtype != F64 || p->classes > 0 ||
                p->shape.dim[x.rank - 1] != x.dim[x.rank - 1])
                continue;
            *first = p;
            return named;
        }
    }
    return NULL;
}

// Arguments of a call with parameters, which now and then have a name.
static const char *draw_naming(Net *n, const Op *op, Shape x)
{
    const char *arguments = draw_arguments(n, op, x, NULL);
    if (n->named_count == MOST_LINES || draw_chance(&n->draw, 0.6))
        return arguments;
    arguments = arena_print(n->arena, "%s, weights = \"s%d\"", arguments,
                            n->named_count + 1);
    n->named[n->named_count++] = (Named){ op, x, arguments };
    return arguments;
}

const char *draw_call(Net *n, const Op *op, const Pooled *first)
{
    bool made = makes_params(op);
    const Named *named = made && draw_chance(&n->draw, 0.4)
        ? earlier_call(n, op, &first) : NULL;
    Operands o = draw_operands(n, op, first);
    const char *text = arena_print(n->arena, "%s(", op->name);
    Shape x = { .rank = 0 };

    if (o.count > 0) x = o.at[0]->shape;
    if (o.count > 0) n->first_operand = (int)(o.at[0] - n->pool);
    for (int k = 0; k < o.count; k++) {
        n->pool[o.at[k] - n->pool].uses++;
        text = arena_print(n->arena, op->flags & POSITIVE ? "%s%s%s * %s + 0.5"
                           : "%s%s%s", text, k > 0 ? ", " : "",
                           o.at[k]->name, o.at[k]->name);
    }
    const char *arguments = named != NULL ? named->arguments
        : made ? draw_naming(n, op, x)
               : draw_arguments(n, op, x, o.argument);
    if (named != NULL)
        add_drawn(n, arena_print(n->arena, "%s.weights", op->name));
    if (o.count == 0 && *arguments != '\0') arguments += 2;
    add_drawn(n, op->name);
    return arena_print(n->arena, "%s%s)", text, arguments);
}
