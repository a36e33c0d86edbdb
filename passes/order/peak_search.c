// The order of the smallest peak, from valley to valley.
//
// What has run is a set; the bytes alive after it, M, follow from the set.  Say
// that from a set S some nodes A can run, through a peak no higher than that of
// a best order, such that M(S + A) <= M(S), and that A is a smallest such: then
// some best order runs A next.  For M is submodular: a class dies with the last
// of its readers, so what A frees only grows with what else has run, and to run
// A earlier makes no later moment fuller.  So the search looks from S for a
// valley through the lowest hill, takes it, and begins anew from there.  Nets
// are narrow between valleys, and long.
//
// The search from S is Dijkstra's, over sets: the lowest hill first, then the
// fewest bytes.  Hills up to `floor`, a peak that every order has, are alike.
// Where the end of the region is fuller than its beginning, as in the forward
// pass, the same is done from the end backwards.  There a node that comes late
// may take from an earlier one the right to write over what both read, so it is
// only known to be best where no earlier one has that right.
//
// All is counted, nothing is timed.  A search that passes its limit takes the
// lowest valley that it has seen; then the order may not be the best.
#include "ready_walk.h"
#include <string.h>

enum {
    MOST_SETS = 1 << 13,        // that one search may see
    TABLE = 4 * MOST_SETS,
    MOST_SHRUNK = 20,           // nodes of a valley that may have too many
    MOST_PARTS = 1 << 9,        // sets of those that are looked at
    MOST_SORTED = 64,           // ready nodes that are worth sorting
};

// A set: nodes from S on.
typedef struct Set {
    int32_t  parent;            // a set with one node less, or NONE: S itself
    NodeId   node;
    int32_t  depth;             // how many these are
    int64_t  hill;              // the most alive on the way here
    int64_t  live;
    uint64_t hash;
} Set;

// Some nodes of a valley: as bits, and as one more than another part.
typedef struct Some {
    uint32_t bits;
    int32_t  parent;
    NodeId   node;
} Some;

typedef struct Search {
    Walk     w;                 // stands at a set of the search
    // The sets of one search: set 0 is S.
    Set     *sets;
    int32_t  set_count, at;     // the one that the walk stands at
    int32_t *heap;
    int32_t  heap_count;
    int32_t *table;             // sets by hash
    NodeId  *path;              // room for the nodes of a valley
    NodeId  *list;              // for those that are ready
    Some    *parts;             // and for parts of a valley
    int64_t  floor;
} Search;

// ---- sets -------------------------------------------------------------------

// Stands at another set: back to what both have in common, and on from there.
static void go_to(Search *s, int32_t set)
{
    int32_t target = set, count = 0;
    while (s->at != set) {
        if (s->sets[s->at].depth >= s->sets[set].depth) {
            walk_put_back(&s->w, s->sets[s->at].node);
            s->at = s->sets[s->at].parent;
        } else {
            s->path[count++] = s->sets[set].node;
            set = s->sets[set].parent;
        }
    }
    while (count > 0) walk_take(&s->w, s->path[--count]);
    s->at = target;
}

