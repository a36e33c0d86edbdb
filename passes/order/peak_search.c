// Finds the order with the smallest peak, from valley to valley.
//
// The state is the set of nodes that have run; it determines M, the live bytes
// after them.  Suppose that nodes A can run from set S, through a peak no
// higher than that of a best order, with M(S + A) <= M(S), and that no smaller
// set does.  Then some best order runs A next.  The reason is that M is
// submodular.  A class dies with its last reader, so the bytes that A frees
// only grow with the set that has run.  Running A earlier raises no later
// state.  So the search looks from S for a valley over the lowest hill, takes
// it, and starts anew from there.  Nets are narrow between valleys, and long.
//
// The search from S is Dijkstra's over sets: the lowest hill first, then the
// fewest bytes.  Hills up to `floor`, a lower bound of every peak, count as
// equal.  If the end of the region is fuller than its start, as in the forward
// pass, the search runs backward from the end.  There a late node may take from
// an earlier one the right to overwrite a common operand.  So its place is
// proved only if no earlier node has that right.
//
// Work is counted, not timed.  A search that exceeds its limit takes the lowest
// valley that it has seen; the order may then not be the best.
#include "../../ir/base/splitmix.h"
#include "ready_walk.h"
#include <string.h>

enum {
    MOST_SETS = 1 << 13,        // limit of one search
    TABLE = 4 * MOST_SETS,
    MOST_SHRUNK = 20,           // nodes of a valley that is shrunk
    MOST_PARTS = 1 << 9,        // sets tried to shrink it
    MOST_SORTED = 64,           // ready nodes that are sorted
};

// A set: the nodes that have run since S.
typedef struct Set {
    int32_t  parent;            // the set without `node`, or NONE: S itself
    NodeId   node;
    int32_t  depth;             // its number of nodes
    int64_t  hill;              // the peak on the way here
    int64_t  live;
    uint64_t hash;
} Set;

// A part of a valley: its nodes as bits, and another part plus one node.
typedef struct Some {
    uint32_t bits;
    int32_t  parent;
    NodeId   node;
} Some;

typedef struct Search {
    Walk     w;                 // at a set of the search
    // The sets of one search: set 0 is S.
    Set     *sets;
    int32_t  set_count, at;     // at: the set of the walk
    int32_t *heap;
    int32_t  heap_count;
    int32_t *table;             // sets by hash
    NodeId  *path;              // scratch for the nodes of a valley
    NodeId  *list;              // for ready nodes
    Some    *parts;             // for parts of a valley
    int64_t  floor;
} Search;

// ---- sets -------------------------------------------------------------------

// Moves the walk to another set: back to their common ancestor and on from
// there.
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

// Returns a pseudo-random number of the node.
static uint64_t hash_of(NodeId i)
{
    uint64_t state = (uint64_t)i * 0x9E3779B97F4A7C15u;
    return splitmix64(&state);
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

// Adds a set and returns its number, or NONE if an equal one with no higher
// hill exists.
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
    // Clears only the entries that the previous search used.
    for (int32_t i = 0; i < s->set_count; i++) {
        uint64_t at = s->sets[i].hash % TABLE;
        for (; s->table[at] != NONE; at = (at + 1) % TABLE) s->table[at] = NONE;
    }
    s->set_count = s->heap_count = s->at = 0;
    push(s, add_set(s, (Set){ .parent = NONE, .node = NONE, .hill = s->floor,
                              .live = s->w.l.live }));
}

// ---- a valley ---------------------------------------------------------------

// Adds the set with one node more.  Sets *found if it is a valley with the
// lowest possible hill.
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

// Lists ready nodes.  A short list is sorted by number, so that equal nodes
// stay in source order.
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

// Returns the valley with the lowest hill; sets *exact to false if the search
// ended before it was known.
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

// Adds the parts with one node more than part `at`, the walk's position, that
// stay under the hill.  Returns true if the last of them is a valley.
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

// Shrinks a valley, in path, to the fewest nodes that are a valley under the
// same hill.  The others may only have been on the way.  Sets of few nodes are
// tried first, as bits of path.  Returns their number, in an order that stays
// under the hill, or 0 if there were too many sets.
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

// Sets path to the nodes of the next valley and returns their number; 0: the
// search could not start.  left: the number of nodes in the region.
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
    // A valley of all remaining nodes is not shrunk.
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

// Takes the nodes of a valley for good.  Returns true if their place is proved.
static bool settle(Search *s, Search *other, int32_t count)
{
    bool known = true;
    for (int32_t i = 0; i < count; i++)
        walk_settle(&s->w, &other->w, s->path[i]);
    for (int32_t i = 0; i < count && s->w.backward; i++)
        known &= !walk_reads_writable(&s->w, s->path[i]);
    return known;
}

// Keeps the nodes that neither side has taken in their given order.
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
