// Warnings of programs that are valid but rarely intended.
#include "resolve.h"

// Returns the operator that makes v or the value it views; NULL for inputs.
static const Op *maker_of(const Graph *g, ValueId v)
{
    while (g->values[v].def != NONE) {
        const Node *n = &g->nodes[g->values[v].def];
        if (!(n->op->flags & VIEW)) return n->op;
        v = n->operands[0];
    }
    return NULL;
}

void warn_of_logits(Resolver *r, ValueId rows)
{
    const Node *n = &r->g->nodes[r->g->values[rows].def];
    const Op *loss = n->op;
    if (loss->applies == NULL) return;
    const Op *maker = maker_of(r->g, n->operands[loss->logits]);

    if (maker == loss->applies)
        warning(r->diag, n->pos, "%s applies %s itself, and its operand is the "
                "result of %s already; give it the value before that",
                loss->name, maker->name, maker->name);
    else if (maker != NULL && maker->flags & LIMITS)
        warning(r->diag, n->pos, "%s applies %s to numbers of any sign and "
                "size, and %s limits these; give it the value before that",
                loss->name, loss->applies->name, maker->name);
}

// Images have 1 or 3 channels, and height and width of similar size.
void warn_of_layout(Resolver *r, const Stmt *stmt, Shape shape)
{
    enum { LEAST = 8, MOST_RATIO = 4 };
    if (shape.rank != 4 || (shape.dim[1] != 1 && shape.dim[1] != 3)) return;
    int64_t channels = shape.dim[1], a = shape.dim[2], b = shape.dim[3];

    if (a < LEAST || b < LEAST || a > MOST_RATIO * b || b > MOST_RATIO * a)
        return;
    warning(r->diag, stmt->pos, "the input '%s' has a height of %lld and %lld "
            "channels, for the layout is [height, width, channels]; an image "
            "of %lld channel%s is %s[%lld, %lld, %lld]", stmt->name,
            (long long)channels, (long long)b, (long long)channels,
            channels == 1 ? "" : "s", stmt->type, (long long)a, (long long)b,
            (long long)channels);
}