// A number of the node, as if at random.
static uint64_t hash_of(NodeId i)
{
    uint64_t x = ((uint64_t)i + 1) * 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

static bool comes_before(const Search *s, int32_t a, int32_t b)
{
    const Set *x = &s->sets[a], *y = &s->sets[b];
    if (x->hill != y->hill) return x->hill < y->hill;
    if (x->live != y->live) return x->live < y->live;
    return a < b;
}

static void push(Search *s, int32_t set)
{
    int32_t k = s->heap_count++;
    for (; k > 0 && comes_before(s, set, s->heap[(k - 1) / 2]); k = (k - 1) / 2)
        s->heap[k] = s->heap[(k - 1) / 2];
    s->heap[k] = set;
}

static int32_t pop(Search *s)
{
    int32_t top = s->heap[0], moved = s->heap[--s->heap_count], k = 0;
    for (;;) {
        int32_t child = 2 * k + 1;
        if (child >= s->heap_count) break;
        if (child + 1 < s->heap_count &&
            comes_before(s, s->heap[child + 1], s->heap[child]))
            child++;
        if (!comes_before(s, s->heap[child], moved)) break;
        s->heap[k] = s->heap[child];
        k = child;
    }
    s->heap[k] = moved;
    return top;
}

// The number of a set that is new, or NONE where one like it was seen with a
// hill that is no higher.
static int32_t add_set(Search *s, Set set)
{
    uint64_t at = set.hash % TABLE;
    for (; s->table[at] != NONE; at = (at + 1) % TABLE) {
        const Set *seen = &s->sets[s->table[at]];
        if (seen->hash == set.hash && seen->hill <= set.hill) return NONE;
    }
    s->table[at] = s->set_count;
    s->sets[s->set_count] = set;
    return s->set_count++;
}

static void begin_sets(Search *s)
{
    // Only what the search before has used is cleared.
    for (int32_t i = 0; i < s->set_count; i++) {
        uint64_t at = s->sets[i].hash % TABLE;
        for (; s->table[at] != NONE; at = (at + 1) % TABLE) s->table[at] = NONE;
    }
    s->set_count = s->heap_count = s->at = 0;
    push(s, add_set(s, (Set){ .parent = NONE, .node = NONE, .hill = s->floor,
                              .live = s->w.l.live }));
}

// ---- a valley ---------------------------------------------------------------

// The set with one node more; found where it is a valley that no other can
// have a lower hill than.
static void try_node(Search *s, int32_t from, NodeId i, int32_t *found)
{
    Set set = { .parent = from, .node = i, .depth = s->sets[from].depth + 1,
                .hill = s->sets[from].hill,
                .hash = s->sets[from].hash ^ hash_of(i) };
    int64_t within = walk_look(&s->w, i, &set.live);
    if (within > set.hill) set.hill = within;
    int32_t number = add_set(s, set);
    if (number == NONE) return;
    push(s, number);
    bool lowest = set.live <= s->sets[0].live && set.hill == s->floor;
    if (lowest && (*found == NONE || comes_before(s, number, *found)))
        *found = number;
}

// Ready nodes, if not too many in order of their numbers, so that equal ones
// come as they were written.
static int32_t list_ready(const Search *s)
{
    NodeId *list = s->list;
    bool sorts = s->w.ready_count <= MOST_SORTED;
    for (int32_t i = 0; i < s->w.ready_count; i++) {
        NodeId node = s->w.ready[i];
        int32_t k = i;
        for (; sorts && k > 0 && list[k - 1] > node; k--) list[k] = list[k - 1];
        list[k] = node;
    }
    return s->w.ready_count;
}

// The valley with the lowest hill; *exact becomes false where the search ended
// before it could tell.
static int32_t find_valley(Search *s, bool *exact)
{
    int32_t lowest = NONE;
    begin_sets(s);
    while (s->heap_count > 0) {
        int32_t set = pop(s), found = NONE;
        bool first = s->sets[set].parent == NONE;
        if (!first && s->sets[set].live <= s->sets[0].live) return set;
        if (!first && (lowest == NONE ||
                       s->sets[set].live < s->sets[lowest].live))
            lowest = set;
        go_to(s, set);
        int32_t count = list_ready(s);
        if (s->set_count + count > MOST_SETS) break;
        for (int32_t i = 0; i < count; i++)
            try_node(s, set, s->list[i], &found);
        if (found != NONE) return found;
    }
    *exact = false;
    return lowest;
}

// ---- the smallest part of a valley ------------------------------------------

static bool has_part(const Search *s, int32_t count, uint32_t bits)
{
    while (count > 0)
        if (s->parts[--count].bits == bits) return true;
    return false;
}

// Adds the parts with one node more that stay under the hill, from part `at`,
// which the search stands at.  Returns whether the last of them is a valley.
static bool widen_part(Search *s, int32_t at, int32_t nodes, int64_t hill,
                       int32_t *count)
{
    for (int32_t i = 0; i < nodes; i++) {
        NodeId node = s->path[i];
        Some more = { s->parts[at].bits | (uint32_t)1 << i, at, node };
        if (more.bits == s->parts[at].bits || s->w.waits[node] != 0) continue;
        int64_t live, within = walk_look(&s->w, node, &live);
        bool valley = live <= s->sets[0].live;
        if (within > hill || has_part(s, *count, more.bits)) continue;
        if (*count == MOST_PARTS) return false;
        s->parts[(*count)++] = more;
        if (valley) return true;
    }
    return false;
}

// Of a valley's nodes in path, the fewest that are a valley under the same
// hill: the others may only have been on the way.  Sets of few nodes are looked
// at first; each is bits of path.  Returns how many are left, in the order in
// which they stay under the hill, or 0 where there were too many to tell.
static int32_t shrink(Search *s, int32_t nodes, int64_t hill)
{
    int32_t count = 1;
    if (nodes > MOST_SHRUNK) return 0;
    s->parts[0] = (Some){ .parent = NONE };
    for (int32_t at = 0; at < count && count < MOST_PARTS; at++) {
        uint32_t bits = s->parts[at].bits;
        for (int32_t i = 0; i < nodes; i++)
            if (bits >> i & 1) walk_take(&s->w, s->path[i]);
        bool found = widen_part(s, at, nodes, hill, &count);
        for (int32_t i = nodes; i-- > 0;)
            if (bits >> i & 1) walk_put_back(&s->w, s->path[i]);
        if (!found) continue;
        int32_t kept = 0;
        for (int32_t k = count - 1; k > 0; k = s->parts[k].parent) kept++;
        for (int32_t k = count - 1, i = kept; k > 0; k = s->parts[k].parent)
            s->path[--i] = s->parts[k].node;
        return kept;
    }
    return 0;
}

// ---- the region -------------------------------------------------------------

// Puts the nodes of the next valley into path; left is how many the region has.
// Returns how many they are; 0: the search could not begin.
static int32_t next_valley(Search *s, int32_t left, bool *exact)
{
    int32_t set = find_valley(s, exact);
    go_to(s, 0);
    if (set == NONE) return 0;
    int32_t count = s->sets[set].depth;
    int64_t hill = s->sets[set].hill;
    for (int32_t k = set; k != 0; k = s->sets[k].parent)
        s->path[s->sets[k].depth - 1] = s->sets[k].node;
    bool valley = s->sets[set].live <= s->sets[0].live;
    // What is all that is left has nothing too many.
    if (valley && count > 1 && count < left) {
        int32_t fewer = shrink(s, count, hill);
        if (fewer == 0) *exact = false;
        else count = fewer;
    }
    if (hill > s->floor) s->floor = hill;
    return count;
}

static Search new_search(const Lives *start, const Dependences *d,
                         Region region, bool backward, const NodeId *order)
{
    Arena *arena = start->g->arena;
    size_t count = (size_t)start->g->node_count;
    Search s = { .w = walk_new(start, d, region, backward, order) };
    s.path = NEW_ARRAY(arena, count, NodeId);
    s.list = NEW_ARRAY(arena, count, NodeId);
    s.sets = NEW_ARRAY(arena, MOST_SETS + 1, Set);
    s.heap = NEW_ARRAY(arena, MOST_SETS + 1, int32_t);
    s.table = NEW_ARRAY(arena, TABLE, int32_t);
    s.parts = NEW_ARRAY(arena, MOST_PARTS, Some);
    for (int32_t i = 0; i < TABLE; i++) s.table[i] = NONE;
    return s;
}

// Takes the nodes of a valley for good.  Returns whether they are known to
// belong there.
static bool settle(Search *s, Search *other, int32_t count)
{
    bool known = true;
    for (int32_t i = 0; i < count; i++)
        walk_settle(&s->w, &other->w, s->path[i]);
    for (int32_t i = 0; i < count && s->w.backward; i++)
        known &= !walk_reads_writable(&s->w, s->path[i]);
    return known;
}

// The nodes that neither side has taken keep the order they were given in.
static void keep_rest(const bool *taken, Region all, Region left,
                      const NodeId *given, NodeId *order)
{
    for (NodeId i = all.start; i < all.end; i++)
        if (!taken[given[i]]) order[left.start++] = given[i];
}

bool best_order(const Lives *start, const Dependences *d, Region region,
                int64_t floor, int64_t *work, NodeId *order)
{
    Search low = new_search(start, d, region, false, order);
    Search high = new_search(start, d, region, true, order);
    Region left = region;
    bool exact = true;
    size_t count = (size_t)start->g->node_count;
    bool *taken = NEW_ARRAY(start->g->arena, count, bool);
    NodeId *given = NEW_ARRAY(start->g->arena, count, NodeId);
    memcpy(given, order, count * sizeof(NodeId));
    while (left.start < left.end && low.w.work + high.w.work < *work) {
        bool up = high.w.l.live > low.w.l.live;
        Search *s = up ? &high : &low;
        s->floor = floor;
        int32_t nodes = next_valley(s, left.end - left.start, &exact);
        if (nodes == 0) break;
        floor = s->floor;
        exact &= settle(s, up ? &low : &high, nodes);
        for (int32_t i = 0; i < nodes; i++) {
            taken[s->path[i]] = true;
            order[up ? --left.end : left.start++] = s->path[i];
        }
    }
    exact &= left.start == left.end;
    keep_rest(taken, region, left, given, order);
    *work -= low.w.work + high.w.work;
    return exact;
}
