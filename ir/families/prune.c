// The schedule of masks, the bits of parameters, and the zeros that training
// ends with.
#include "prune.h"

#include <math.h>
#include "../base/format.h"
#include "../dtype.h"

bool is_pruning(const Graph *g)
{
    return g->training.prune != NULL;
}

bool prunes_first_step(const Graph *g)
{
    const Attr *attr = g->training.prune_attr;
    return is_pruning(g) && attr[PRUNE_BEGIN].i == 0 &&
           attr[PRUNE_INITIAL].f > 0;
}

bool is_pruned_bits(const Graph *g, ValueId v)
{
    const Value *value = &g->values[v];
    return value->kind == STATE && value->state_of != NONE &&
           value->dtype == U8;
}

ValueId *list_bits(const Graph *g)
{
    ValueId *bits = NEW_ARRAY(g->arena, g->value_count, ValueId);
    for (ValueId v = 0; v < g->value_count; v++) bits[v] = NONE;
    for (ValueId v = 0; v < g->value_count; v++)
        if (is_pruned_bits(g, v)) bits[g->values[v].state_of] = v;
    return bits;
}

Shape shape_of_bits(Shape weight)
{
    return shape_of(1, ceil_div(elements(weight), (int64_t)PRUNED_EACH));
}

bool has_mask(const Attr *attr, double step)
{
    double since = step - (double)attr[PRUNE_BEGIN].i;
    double end = (double)attr[PRUNE_END].i;
    return since >= 0 && (end < 0 || step <= end) &&
           fmod(since, (double)attr[PRUNE_EVERY].i) == 0;
}

// p = clamp((step - begin) / (end - begin), 0, 1);
// sparsity = final + (initial - final) * (1 - p) ^ power
int64_t kept_weights(const Attr *attr, double step, int64_t count)
{
    float since = (float)(step - (double)attr[PRUNE_BEGIN].i);
    float steps = (float)(attr[PRUNE_END].i - attr[PRUNE_BEGIN].i);
    float change = (float)(attr[PRUNE_INITIAL].f - attr[PRUNE_FINAL].f);
    float p = fminf(fmaxf(since / steps, 0), 1);
    float power = (float)pow((double)(1 - p), (float)attr[PRUNE_POWER].f);
    float sparsity = change * power;
    sparsity += (float)attr[PRUNE_FINAL].f;
    float kept = rintf((float)count * (1 - sparsity));
    int64_t most = (int64_t)fmaxf(kept, 1);
    return most < count ? most : count;
}

// ---- for people -------------------------------------------------------------

// Returns the step of the last mask, or of one with the last sparsity.
static double last_mask(const Attr *attr)
{
    int64_t begin = attr[PRUNE_BEGIN].i, end = attr[PRUNE_END].i;
    if (end < 0) return (double)begin;
    return (double)(end - (end - begin) % attr[PRUNE_EVERY].i);
}

Pruned count_pruned(const Graph *g)
{
    const Attr *attr = g->training.prune_attr;
    Pruned sum = { .from = last_mask(attr) };
    for (ValueId v = 0; v < g->value_count; v++) {
        const Value *value = &g->values[v];
        if (is_weight(value->kind)) sum.whole_bytes += value_bytes(value);
        if (!is_pruned_bits(g, v)) continue;
        int64_t count = elements(g->values[value->state_of].shape);
        sum.kernels++;
        sum.weights += count;
        sum.zeros += count - kept_weights(attr, sum.from, count);
        sum.mask_bytes += value_bytes(value);
    }
    sum.packed_bytes = sum.whole_bytes + sum.mask_bytes -
                       sum.zeros * dtype_bytes(g->real);
    return sum;
}

const char *pruned_text(Arena *arena, const Graph *g, const char *space)
{
    Pruned p = count_pruned(g);
    return arena_print(
        arena, "%s of %s weights of %d kernel%s are 0 (%.2f %%) from step %.0f "
        "on;%szeros save neither arena nor time, and the masks take %s bytes "
        "of the state;%sthe weights have %s bytes, or %s with a bit for each "
        "of these and no zeros",
        grouped_text(arena, p.zeros), grouped_text(arena, p.weights),
        p.kernels, p.kernels == 1 ? "" : "s",
        100 * (double)p.zeros / (double)p.weights, p.from, space,
        grouped_text(arena, p.mask_bytes), space,
        grouped_text(arena, p.whole_bytes),
        grouped_text(arena, p.packed_bytes));
}
