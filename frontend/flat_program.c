// The lists of a flat program.
#include <string.h>
#include "flat_program.h"
#include "resolve.h"

void flat_add_call(FlatProgram *flat, const Build *b, const char *part,
                   ValueId result)
{
    Arena *arena = flat->arena;
    size_t operands = (size_t)b->operand_count;
    ValueId *operand = NEW_ARRAY(arena, operands + 1, ValueId);
    ArgValue *args = NEW_ARRAY(arena, MAX_ARGS, ArgValue);
    bool has_params = makes_params(b->op);

    memcpy(operand, b->operand, operands * sizeof *operand);
    memcpy(args, b->arg, MAX_ARGS * sizeof *args);
    flat->calls = arena_grow(arena, flat->calls, &flat->call_capacity,
                             (int64_t)flat->call_count + 1,
                             sizeof *flat->calls);
    flat->calls[flat->call_count++] = (FlatCall){
        .op = b->op, .name = b->name, .part = has_params ? part : NULL,
        .weights = b->weights != NULL ? b->weights->name : NULL,
        .operands = operand, .operand_count = b->operand_count,
        .args = args, .result = result,
    };
}

static const char **names_of(Arena *arena, const Graph *g,
                             const ValueId *values, int32_t count)
{
    const char **names = NEW_ARRAY(arena, (size_t)count + 1, const char *);
    for (int32_t i = 0; i < count; i++) names[i] = g->values[values[i]].name;
    return names;
}

void flat_finish(FlatProgram *flat, const Graph *g, const ValueId *outputs,
                 int32_t count)
{
    for (int32_t i = 0; i < flat->call_count; i++) {
        FlatCall *call = &flat->calls[i];
        call->operand_names = names_of(flat->arena, g, call->operands,
                                       call->operand_count);
        call->result_name = g->values[call->result].name;
        call->shape = g->values[call->result].shape;
    }
    flat->outputs = names_of(flat->arena, g, outputs, count);
    flat->output_count = count;
}

void flat_add_constant(FlatProgram *flat, const char *name, const char *text)
{
    Arena *arena = flat->arena;
    flat->constants = arena_grow(arena, flat->constants,
                                 &flat->constant_capacity,
                                 (int64_t)flat->constant_count + 1,
                                 sizeof *flat->constants);
    flat->constants[flat->constant_count++] = (FlatConstant){
        .name = arena_copy(arena, name, strlen(name)),
        .text = arena_copy(arena, text, strlen(text)),
    };
}
