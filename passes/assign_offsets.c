// assign_offsets: assigns an offset to every value and computes the exact size
// of the arena.
//
//   0           header             the state: one contiguous prefix, which no
//   256         conv1.weight       pass changes, so that one copy saves or
//   ...         conv1.momentum     loads it
//   state_bytes conv1.weight.sum   sums of gradients over batches, kept by an
//   ...                            evaluation that runs between two batches
//               everything else, by live range
//   arena_bytes image              inputs in the caller's memory: offsets that
//                                  stand for no bytes of the arena
//
// A value with alias_of takes the offset of the last value of its chain; a
// slice adds its start within a row.  The other values are placed so that no
// two with overlapping live ranges overlap: place.h declares the search.
// Without this pass every value has bytes of its own, which tests compare the
// other passes with.
#include "../ir/families/grad_accumulation.h"
#include "../ir/strided_views.h"
#include "pass.h"
#include "placement/place.h"
#include "placement/arena_estimate.h"


// Returns the end of each value's chain of aliases.  Linear: every value on a
// walked path gets its root, and later walks stop there.
static ValueId *find_roots(const Graph *g)
{
    ValueId *root = NEW_ARRAY(g->arena, g->value_count, ValueId);
    for (ValueId v = 0; v < g->value_count; v++) root[v] = NONE;
    for (ValueId v = 0; v < g->value_count; v++) {
        ValueId end = v;
        while (root[end] == NONE && g->values[end].alias_of != NONE)
            end = g->values[end].alias_of;
        if (root[end] != NONE) end = root[end];
        for (ValueId i = v; i != NONE && root[i] == NONE;
             i = g->values[i].alias_of)
            root[i] = end;
    }
    return root;
}

static int64_t padded_bytes(const Graph *g, ValueId v)
{
    return padded(value_bytes(&g->values[v]));
}

static void append(Graph *g, ValueId v, int64_t *top)
{
    g->values[v].offset = *top;
    *top += padded_bytes(g, v);
}

// Places the header, the parameters, the running statistics (inference needs
// only these) and the rest of the state, each in the order of values.
static int64_t place_state(Graph *g)
{
    int64_t top = 0;
    if (g->header != NONE) append(g, g->header, &top);
    for (Kind kind = PARAM; kind <= STATE; kind++)
        for (ValueId v = 0; v < g->value_count; v++)
            if (g->values[v].kind == kind && v != g->header)
                append(g, v, &top);
    return top;
}

// Places the sums of gradients over batches.  They have no other values in
// their bytes, because a program that runs between two batches must not change
// them.
static int64_t place_sums(Graph *g, int64_t top)
{
    for (ValueId v = 0; v < g->value_count; v++)
        if (is_sum(g, v)) append(g, v, &top);
    return top;
}

// Gives the caller's inputs offsets after the end of the arena.
static void place_given(Graph *g)
{
    int64_t top = padded(g->arena_bytes);
    for (ValueId v = 0; v < g->value_count; v++)
        if (is_given(&g->values[v])) append(g, v, &top);
}

static bool is_placed_alone(const Graph *g, ValueId v)
{
    return g->values[v].alias_of == NONE && !g->values[v].persistent &&
           v != g->header && is_stored(g, v);
}

// Returns each item's offset in a plan without horizontal fusion, relative to
// start, as a hint for the search; -1 if unknown.
static int64_t *find_hints(const Graph *g, const int32_t *number, int32_t count,
                           int64_t start)
{
    int64_t *hints = NEW_ARRAY(g->arena, count, int64_t);
    for (ValueId v = 0; v < g->value_count; v++)
        if (number[v] != NONE && g->values[v].alias_of == NONE)
            hints[number[v]] = g->values[v].offset < start
                                   ? -1
                                   : g->values[v].offset - start;
    return hints;
}

