// Marks that a program puts on values.
//
//     checkpoint y                a statement, in the net or a block
//     x -> f -> checkpoint -> g   marks the result of f and passes it to g
//     float32 y                   likewise, both ways
//
// A training step keeps its checkpoints.  The values that lead to them are
// recomputed when the backward pass reads them.  The graph of a training step
// has the mark (Value.marked), and pass checkpoint acts on it.  Other modes
// recompute nothing and have no marks.
//
// A float32 value and its gradient are stored in 32 bits where maps have 16
// (Value.wide).
#include "resolve.h"

typedef struct Mark {
    bool        keep_f32;
    const char *noun, *of_input;    // texts of errors
} Mark;

static const Mark checkpoint = {
    false, "a checkpoint is", "which is kept anyway; a checkpoint is computed",
};
static const Mark float32 = {
    true, "float32 marks", "whose type is declared",
};

// Marks value v.  name is the variable's, or NULL.  Marking twice is allowed.
static void mark_value(Resolver *r, ValueId v, Pos pos, const char *name,
                       const Mark *mark)
{
    const char *what = name == NULL ? "this"
                                    : arena_print(r->arena, "'%s'", name);

    if (is_view_of_input(r->g, v))
        error(r->diag, pos, "%s is %s input, %s", what,
              r->g->values[v].def == NONE ? "an" : "only a view of an",
              mark->of_input);
    else if (mark->keep_f32)
        r->g->values[v].keep_f32 = true;
    else if (r->g->mode == TRAIN)
        r->g->values[v].marked = true;
}

Datum mark_operand(Resolver *r, const Expr *expr, const Operand *operand)
{
    const Mark *mark = expr->kind == EXPR_WIDE ? &float32 : &checkpoint;
    Datum datum = operand->datum;

    if (datum.kind == POISON) return datum;
    if (datum.kind != TENSOR) {
        error(r->diag, operand->pos, "%s %s, and this is %s", mark->noun,
              kind_words[TENSOR], kind_words[datum.kind]);
        return no_datum();
    }
    mark_value(r, datum.value, expr->pos, NULL, mark);
    return datum;
}

void run_mark(Resolver *r, const Stmt *stmt)
{
    const Mark *mark = stmt->kind == STMT_FLOAT32 ? &float32 : &checkpoint;
    Expr name = { .kind = EXPR_NAME, .pos = stmt->pos, .text = stmt->name };
    Datum datum = evaluate_as(r, &name, TENSOR, mark->noun);
    if (datum.kind == TENSOR)
        mark_value(r, datum.value, stmt->pos, stmt->name, mark);
}
