// Copies of boxes.  The dimensions inside the one that is cut are contiguous in
// memory, and those outside are alike.  So any axis of any rank reduces to a
// matrix:
//
//   slice(x, 2, 3, axis = height)   [n, 5, w, c] -> [n, 3, w, c]
//   n rows, of 5*w*c columns -> 3*w*c columns, 2*w*c to the right
//
// A map that is cut on all four sides is n times h rows of w*c columns.  This
// file depends on no operator.
#include <string.h>
#include "../op/activation_grad.h"
#include "box_copy.h"
#include "../op/op_checks.h"

int build_axis(Build *b, const ArgValue *axis)
{
    Shape x = b->g->values[b->operand[0]].shape;
    if (!strcmp(axis->word, "channels")) return x.rank - 1;
    if (!strcmp(axis->word, "rows")) return 1;
    if (x.rank >= 4) return x.rank - (strcmp(axis->word, "height") ? 2 : 3);
    error(b->g->diag, axis->pos, "maps [height, width, channels] have a %s, "
          "but this is %s", axis->word, operand_text(b, 0));
    return NONE;
}

Box box_along(Shape operand, Shape result, int axis, int64_t start)
{
    int64_t rows = 1, inner = 1;
    for (int i = 0; i < axis; i++) rows *= result.dim[i];
    for (int i = axis + 1; i < result.rank; i++) inner *= result.dim[i];
    return (Box){
        .outer = 1, .rows = { rows, rows }, .right = start * inner,
        .columns = { operand.dim[axis] * inner, result.dim[axis] * inner },
    };
}

Slice slice_of_box(Box box)
{
    return (Slice){ .rows = box.rows[RESULT], .width = box.columns[RESULT],
                    .stride = box.columns[OPERAND], .start = box.right };
}

Box box_of_map(Shape operand, Shape result, int64_t down, int64_t right)
{
    int64_t channels = result.dim[3];
    return (Box){
        .outer = result.dim[0], .rows = { operand.dim[1], result.dim[1] },
        .columns = { operand.dim[2] * channels, result.dim[2] * channels },
        .down = down, .right = right * channels,
    };
}

void gradient_box(Gradient *c, const Op *op)
{
    if (!gradient_wanted(c, 0)) return;
    ValueId operands[] = { gradient_of_result(c, 0), NONE };
    ValueId dx = gradient_value(c, 0);
    gradient_node(c, op, 1, 2, operands, 1, &dx);
    gradient_add(c, 0, dx);
}

void launch_box(Launch *l, const Node *n, Box box, double outside)
{
    bool vectors = box.columns[OPERAND] % 4 == 0 &&
                 box.columns[RESULT] % 4 == 0 && box.right % 4 == 0;
    int64_t count = box.outer * box.rows[RESULT] * box.columns[RESULT];
    launch_elements(l, "copy_box", count / (vectors ? 4 : 1));
    const Constant constants[] = {
        { "OUTER", box.outer }, { "ROWS", box.rows[RESULT] },
        { "COLUMNS", box.columns[RESULT] }, { "ROWS_IN", box.rows[OPERAND] },
        { "COLUMNS_IN", box.columns[OPERAND] }, { "DOWN", box.down },
        { "RIGHT", box.right }, { "VEC", vectors ? 4 : 1 },
    };
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
        launch_constant(l, constants[i].name, constants[i].value);
    launch_act(l, n);
    launch_value(l, n->results[0]);
    launch_load(l, n, 0);
    if (n->operand_count > 1) {
        launch_load(l, n, 1);
    } else {
        launch_type(l, plain_source);
        launch_value(l, NONE);
    }
    launch_result_type(l, n->results[0]);
    launch_real(l, outside, "outside");
}

// From an operand larger than the result only the box is read, and likewise
// from the values that the operand is computed from elementwise.
void cost_box(const Graph *g, const Node *n, Cost *cost)
{
    int64_t x = elements(g->values[n->operands[0]].shape);
    int64_t y = elements(g->values[n->results[0]].shape);
    ValueId reads[MAX_READS];
    cost->bytes = cost_bytes(g, n);
    for (int k = node_reads(g, n, reads) - 1; k >= 0 && x > y; k--) {
        const Value *read = &g->values[reads[k]];
        if (elements(read->shape) == x)
            cost->bytes -= (x - y) * dtype_bytes(read->dtype);
    }
}

// Copies element i of the result, from its row and column in the box.
void ref_box(const Ref *r, Box box, double outside)
{
    int64_t high = box.rows[RESULT], wide = box.columns[RESULT];
    for (int64_t i = 0; i < box.outer * high * wide; i++) {
        int64_t row = i / wide % high + box.down, column = i % wide + box.right;
        bool inside = row >= 0 && row < box.rows[OPERAND] && column >= 0 &&
                      column < box.columns[OPERAND];
        int64_t line = i / wide / high * box.rows[OPERAND] + row;
        r->out[0][i] = inside ? r->in[0][line * box.columns[OPERAND] + column]
                              : outside;
    }
    if (r->n->operand_count > 1) ref_mask(r, 1);
}