// Returns an item for each root value outside the state.  Its life spans those
// of all its aliases.  number: the item of every value, or NONE.
static Item *collect_items(Graph *g, const ValueId *root, int32_t *number,
                           int32_t *count)
{
    Item *items = NEW_ARRAY(g->arena, g->value_count, Item);
    for (ValueId v = 0; v < g->value_count; v++) {
        number[v] = NONE;
        if (!is_placed_alone(g, v)) continue;
        const Value *value = &g->values[v];
        items[*count] = (Item){.first = value->first, .last = value->last,
                               .size = padded_bytes(g, v)};
        number[v] = (*count)++;
    }
    for (ValueId v = 0; v < g->value_count; v++) {
        number[v] = number[root[v]];
        if (number[v] == NONE) continue;
        Item *item = &items[number[v]];
        if (g->values[v].first < item->first) item->first = g->values[v].first;
        if (g->values[v].last > item->last) item->last = g->values[v].last;
    }
    return items;
}

// Places the items one after the other, in order; returns their total size.
static int64_t place_apart(Item *items, int32_t count)
{
    int64_t top = 0;
    for (int32_t i = 0; i < count; i++) {
        items[i].offset = top;
        top += items[i].size;
    }
    return top;
}

// Limits the work of a search over few items: it ends soon or not at all, and a
// search for a budget makes many plans.
static int64_t enough_work(int64_t work, int32_t count)
{
    enum { EACH_PAIR = 16384 };
    int64_t enough = (int64_t)EACH_PAIR * count * count;
    return work < enough ? work : enough;
}

// Sets all offsets, with at most `work` steps of search, which stops at an
// arena of `enough` bytes.  work 0: no two values share bytes.
static void give_offsets(Graph *g, const PassOptions *o, int64_t work,
                         int64_t enough)
{
    Graph scratch = graph_with_new_arena(g);
    Arena *arena = scratch.arena;
    ValueId *root = find_roots(&scratch);
    int32_t *number = NEW_ARRAY(arena, g->value_count, int32_t);
    int32_t count = 0;
    Item *items = collect_items(&scratch, root, number, &count);
    g->state_bytes = place_state(g);
    int64_t start = place_sums(g, g->state_bytes);
    g->max_live_bytes = start + place_bound(arena, items, count);
    PlaceGoal goal = {.height = enough > start ? enough - start : 0,
                      .work = enough_work(work, count),
                      .is_brief = is_only_named(g) ||
                                  g->node_count > MANY_NODES,
                      .hints = find_hints(&scratch, number, count, start)};
    int64_t top = work > 0 ? place_or_recall(o->known, arena, items, count,
                                             &goal)
                           : place_apart(items, count);
    g->arena_bytes = start + top;
    place_given(g);
    for (ValueId v = 0; v < g->value_count; v++)
        if (number[v] != NONE)
            g->values[v].offset = start + items[number[v]].offset;
        else if (is_stored(g, v))
            g->values[v].offset = g->values[root[v]].offset;
    for (ValueId v = 0; v < g->value_count; v++)
        if (g->values[v].view_rows > 0)
            g->values[v].offset += value_columns(g, v).begin;
    arena_free(arena);
}

int64_t plan_least(Graph *g)
{
    int32_t *number = NEW_ARRAY(g->arena, g->value_count, int32_t);
    int32_t count = 0;
    Item *items = collect_items(g, find_roots(g), number, &count);
    return place_state(g) + place_bound(g->arena, items, count);
}

int64_t plan_trial(Graph *g, const PassOptions *o)
{
    give_offsets(g, o, TRIAL_WORK, 0);
    return g->arena_bytes;
}

int64_t plan_near(Graph *g, const PassOptions *o, int64_t limit)
{
    int64_t least = plan_least(g), near = least + least / NEAR_PARTS;
    give_offsets(g, o, TRIAL_WORK, near < limit ? near : limit);
    return g->arena_bytes;
}

// Without the pass, every value has bytes of its own.
void pass_assign_offsets(Graph *g, const PassOptions *o)
{
    int64_t work = o->trial ? PLACE_WORK / 4 : PLACE_WORK;
    give_offsets(g, o, o->enabled[PASS_assign_offsets] ? work : 0, 0);
}
