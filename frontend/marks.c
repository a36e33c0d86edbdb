// Checkpoints in the language: values that a training step keeps, where what
// leads to them is computed again when the backward pass reads it.
//
//     checkpoint y                a statement, in the net or a block
//     x -> f -> checkpoint -> g   a mark on what f made, which goes on to g
//
// The graph of a training step has the mark (Value.marked); what is made of it
// the passes know.  Other modes compute nothing again, and have no marks.
#include "resolve.h"

// name: of the variable, or NULL.  To mark a value twice is to mark it.
static void mark_value(Resolver *r, ValueId v, Pos pos, const char *name)
{
    const char *what = name == NULL ? "this"
                                    : arena_print(r->arena, "'%s'", name);

    if (is_view_of_input(r->g, v))
        error(r->diag, pos, "%s is %s input, which is kept anyway; a "
              "checkpoint is computed", what,
              r->g->values[v].def == NONE ? "an" : "only a view of an");
    else if (r->g->mode == TRAIN)
        r->g->values[v].marked = true;
}

Datum mark_operand(Resolver *r, const Expr *mark, const Operand *operand)
{
    Datum datum = operand->datum;

    if (datum.kind == POISON) return datum;
    if (datum.kind != TENSOR) {
        error(r->diag, operand->pos, "a checkpoint is %s, and this is %s",
              kind_words[TENSOR], kind_words[datum.kind]);
        return no_datum();
    }
    mark_value(r, datum.value, mark->pos, NULL);
    return datum;
}

void run_checkpoint(Resolver *r, const Stmt *stmt)
{
    Expr name = { .kind = EXPR_NAME, .pos = stmt->pos, .text = stmt->name };
    Datum datum = evaluate_as(r, &name, TENSOR, "a checkpoint is");
    if (datum.kind == TENSOR)
        mark_value(r, datum.value, stmt->pos, stmt->name);
}
