// Precision, recall and F1: class_ratio.h.
#include "class_ratio.h"
#include <string.h>
#include "../op/op_checks.h"

enum { MACRO, MICRO, BINARY, AVERAGES };
enum { RIGHT, PREDICTED, LABELLED, NUMBERS };   // counts of a class

static const char *const words[] = { "macro", "micro", "binary" };
static const char *const types[] = { "MacroMean", "MicroMean", "BinaryMean" };

const ArgSpec ratio_args[] = {
    IGNORE_ARG,
    { "average", ARG_WORD, "macro|micro|binary", 0, 0,
      "over classes: the mean of those that occur; all pixels together; or "
      "class 1 of two alone" },
    { .name = NULL },
};
const AttrSpec ratio_attrs[] = {
    IGNORE_ATTR, { "average", ATTR_INT, 0, AVERAGES - 1 }, { .name = NULL },
};

ValueId build_ratio(Build *b)
{
    Graph *g = b->g;
    const Shape *scores = &g->values[b->operand[CLASS_LOGITS]].shape;
    int average = MACRO;
    while (strcmp(b->arg[RATIO_AVERAGE].word, words[average])) average++;
    int64_t classes = scores->rank > 0 ? scores->dim[scores->rank - 1] : 0;
    if (average == BINARY && classes != 2) {
        error(g->diag, b->arg[RATIO_AVERAGE].pos, "average = binary takes "
              "scores of 2 classes, and these are %s",
              operand_text(b, CLASS_LOGITS));
        return NONE;
    }
    Attr attr[MAX_ATTRS] = {
        [RATIO_IGNORE] = { .i = b->arg[RATIO_IGNORE].i },
        [RATIO_AVERAGE] = { .i = average },
    };
    return build_predicted(b, NUMBERS, attr);
}

// ---- rows -------------------------------------------------------------------

void launch_ratio_rows(const Graph *g, const Node *n, Launch *l)
{
    launch_class_rows(g, n, l,
                      arena_print(g->arena, "%s<%s>",
                                  types[n->attr[RATIO_AVERAGE].i],
                                  n->op->functor));
}

static void add(const Node *n, int64_t c, Quotient q, bool occurs,
                ClassMean *mean)
{
    int64_t average = n->attr[RATIO_AVERAGE].i;
    if (average == MICRO) {
        mean->sum += q.part;
        mean->weight += q.whole;
    } else if (average == BINARY ? c == 1 : occurs) {
        mean->sum += q.whole > 0 ? q.part / q.whole : 0;
        mean->weight++;
    }
}

typedef struct RatioOf { ClassQuotient *quotient; } RatioOf;

static void add_class(const Node *n, int64_t c, const double *count,
                      int64_t classes, ClassMean *mean, const void *context)
{
    const RatioOf *of = context;
    ClassPixels pixels = { count[RIGHT * classes], count[PREDICTED * classes],
                           count[LABELLED * classes] };
    add(n, c, of->quotient(pixels), pixels.predicted + pixels.labelled > 0,
        mean);
}

void ratio_rows_reference(const Ref *r, ClassQuotient *quotient)
{
    class_rows_reference(r, add_class, &(RatioOf){ quotient });
}

// ---- count ------------------------------------------------------------------

void launch_ratio_count(const Graph *g, const Node *n, Launch *l)
{
    launch_predicted(g, n, l, n->attr[RATIO_IGNORE].i, "ClassPixels");
}

static void count_pixel(double *count, int64_t classes, int64_t predicted,
                        int64_t labelled)
{
    count[RIGHT * classes + labelled] += predicted == labelled;
    count[PREDICTED * classes + predicted]++;
    count[LABELLED * classes + labelled]++;
}

void ratio_count_reference(const Ref *r)
{
    predicted_reference(r, r->n->attr[RATIO_IGNORE].i, count_pixel);
}
