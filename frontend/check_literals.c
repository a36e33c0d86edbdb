// Checks the numbers of launches, which become literals of the emitted file.
//
// The front end checks each argument of a call.  A launch may also have a
// number computed from several, such as a loss's weight divided by the elements
// of a sample.  Its literal must not round to 0 either.  The check runs on the
// graph after the passes, none of which changes such a number.
#include <math.h>
#include "../ir/dtype.h"
#include "../ir/op/op.h"
#include "compile.h"

static bool check_launch(const Node *n, const Launch *l);

static bool check_number(const Node *n, const Launch *l, double f,
                         const char *label)
{
    DType real = l->g->real;
    if (can_hold(real, f)) return true;
    // The positions of a graph as text are in another file; this one is named.
    const Pos start = { .file = 0, .line = 1, .column = 1, .length = 1 };
    error(l->g->diag, n->pos.file == NONE ? start : n->pos,
          "%s computes with a %s of %.9g here, which is too %s for %s: "
          "numbers other than 0 are from %.9g to %.9g", n->op->name,
          label != NULL ? label : "number", f,
          fabs(f) < 1 ? "small" : "large", real_name(real), least_normal(real),
          largest_normal(real));
    return false;
}

static bool check_argument(const Node *n, const Launch *l,
                           const LaunchArg *arg)
{
    bool ok = true;

    switch (arg->kind) {
    case LAUNCH_REAL: return check_number(n, l, arg->f, arg->label);
    case LAUNCH_SOURCE: return check_launch(n, arg->source);
    case LAUNCH_LIST:
        for (int i = 0; ok && i < arg->list->count; i++)
            ok = check_number(n, l, arg->list->at[i], arg->label);
        return ok;
    case LAUNCH_TENSOR_LIST:
        for (int i = 0; ok && i < arg->items->count; i++)
            ok = check_launch(n, arg->items->item[i]);
        return ok;
    default: return true;
    }
}

static bool check_launch(const Node *n, const Launch *l)
{
    for (int i = 0; i < l->arg_count; i++)
        if (!check_argument(n, l, &l->arg[i])) return false;
    return true;
}

bool check_literals(Graph *g)
{
    Graph scratch = graph_with_new_arena(g);
    bool ok = true;
    for (NodeId i = 0; ok && i < g->node_count; i++) {
        const Node *n = &g->nodes[i];
        Launch l = { .g = &scratch, .node = n };
        if (!is_launch(n)) continue;
        n->op->kernels[n->kernel].launch(&scratch, n, &l);
        ok = check_launch(n, &l);
    }
    arena_free(scratch.arena);
    return ok;
}
