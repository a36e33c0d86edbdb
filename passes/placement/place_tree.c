// Decides whether a placement of at most a given height exists, unless its work
// or its failures are spent before.
//
// Blocks are placed in ascending order of offset, each on its ground: the top
// of the placed blocks with overlapping lifetimes.  The search branches: the
// next block is placed there, or is passed over.  A block that is passed over
// will rest on an unplaced one, which raises the lower bound of its offset
// (`low`).  And some unplaced block must get into its way, otherwise it could
// have stayed on the ground.  In every section the lowest `low` of the unplaced
// blocks plus the sum of their sizes must fit.  No block is placed at or above
// the lowest possible end of an unplaced one, since that one could be placed
// below.  So the search visits only placements in which no single block can be
// moved down.  If any placement of the height exists, one of these does.
//
// The unplaced blocks may fall into parts that share no section.  Parts are
// searched one after another, and if one is impossible no other solution of its
// neighbours is tried.  Each part is sorted anew, by its unplaced blocks.
//
// Sections, canonical placements, dominance and parts are ideas of MiniMalloc
// (Moffitt, ASPLOS 2023).
#include "place_search.h"
#include <stdlib.h>

// A list of blocks in the order to try them, and the sections they are in.
typedef struct Part {
    int32_t list, count;        // in Search.lists; some may be placed already
    int32_t placed_before;      // blocks placed when the list was made
    int32_t from, to;
} Part;

// ---- orders -----------------------------------------------------------------

static int compare_ranked(const void *left, const void *right)
{
    const RankedBlock *a = left, *b = right;
    for (int i = 0; i < 3; i++)
        if (a->key[i] != b->key[i]) return a->key[i] > b->key[i] ? -1 : 1;
    return a->block < b->block ? -1 : a->block > b->block;
}

// The keys of an order.  T: the largest sum of unplaced sizes in any of its
// sections; W: its width, the lifetime; A: its area; Z: its size; C: its number
// of sections; F: its first section, earliest first; U: its unplaced
// neighbours.
static double key_of(const Search *s, const Block *b, char letter)
{
    int64_t most = 0;
    switch (letter) {
    case 'W': return (double)b->lifetime;
    case 'A': return (double)b->lifetime * (double)b->size;
    case 'Z': return (double)b->size;
    case 'C': return b->to - b->from;
    case 'F': return -b->from;
    case 'U': return b->unplaced_near;
    default:  break;
    }
    for (int32_t t = b->from; t < b->to; t++)
        if (s->sections[t].need > most) most = s->sections[t].need;
    return (double)most;
}

static void order_part(Search *s, const Part *part)
{
    int32_t *list = s->lists + part->list;
    for (int32_t i = 0; i < part->count; i++) {
        const Block *b = &s->blocks[list[i]];
        RankedBlock *ranked = &s->ranked[i];
        ranked->block = list[i];
        for (int k = 0; k < 3; k++)
            ranked->key[k] = key_of(s, b, s->order[k]);
        s->work -= b->to - b->from;
    }
    qsort(s->ranked, (size_t)part->count, sizeof(RankedBlock), compare_ranked);
    for (int32_t i = 0; i < part->count; i++) list[i] = s->ranked[i].block;
}

// ---- consequences -----------------------------------------------------------

// True if the block can still be passed over.  Some unplaced block must support
// it at its later offset, and some must be in its way at its ground.  From now
// on nothing is placed below offset.
static bool pass_over(Search *s, int32_t block, int64_t offset)
{
    const Block *b = &s->blocks[block];
    int64_t support = INT64_MAX, in_way = INT64_MAX, top = b->ground + b->size;
    int32_t e = 0;
    for (; e < b->near_count; e++) {
        const Block *other = &s->blocks[s->near[b->near + e]];
        if (other->placed) continue;
        int64_t low = other->low > offset ? other->low : offset;
        if (low < in_way) in_way = low;
        if (low + other->size < support) support = low + other->size;
        if (support <= b->low && in_way < top && b->low > b->ground) break;
    }
    s->work -= e;
    return in_way < top && raise_low(s, block, support);
}

static bool pass_over_all(Search *s, const Part *part, int64_t offset)
{
    for (int32_t i = 0; i < part->count; i++) {
        int32_t block = s->lists[part->list + i];
        const Block *b = &s->blocks[block];
        if (!b->placed && b->low > b->ground && !pass_over(s, block, offset))
            return false;
    }
    return true;
}

// Places the neighbours that have no unplaced neighbour themselves: no other
// position is better.
static bool put_topmost(Search *s, int32_t block)
{
    const Block *b = &s->blocks[block];
    for (int32_t e = 0; e < b->near_count; e++) {
        int32_t other = s->near[b->near + e];
        const Block *o = &s->blocks[other];
        if (o->placed || o->unplaced_near > 0) continue;
        if (o->low > o->ground || !put_block(s, other)) return false;
    }
    return true;
}

