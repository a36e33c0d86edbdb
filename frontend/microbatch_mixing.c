// --microbatch without --ghost, in nets with layers that need the whole batch.
// The step then stays whole, and pass batch_split slices the layers between
// them.
#include <inttypes.h>
#include "../ir/base/format.h"
#include "../ir/families/loss.h"
#include "../ir/op/op.h"
#include "compile.h"

// Returns the first node that needs more than its own sample, or NONE.
static NodeId first_mixing(const Graph *g)
{
    for (NodeId i = 0; i < g->node_count; i++) {
        const Node *n = &g->nodes[i];
        if (n->phase == FORWARD && n->kernel == 0 &&
            n->op->needs_whole_batch != NULL &&
            n->op->needs_whole_batch(g, n) != NULL &&
            (!(n->op->flags & LOSS) || makes_loss(g, n)))
            return i;
    }
    return NONE;
}

// Inspects the training graph in every mode, since all programs of a file have
// one batch.
bool net_needs_whole_batch(const Ast *ast, const FrontendOptions *options)
{
    Arena *arena = arena_new();
    Diag quiet = *ast->diag;
    Ast alone = *ast;
    FrontendOptions whole = *options;
    quiet.quiet = true;
    quiet.error_count = 0;
    alone.arena = arena;
    alone.diag = &quiet;
    whole.mode = TRAIN;
    whole.microbatch = 0;
    const Graph *g = resolve(&alone, &whole);
    bool needs = g != NULL && first_mixing(g) != NONE;
    arena_free(arena);
    return needs;
}

static const char *saved_text(const Graph *g)
{
    int64_t saved = g->decisions.whole_bytes - g->arena_bytes;
    if (g->decisions.fit != NULL)
        return g->decisions.split_samples == 0 ? "the budget does not ask for"
                                     : "the budget asks for";
    if (g->decisions.split_samples == 0)
        return g->decisions.split_pixels == 0
            ? "saves nothing, since all maps between them are kept for all "
              "samples"
            : "saves nothing: the peak is where maps of all samples are alive";
    return arena_print(g->arena, "saves %" PRId64 " bytes (%s) of the arena",
                       saved, bytes_text(g->arena, saved));
}

void note_slices(const Graph *g, const FrontendOptions *options)
{
    NodeId i = first_mixing(g);
    if (g->mode != TRAIN || g->decisions.whole_bytes == 0 || i == NONE ||
        options->microbatch == 0 || is_accumulating(g))
        return;
    const Node *n = &g->nodes[i];
    note(g->diag, n->pos,
         "%s needs %s; layers between such take %" PRId64
         " samples at a time, which %s",
         n->op->name, n->op->needs_whole_batch(g, n), options->microbatch,
         saved_text(g));
}
