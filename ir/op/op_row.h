// Rows of ops.def as constants, so that ops/<name>.c can begin its table with
// ROW(<name>) and no row is written twice:
//
//     const Op op_relu = { ROW(relu), .build = build, .kernels = kernels };
//
// The texts are arrays, not pointers: the address of an array is a constant
// initializer.  op_table.c defines them.
#ifndef CNNC_OP_ROW_H
#define CNNC_OP_ROW_H

#include "op.h"

#define OP(name, operands, flags, meaning)                                     \
    enum { flags_of_##name = (flags) };                                        \
    extern const char operands_of_##name[], meaning_of_##name[];               \
    extern const Op op_##name;
#include "../ops.def"
#undef OP

#define ROW(op)                                                                \
    .name = #op, .operands = operands_of_##op, .meaning = meaning_of_##op,     \
    .flags = flags_of_##op

#endif
