// Arguments of a call, by each entry of the operator's list: its type, its
// range, its default.  The shape rule decides which arguments fit the operands;
// draws lean to small numbers and to the operands' own dimensions, for those
// fit often.
#include "net.h"

#include <math.h>
#include <string.h>

// ---- numbers ----------------------------------------------------------------

// A range of 0 to 0 is none.
static double low_of(const ArgSpec *spec)
{
    return spec->low == 0 && spec->high == 0 ? -4 : spec->low;
}

static double high_of(const ArgSpec *spec)
{
    return spec->low == 0 && spec->high == 0 ? 4 : spec->high;
}

int64_t round_dim(Net *n, int64_t dim)
{
    int64_t power = 1;
    if (!n->exact || dim < 1 || draw_chance(&n->draw, 0.2)) return dim;
    while (2 * power <= dim) power *= 2;
    return power;
}

static int64_t draw_whole(Net *n, const ArgSpec *spec, Shape x, int64_t most)
{
    int64_t low = (int64_t)low_of(spec), high = low + most;

    if ((double)high > high_of(spec)) high = (int64_t)high_of(spec);
    if (x.rank > 0 && draw_chance(&n->draw, 0.25)) {
        int64_t dim = x.dim[draw_int(&n->draw, 0, x.rank - 1)];
        if ((double)dim >= low_of(spec) && (double)dim <= high_of(spec))
            return dim;
    }
    int64_t drawn = round_dim(n, draw_small(&n->draw, low, high));
    return drawn < low ? low : drawn;
}

// In the integer mode a power of two, or 0.
static double draw_power(Net *n, double low, double high)
{
    static const double powers[] = { 0, 0.25, 0.5, 1, 2 };
    for (int tries = 0; tries < 20; tries++) {
        double f = powers[draw_int(&n->draw, 0, 4)];
        if (f < 0 || (low < 0 && draw_chance(&n->draw, 0.5))) f = -f;
        if (f >= low && f <= high) return f;
    }
    return low;
}

// Around its default; where that is nothing or 0, by the range: parts
// of 1, small positive numbers, numbers around 0.
static double draw_float(Net *n, const ArgSpec *spec)
{
    double low = low_of(spec), high = high_of(spec), usual = 0, f;
    Draw *d = &n->draw;

    if (n->exact) return draw_power(n, low, high);
    if (spec->fallback != NULL) sscanf(spec->fallback, "%lf", &usual);
    // Never 0 where it is not: a division by such a number is rounding alone.
    // A bound that keeps a divisor from 0 avoids rounding only where it is
    // large.
    if (usual != 0 && usual < 1e-6)
        f = usual * exp2(draw_real(d, 4, 14));
    else if (usual != 0 && (high > 1 || draw_chance(d, 0.7)))
        f = usual * exp2(draw_real(d, -2, 2));
    else if (high <= 1 && low >= 0)
        f = draw_chance(d, 0.1) ? low : draw_real(d, low, high);
    else if (low < 0)
        f = draw_real(d, low < -2 ? -2 : low, high > 2 ? 2 : high);
    else if (spec->fallback == NULL || low > 0)
        f = exp2(draw_real(d, -7, 0));
    else
        f = draw_chance(d, 0.2) ? low : draw_real(d, 0, 2);
    return f < low ? low : f > high ? high : f;
}

// ---- text of each type ------------------------------------------------------

static const char *int_text(Net *n, const ArgSpec *spec, Shape x)
{
    return arena_print(n->arena, "%lld",
                       (long long)draw_whole(n, spec, x, n->channels));
}

static const char *float_text(Net *n, const ArgSpec *spec, Shape x)
{
    (void)x;
    return arena_print(n->arena, "%.6g", draw_float(n, spec));
}

static const char *bool_text(Net *n, const ArgSpec *spec, Shape x)
{
    (void)spec, (void)x;
    return draw_chance(&n->draw, 0.5) ? "true" : "false";
}

static const char *dims_text(Net *n, const ArgSpec *spec, Shape x)
{
    Shape none = { .rank = 0 };
    long long h = draw_whole(n, spec, x.rank == 3 ? x : none, 4);
    long long w = draw_whole(n, spec, none, 4);
    return draw_chance(&n->draw, 0.5)
        ? arena_print(n->arena, "%lld", w)
        : arena_print(n->arena, "%lldx%lld", h, w);
}

static const char *padding_text(Net *n, const ArgSpec *spec, Shape x)
{
    static const char *const words[] = { "same", "valid" };
    const char *text = "";
    int which = (int)draw_int(&n->draw, 0, 4);

    (void)x;
    if (which < 2) return words[which];
    for (int i = 0; i < 1 << (which - 2); i++)
        text = arena_print(n->arena, "%s%s%lld", text, i > 0 ? "x" : "",
                           (long long)draw_small(&n->draw, (int64_t)spec->low,
                                                 (int64_t)spec->low + 3));
    return text;
}

