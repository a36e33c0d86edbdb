// Functions that learning-rate schedules share.  Steps are counted as in
// PyTorch: every training step, including skipped ones.
//
// This file depends on no schedule.
#include <string.h>
#include "lr_schedule.h"
#include "../op/op_checks.h"

// Returns the index of the attribute of this name, or NONE.
static int attr_called(const Op *op, const char *name)
{
    for (int i = 0; op->attrs[i].name != NULL; i++)
        if (strcmp(op->attrs[i].name, name) == 0) return i;
    return NONE;
}

ValueId build_rate(Build *b)
{
    Attr *attr = b->g->training.schedule_attr;
    int steps = attr_called(b->op, "steps");
    int warmup = attr_called(b->op, "warmup");

    take_attrs(b, attr);
    if (steps != NONE && warmup != NONE && attr[warmup].i >= attr[steps].i)
        error(b->g->diag, b->arg[warmup].pos, "the warmup must end before "
              "the last of %lld steps", (long long)attr[steps].i);
    return NONE;
}

// One thread reads and writes a few words of the header.
void cost_rate(const Graph *g, const Node *n, Cost *cost)
{
    (void)g, (void)n;
    *cost = (Cost){ .flops = 10, .bytes = 24 };
}

void launch_rate(const Graph *g, const Node *n, Launch *l)
{
    const AttrSpec *spec = n->op->attrs;
    launch_kernel(l, arena_print(g->arena, "rate_%s", n->op->name), 1, 32);
    launch_header(l);
    for (int i = 0; spec[i].name != NULL; i++)
        if (spec[i].type == ATTR_INT)
            launch_int(l, n->attr[i].i, spec[i].name);
        else
            launch_real(l, n->attr[i].f, spec[i].name);
}

void reference_rate(const Ref *r, double (*factor)(const Attr *attr, double t))
{
    int at = attr_called(r->n->op, "warmup");
    double warmup = at != NONE ? (double)r->n->attr[at].i : 0;
    double step = r->header[HEADER_STEP];
    double f = step < warmup ? (step + 1) / warmup
                             : factor(r->n->attr, step - warmup);
    r->header[HEADER_RATE] = r->header[HEADER_BASE_RATE] * f;
}
