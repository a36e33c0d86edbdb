// prune: a new mask for a parameter.  families/prune.h describes the whole.
//
// Of n weights, k = max(round(n * (1 - sparsity)), 1) are kept: those whose
// magnitude is at least the k-th largest.  Equal magnitudes are all kept, so
// that the result depends on no order.  The arithmetic of the schedule is in
// float, as TensorFlow's is, so that k is the same.
//
// The magnitude is the number's bits without the sign, as an integer.  So a NaN
// is the largest, and stays.
#include <math.h>
#include <stdlib.h>
#include "../op/op_row.h"
#include "../families/prune.h"
#include "../families/grad_accumulation.h"
#include "../op/op_checks.h"

enum { BLOCK = 1024 };

static const AttrSpec attrs[] = {
    { "final", ATTR_FLOAT, 0, 1 }, { "initial", ATTR_FLOAT, 0, 1 },
    { "power", ATTR_FLOAT, 0, 1e6 },
    { "begin", ATTR_INT, 0, MOST_PRUNE_STEP },
    { "end", ATTR_INT, -1, MOST_PRUNE_STEP },
    { "every", ATTR_INT, 1, MOST_PRUNE_STEP }, { "ahead", ATTR_INT, 0, 1 },
    { .name = NULL },
};

bool makes_mask(const Node *n)
{
    return n->op == &op_prune;
}

// A step makes a mask once in `every`: the costs are those of a mean step.  A
// mask reads the weights once for each digit, and once more.
static void cost(const Graph *g, const Node *n, Cost *cost)
{
    enum { READS = 4 };
    int64_t every = n->attr[PRUNE_EVERY].i;
    int64_t weight = value_bytes(&g->values[n->operands[PRUNED_WEIGHT]]);
    cost->flops = READS * elements(g->values[n->operands[PRUNED_WEIGHT]].shape);
    cost->bytes = cost_bytes(g, n) + (READS - 1) * weight;
    if (every < 1) return;
    cost->flops /= every;
    cost->bytes /= every;
}

// Without samples no training step takes place.
static void launch_step(const Graph *g, const Node *n, Launch *l)
{
    bool sums = is_accumulating(g) && n->phase == UPDATE;
    launch_type(l, sums ? "true" : "false");
}

static void launch_schedule(const Node *n, Launch *l)
{
    const Attr *attr = n->attr;
    Launch *schedule = launch_members(l, "PruneSchedule");
    Launch *steps = launch_members(schedule, "PruneSteps");
    launch_int(steps, attr[PRUNE_BEGIN].i, "begin");
    launch_int(steps, attr[PRUNE_END].i, "end");
    launch_int(steps, attr[PRUNE_EVERY].i, "every");
    launch_real(schedule, attr[PRUNE_FINAL].f, "final");
    launch_real(schedule, attr[PRUNE_INITIAL].f - attr[PRUNE_FINAL].f,
                "initial - final");
    launch_real(schedule, attr[PRUNE_POWER].f, "power");
    launch_int(schedule, attr[PRUNE_AHEAD].i, "ahead");
}

static void launch(const Graph *g, const Node *n, Launch *l)
{
    launch_kernel(l, "prune_weights", 1, BLOCK);
    launch_step(g, n, l);
    Launch *arrays = launch_item(l, "PrunedArrays");
    for (int k = PRUNED_WEIGHT; k <= PRUNED_AVERAGE; k++)
        launch_value(arrays, n->operands[k]);
    launch_int(arrays, elements(g->values[n->operands[PRUNED_WEIGHT]].shape),
               NULL);
    launch_header(l);
    launch_schedule(n, l);
    if (is_accumulating(g) && n->phase == UPDATE) launch_int(l, 0, "samples");
    else launch_samples(l);
    launch_last(l);
}

// ---- the reference ----------------------------------------------------------

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

// Returns the magnitude of a number, for comparisons; that of NaN is above
// infinity's.
static double magnitude(double x)
{
    return isnan(x) ? INFINITY : fabs(x);
}

static double smallest_kept(const Ref *r, int64_t count, int64_t kept)
{
    Arena *arena = arena_new();
    double *sorted = NEW_ARRAY(arena, count, double);
    for (int64_t i = 0; i < count; i++)
        sorted[i] = magnitude(r->in[PRUNED_WEIGHT][i]);
    qsort(sorted, (size_t)count, sizeof *sorted, by_size);
    double smallest = sorted[kept - 1];
    arena_free(arena);
    return smallest;
}

static void reference(const Ref *r)
{
    const Attr *attr = r->n->attr;
    double step = r->header[HEADER_STEP] + (double)attr[PRUNE_AHEAD].i;
    double *weight = r->in[PRUNED_WEIGHT], *bits = r->in[PRUNED_BITS];
    double *average = r->in[PRUNED_AVERAGE];
    int64_t count = elements(ref_in(r, PRUNED_WEIGHT));
    bool due = attr[PRUNE_AHEAD].i ? has_mask(attr, step) : step == 0;
    if (!due) return;
    double least = smallest_kept(r, count, kept_weights(attr, step, count));
    for (int64_t i = 0; i < count; i++) {
        bool pruned = magnitude(weight[i]) < least;
        double *byte = &bits[i / PRUNED_EACH];
        if (i % PRUNED_EACH == 0) *byte = 0;
        if (!pruned) continue;
        *byte += (double)(1 << i % PRUNED_EACH);
        weight[i] = 0;
        if (average != NULL) average[i] = 0;
    }
}

static const Kernel kernels[] = {
    { .name = "", .results = "", .cost = cost, .launch = launch,
      .reference = reference },
    { .results = NULL },
};

const Op op_prune = { ROW(prune), .attrs = attrs, .kernels = kernels };
