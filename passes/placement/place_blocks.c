// State of the exact search: blocks, sections, and a trail for backtracking.
#include "place_search.h"

// ---- sections ---------------------------------------------------------------

// Returns the number of sections that end before each step.  A section ends at
// the first death after a birth.  Then any two blocks that are ever alive
// together share a section, and no section's blocks are a subset of another's.
static int32_t *count_sections(const Placing *p)
{
    bool *begins = NEW_ARRAY(p->arena, p->steps, bool);
    bool *ends = NEW_ARRAY(p->arena, p->steps, bool);
    int32_t *ended = NEW_ARRAY(p->arena, (size_t)p->steps + 1, int32_t);
    for (int32_t i = 0; i < p->count; i++) {
        if (p->items[i].size == 0) continue;
        begins[p->items[i].first] = true;
        ends[p->items[i].last] = true;
    }
    bool begun = false;
    for (int32_t step = 0; step < p->steps; step++) {
        begun |= begins[step];
        ended[step + 1] = ended[step] + (begun && ends[step]);
        if (ends[step]) begun = false;
    }
    return ended;
}

static void fill_sections(Search *s)
{
    int32_t total = 0;
    for (int32_t i = 0; i < s->count; i++) {
        Block *b = &s->blocks[i];
        if (b->placed) b->to = b->from;
        for (int32_t t = s->blocks[i].from; t < s->blocks[i].to; t++) {
            Section *section = &s->sections[t];
            section->in_count++;
            section->need += s->blocks[i].size;
            section->across += t + 1 < s->blocks[i].to;
            total++;
        }
    }
    s->in = NEW_ARRAY(s->arena, total, int32_t);
    for (int32_t t = 0, at = 0; t < s->section_count; t++) {
        s->sections[t].in = at;
        at += s->sections[t].in_count;
        s->sections[t].in_count = 0;
    }
    for (int32_t i = 0; i < s->count; i++)
        for (int32_t t = s->blocks[i].from; t < s->blocks[i].to; t++) {
            Section *section = &s->sections[t];
            s->in[section->in + section->in_count++] = i;
        }
}

// ---- neighbours -------------------------------------------------------------

static bool lives_with(const Block *a, const Block *b)
{
    return a->from < b->to && b->from < a->to && a->size > 0 && b->size > 0;
}

static bool is_twin(const Block *a, const Block *b)
{
    return a->from == b->from && a->to == b->to && a->size == b->size;
}

static void find_neighbours(Search *s)
{
    int32_t capacity = 0, total = 0;
    for (int32_t i = 0; i < s->count; i++) {
        Block *a = &s->blocks[i];
        a->near = total;
        a->twin = i;
        for (int32_t j = 0; j < s->count; j++) {
            if (j == i || !lives_with(a, &s->blocks[j])) continue;
            s->near = arena_grow(s->arena, s->near, &capacity, total + 1,
                                 sizeof(int32_t));
            s->near[total++] = j;
            if (j > i || a->twin != i || !is_twin(a, &s->blocks[j])) continue;
            a->twin = s->blocks[j].twin;
            s->blocks[j].twin = i;
        }
        a->near_count = a->unplaced_near = total - a->near;
    }
}

// Makes a block of an item, or stacks it on a block of equal lifetime.
static void add_item(Search *s, int32_t item, Block block)
{
    int32_t k = s->is_joined && !block.placed ? 0 : s->count;
    while (k < s->count && (s->blocks[k].from != block.from ||
                            s->blocks[k].to != block.to || s->blocks[k].placed))
        k++;
    s->block_of[item] = k;
    s->within[item] = k < s->count ? s->blocks[k].size : 0;
    if (k < s->count) s->blocks[k].size += block.size;
    else s->blocks[s->count++] = block;
}

