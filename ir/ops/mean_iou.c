// mean_iou: a metric of labels per pixel.  It is the mean, over the classes
// that occur, of the intersection over union of predicted and labelled pixels
// (../families/class_counts.h).
#include "../families/class_counts.h"
#include "../op/op_row.h"
#include "../op/op_checks.h"

enum { IGNORE };
enum { RIGHT, EITHER, NUMBERS };        // counts of a class

static const ArgSpec args[] = { IGNORE_ARG, { .name = NULL } };
static const AttrSpec attrs[] = {
    IGNORE_ATTR, { .name = NULL },
};

static ValueId build(Build *b)
{
    Attr attr[MAX_ATTRS] = { { .i = b->arg[IGNORE].i } };
    return build_predicted(b, NUMBERS, attr);
}

static void launch(const Graph *g, const Node *n, Launch *l)
{
    launch_class_rows(g, n, l, "Overlap");
}

static void add(const Node *n, int64_t c, const double *count, int64_t classes,
                ClassMean *mean, const void *context)
{
    (void)n, (void)c, (void)context;
    double either = count[EITHER * classes];
    if (either == 0) return;
    mean->sum += count[RIGHT * classes] / either;
    mean->weight++;
}

static void reference(const Ref *r)
{
    class_rows_reference(r, add, NULL);
}

static void count_launch(const Graph *g, const Node *n, Launch *l)
{
    launch_predicted(g, n, l, n->attr[IGNORE].i, "Overlap");
}

static void count(double *count, int64_t classes, int64_t predicted,
                  int64_t labelled)
{
    count[RIGHT * classes + labelled] += predicted == labelled;
    count[EITHER * classes + labelled]++;
    count[EITHER * classes + predicted] += predicted != labelled;
}

static void count_reference(const Ref *r)
{
    predicted_reference(r, r->n->attr[IGNORE].i, count);
}

static const Kernel kernels[] = {
    { .name = "", .results = "rows", .cost = class_rows_cost, .launch = launch,
      .reference = reference },
    { .name = "count", .operands = "logits^ label", .results = "partials",
      .cost = predicted_cost, .launch = count_launch,
      .reference = count_reference },
    { .results = NULL },
};

const Op op_mean_iou = {
    ROW(mean_iou), .args = args, .attrs = attrs, .build = build,
    .shape = shape_of_pairs, .kernels = kernels,
};
