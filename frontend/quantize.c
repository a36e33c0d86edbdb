// The setting `quantize`: quantization-aware training.
//
//     quantize = int8(delay = 2000, average = 0.99)
//
// driver/fake_quantize.c makes the nodes.
#include <string.h>
#include "../ir/families/quantize.h"
#include "resolve.h"

enum { DELAY, AVERAGE };        // arguments

static const ArgSpec int8_args[] = {
    { "delay", ARG_INT, "0", 0, MOST_QUANTIZE_STEP, "training steps that only "
      "measure maps" },
    { "average", ARG_FLOAT, "0.99", 0, 1, "the part of a map's range that a "
      "step keeps, below 1" },
    { .name = NULL },
};
static const Op int8_type = {
    .name = "int8", .operands = "", .args = int8_args,
};

void set_quantize(Resolver *r, const Stmt *stmt)
{
    const Expr *value = stmt->value;
    ArgValue args[MAX_ARGS] = {{ .given = false }};
    if (value->kind != EXPR_CALL || strcmp(value->text, int8_type.name) != 0) {
        error(r->diag, value->pos, "quantize is int8(...), as in "
              "int8(delay = 2000, average = 0.99)");
        return;
    }
    Build b = { .g = r->g, .op = &int8_type, .pos = value->pos,
                .name = int8_type.name, .arg = args };
    if (!bind_arguments(r, &b, value, NULL, 0)) return;
    if (args[AVERAGE].f >= 1) {
        error(r->diag, args[AVERAGE].pos, "average must be below 1: the range "
              "would never change");
        return;
    }
    Quantize *quantize = NEW(r->g->arena, Quantize);
    *quantize = (Quantize){ args[DELAY].i, args[AVERAGE].f, value->pos };
    r->g->training.quantize = quantize;
}