Search *new_search(Placing *p, bool joined)
{
    Search *s = NEW(p->arena, Search);
    *s = (Search){.arena = p->arena, .p = p, .is_joined = joined,
                  .blocks = NEW_ARRAY(p->arena, p->count, Block),
                  .block_of = NEW_ARRAY(p->arena, p->count, int32_t),
                  .within = NEW_ARRAY(p->arena, p->count, int64_t),
                  .placed = NEW_ARRAY(p->arena, p->count, int32_t),
                  .ranked = NEW_ARRAY(p->arena, p->count, RankedBlock)};
    int32_t *ended = count_sections(p);
    s->section_count = ended[p->steps];
    s->sections = NEW_ARRAY(p->arena, s->section_count, Section);
    s->changed = NEW_ARRAY(p->arena, s->section_count, int32_t);
    for (int32_t i = 0; i < p->count; i++) {
        const Item *item = &p->items[i];
        add_item(s, i, (Block){.size = item->size,
                               .lifetime = item_lifetime(item),
                               .from = ended[item->first],
                               .to = ended[item->last + 1],
                               .placed = item->size == 0});
    }
    fill_sections(s);
    find_neighbours(s);
    return s;
}

// ---- placing a block --------------------------------------------------------

static void note_change(Search *s, int32_t t)
{
    if (s->sections[t].changed) return;
    s->sections[t].changed = true;
    s->changed[s->changed_count++] = t;
}

static void set(Search *s, int64_t *where, int64_t value)
{
    s->trail = arena_grow(s->arena, s->trail, &s->trail_capacity,
                          (int64_t)s->trail_count + 1, sizeof(Undo));
    s->trail[s->trail_count++] = (Undo){where, *where};
    *where = value;
}

bool raise_low(Search *s, int32_t block, int64_t to)
{
    Block *b = &s->blocks[block];
    if (b->low >= to) return true;
    set(s, &b->low, to);
    s->work -= b->to - b->from;
    for (int32_t t = b->from; t < b->to; t++) note_change(s, t);
    return to + b->size <= s->capacity;
}

bool put_block(Search *s, int32_t block)
{
    Block *b = &s->blocks[block];
    int64_t top = b->ground + b->size;
    bool fits = true;
    b->placed = true;
    b->offset = b->ground;
    s->placed[s->placed_count++] = block;
    s->work -= b->to - b->from;
    for (int32_t t = b->from; t < b->to; t++) {
        s->sections[t].need -= b->size;
        s->sections[t].across -= t + 1 < b->to;
        note_change(s, t);
    }
    s->work -= b->near_count;
    for (int32_t e = 0; e < b->near_count; e++) {
        Block *other = &s->blocks[s->near[b->near + e]];
        other->unplaced_near--;
        if (other->placed || other->ground >= top) continue;
        set(s, &other->ground, top);
        fits = fits && raise_low(s, s->near[b->near + e], top);
    }
    return fits;
}

// True if the unplaced blocks of a section may still fit.  They end at or above
// the lowest `low` among them plus the sum of their sizes.  Moves the first
// block with a sufficient `low` to the front, for the next check.
static bool floor_fits(Search *s, const Section *section)
{
    int32_t *in = s->in + section->in;
    int64_t most = s->capacity - section->need;
    s->work--;
    if (section->need == 0) return true;
    for (int32_t e = 0; e < section->in_count; e++) {
        int32_t block = in[e];
        if (s->blocks[block].placed || s->blocks[block].low > most) continue;
        in[e] = in[0];
        in[0] = block;
        s->work -= e;
        return true;
    }
    s->work -= section->in_count;
    return false;
}

bool check_floors(Search *s)
{
    bool fits = true;
    for (int32_t i = 0; i < s->changed_count; i++) {
        Section *section = &s->sections[s->changed[i]];
        section->changed = false;
        if (!fits) continue;
        fits = floor_fits(s, section);
    }
    s->changed_count = 0;
    return fits;
}

// ---- backtracking -----------------------------------------------------------

Mark mark_state(const Search *s)
{
    return (Mark){s->placed_count, s->trail_count};
}

static void take_back(Search *s)
{
    Block *b = &s->blocks[s->placed[--s->placed_count]];
    b->placed = false;
    for (int32_t e = 0; e < b->near_count; e++)
        s->blocks[s->near[b->near + e]].unplaced_near++;
    for (int32_t t = b->from; t < b->to; t++) {
        s->sections[t].need += b->size;
        s->sections[t].across += t + 1 < b->to;
    }
}

void undo_to(Search *s, Mark mark)
{
    while (s->placed_count > mark.placed) take_back(s);
    while (s->trail_count > mark.trail) {
        s->trail_count--;
        *s->trail[s->trail_count].where = s->trail[s->trail_count].value;
    }
}