// True if a twin of the block was passed over: placing the block here fails for
// the same reason.
static bool twin_failed(const Search *s, int32_t block)
{
    for (int32_t i = s->blocks[block].twin; i != block; i = s->blocks[i].twin)
        if (!s->blocks[i].placed && s->blocks[i].low > s->blocks[i].ground)
            return true;
    return false;
}

static bool place_next(Search *s, const Part *part, int32_t block)
{
    int64_t offset = s->blocks[block].ground;
    bool fits = !twin_failed(s, block) && put_block(s, block) &&
                pass_over_all(s, part, offset) && put_topmost(s, block);
    return check_floors(s) && fits;
}

// ---- the tree ---------------------------------------------------------------

static Verdict search_part(Search *s, const Part *part);

// Returns the next block: the lowest, of equal ones the first.  NONE_LEFT if
// all are placed, NONE_FITS if none may be placed now.
enum { NONE_LEFT = -1, NONE_FITS = -2 };
static int32_t choose(Search *s, const Part *part)
{
    int64_t roof = INT64_MAX, lowest = INT64_MAX;
    int32_t chosen = NONE_LEFT;
    for (int32_t i = 0; i < part->count; i++) {
        int32_t block = s->lists[part->list + i];
        const Block *b = &s->blocks[block];
        if (b->placed) continue;
        if (chosen == NONE_LEFT) chosen = NONE_FITS;
        if (b->ground + b->size < roof) roof = b->ground + b->size;
        if (b->low > b->ground || b->ground >= lowest) continue;
        lowest = b->ground;
        chosen = block;
    }
    s->work -= part->count;
    return lowest < roof || chosen == NONE_LEFT ? chosen : NONE_FITS;
}

// Makes a part of the unplaced blocks in these sections, at the end of the
// lists.
static Part cut_part(Search *s, const Part *whole, int32_t from, int32_t to)
{
    Part part = {.list = s->list_top, .placed_before = s->placed_count,
                 .from = from, .to = to};
    s->lists = arena_grow(s->arena, s->lists, &s->list_capacity,
                          (int64_t)s->list_top + whole->count,
                          sizeof(int32_t));
    for (int32_t i = 0; i < whole->count; i++) {
        int32_t block = s->lists[whole->list + i];
        const Block *b = &s->blocks[block];
        if (b->placed || b->from < from || to < b->to) continue;
        s->lists[s->list_top++] = block;
        part.count++;
    }
    s->work -= whole->count;
    return part;
}

static Verdict search_cut(Search *s, const Part *whole, int32_t from,
                          int32_t to, bool anew)
{
    int32_t top = s->list_top;
    Part part = cut_part(s, whole, from, to);
    if (part.count > 0 && anew) order_part(s, &part);
    Verdict verdict = part.count > 0 ? search_part(s, &part) : FOUND;
    s->list_top = top;
    return verdict;
}

// Searches a part that has not fallen apart.  Makes its list anew when half of
// it is placed.
static Verdict search_whole(Search *s, const Part *part)
{
    int32_t placed = s->placed_count - part->placed_before;
    if (2 * placed <= part->count) return search_part(s, part);
    return search_cut(s, part, part->from, part->to, false);
}

// Searches the rest of a part, in the parts that it has fallen into.
static Verdict search_rest(Search *s, const Part *part)
{
    int32_t from = part->from;
    Verdict verdict = FOUND;
    for (int32_t t = from; t < part->to && verdict == FOUND; t++) {
        if (t + 1 < part->to && s->sections[t].across > 0) continue;
        if (t + 1 == part->to && from == part->from)
            return search_whole(s, part);
        verdict = search_cut(s, part, from, t + 1, true);
        from = t + 1;
    }
    return verdict;
}

static Verdict search_part(Search *s, const Part *part)
{
    Mark before = mark_state(s);
    for (;;) {
        if (s->work < 0 || s->failures < 0 || place_is_late(s->p))
            return STOPPED;
        int32_t block = choose(s, part);
        if (block == NONE_LEFT) return FOUND;
        if (block == NONE_FITS) break;
        int64_t offset = s->blocks[block].ground;
        Mark mark = mark_state(s);
        Verdict verdict = IMPOSSIBLE;
        if (place_next(s, part, block)) verdict = search_rest(s, part);
        if (verdict != IMPOSSIBLE) return verdict;
        s->failures--;
        undo_to(s, mark);
        bool passed = pass_over(s, block, offset);
        if (!check_floors(s) || !passed) break;
    }
    undo_to(s, before);
    return IMPOSSIBLE;
}

Verdict search_tree(Search *s)
{
    Part all = {.count = 0, .to = s->section_count};
    undo_to(s, (Mark){0, 0});
    s->lists = arena_grow(s->arena, s->lists, &s->list_capacity, s->count,
                          sizeof(int32_t));
    for (int32_t i = 0; i < s->count; i++)
        if (!s->blocks[i].placed) s->lists[all.count++] = i;
    s->list_top = all.count;
    return search_cut(s, &all, 0, s->section_count, true);
}