static const char *word_text(Net *n, const ArgSpec *spec, Shape x)
{
    const char *word = spec->fallback;
    int count = 1;

    (void)x;
    for (const char *c = word; *c != '\0'; c++) count += *c == '|';
    for (int64_t skip = draw_int(&n->draw, 0, count - 1); skip > 0; skip--)
        word = strchr(word, '|') + 1;
    return arena_copy(n->arena, word, strcspn(word, "|"));
}

static const char *init_text(Net *n, const ArgSpec *spec, Shape x)
{
    return draw_chance(&n->draw, 0.3)
        ? arena_print(n->arena, "%.6g", draw_real(&n->draw, -1, 1))
        : word_text(n, spec, x);
}

// A class of x's channels, or a label that is none, of any sign.
static const char *label_text(Net *n, const ArgSpec *spec, Shape x)
{
    static const int64_t others[] = { 255, -1, -100 };
    int64_t most = x.rank > 0 ? x.dim[x.rank - 1] - 1 : 0;
    if (draw_chance(&n->draw, 0.3)) return spec->fallback;
    return arena_print(n->arena, "%lld", (long long)(
        draw_chance(&n->draw, 0.7) ? draw_int(&n->draw, 0, most)
                                   : others[draw_int(&n->draw, 0, 2)]));
}

// The elements of x as a product of that many factors.
static const char *factors_text(Net *n, Shape x)
{
    int64_t left = elements(x);
    const char *text = "[";
    for (int64_t more = draw_int(&n->draw, 0, 3); more > 0; more--) {
        int64_t factor = draw_int(&n->draw, 1, left);
        while (left % factor != 0) factor--;
        text = arena_print(n->arena, "%s%lld, ", text, (long long)factor);
        left /= factor;
    }
    return arena_print(n->arena, "%s%lld]", text, (long long)left);
}

// Numbers of the range, as many as x has channels or a few; or factors of x's
// elements, where the range is of whole numbers.
static const char *list_text(Net *n, const ArgSpec *spec, Shape x)
{
    bool whole = spec->low >= 1 && spec->low == floor(spec->low);
    int64_t count = draw_chance(&n->draw, 0.6) && x.rank > 0
        ? x.dim[x.rank - 1] : draw_int(&n->draw, 1, 4);
    const char *text = "[";

    if (whole && x.rank > 0 && draw_chance(&n->draw, 0.5))
        return factors_text(n, x);
    for (int64_t i = 0; i < count; i++) {
        double f = whole ? (double)draw_whole(n, spec, x, 3)
                         : draw_float(n, spec);
        text = arena_print(n->arena, "%s%s%.6g", text, i > 0 ? ", " : "", f);
    }
    return arena_print(n->arena, "%s]", text);
}

// ---- the call's -------------------------------------------------------------

static const char *argument_text(Net *n, const ArgSpec *spec, Shape x)
{
    static const char *(*const text[])(Net *, const ArgSpec *, Shape) = {
        int_text, float_text, bool_text, dims_text, padding_text, word_text,
        list_text, init_text, label_text,
    };
    return text[spec->type](n, spec, x);
}

// A word as it is; of numbers how many: n, nxn, nxnxnxn.
static const char *form_of(Net *n, const char *text)
{
    const char *form = "n";

    if (text[0] >= 'a') return text;
    for (; *text != '\0'; text++)
        if (*text == 'x') form = arena_print(n->arena, "%sxn", form);
    return form;
}

const char *forms_of(const ArgSpec *spec)
{
    switch (spec->type) {
    case ARG_BOOL: return "true|false";
    case ARG_DIMS: return "n|nxn";
    // Words are for padding that may be left out: required ones are numbers.
    case ARG_PADDING:
        return spec->fallback != NULL ? "same|valid|n|nxn|nxnxnxn"
                                      : "n|nxn|nxnxnxn";
    case ARG_WORD: case ARG_INIT: case ARG_LABEL: return spec->fallback;
    default: return NULL;
    }
}

// The units of coverage: an argument, and each of its forms.
static void add_argument(Net *n, const Op *op, const ArgSpec *spec,
                         const char *text)
{
    bool has_forms = forms_of(spec) != NULL;
    add_drawn(n, arena_print(n->arena, has_forms ? "%s.%s=%s" : "%s.%s",
                             op->name, spec->name, form_of(n, text)));
}

const char *draw_arguments(Net *n, const Op *op, Shape x, const char *given)
{
    const char *all = "";
    bool in_order = true;       // so that its name may be left out

    for (const ArgSpec *spec = op->args; spec != NULL && spec->name != NULL;
         spec++) {
        if (given != NULL) {
            all = arena_print(n->arena, ", %s", given);
            add_argument(n, op, spec, given);
            given = NULL;
            continue;
        }
        if (spec->fallback != NULL && draw_chance(&n->draw, 0.5)) {
            in_order = false;
            continue;
        }
        const char *text = argument_text(n, spec, x);
        in_order = in_order && draw_chance(&n->draw, 0.7);
        all = in_order ? arena_print(n->arena, "%s, %s", all, text)
                       : arena_print(n->arena, "%s, %s = %s", all, spec->name,
                                     text);
        add_argument(n, op, spec, text);
    }
    return all;
}
