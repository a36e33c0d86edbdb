#include <string.h>
#include "brute_chain.h"

typedef enum Map { ABSENT, LOOSE, KEPT } Map;

// All that is stored at some time.
typedef struct Stored {
    unsigned char map[MOST_STAGES];     // of each stage, a Map
    unsigned char way[MOST_STAGES];     // that it has run in, plus 1, or 0
    int           next;                 // the gradient of its map is there
} Stored;

// Not of a schedule: frees a map, or the values that a way has kept.
enum { FREE_MAP = CHAIN_BACK + 1, FREE_WAY, RUN_COUNT };

static const ChainWay *way_of(const Chain *c, const Stored *s, int stage)
{
    if (stage < 0 || s->way[stage] == 0) return NULL;
    return &c->stages[stage].ways[s->way[stage] - 1];
}

static int64_t bytes_of(const Chain *c, const Stored *s)
{
    int64_t bytes = s->next < 0 ? 0 : c->stages[s->next].gradient;
    for (int i = 0; i < c->count; i++) {
        const ChainWay *way = way_of(c, s, i);
        if (s->map[i] != ABSENT) bytes += c->stages[i].output;
        if (way != NULL) bytes += way->kept;
    }
    return bytes;
}

// The bytes while something runs: its own bytes have been taken out of the
// stored ones, except its input.
static int64_t bytes_in(const Chain *c, const Stored *others, int input,
                        bool ends, const ChainPeak *peak)
{
    Stored rest = *others;
    if (!ends) return bytes_of(c, &rest) + peak->held;
    rest.map[input] = ABSENT;
    return bytes_of(c, &rest) + peak->last;
}

static bool later_is_stored(const Chain *c, const Stored *s, int stage)
{
    for (int i = stage; i < c->count; i++)
        if (s->map[i] != ABSENT || s->way[i] != 0) return true;
    return false;
}

static bool run_forward(const Chain *c, Stored *s, const ChainOp *op,
                        BruteRules rules, int64_t *cost, int64_t *bytes)
{
    int i = op->stage, input = i - 1;
    const ChainStage *stage = &c->stages[i];
    const ChainWay *before = way_of(c, s, input);
    bool is_lent = i == 0 || (before != NULL && before->reads_output);
    if (i >= s->next || s->map[i] != ABSENT) return false;
    if ((rules & FINISHES_LAST) && later_is_stored(c, s, i)) return false;
    if (s->way[i] != 0 && ((rules & KEEPS) || op->run == CHAIN_WAY))
        return false;
    if (i > 0 && s->map[input] == ABSENT) return false;

    if (op->run == CHAIN_WAY) {
        const ChainWay *way = &stage->ways[op->way];
        bool ends = !way->reads_input && !is_lent;
        *cost = way->forward;
        *bytes = bytes_in(c, s, input, ends, &way->in_forward);
        if (ends) s->map[input] = ABSENT;
        else if (i > 0) s->map[input] = KEPT;
        s->way[i] = (unsigned char)(op->way + 1);
    } else {
        bool ends = op->run == CHAIN_DROP;
        if (ends && is_lent) return false;
        if (ends && (rules & KEEPS) && s->map[input] == KEPT) return false;
        *cost = stage->cost;
        *bytes = bytes_in(c, s, input, ends, &stage->peak);
        if (i > 0) s->map[input] = ends ? ABSENT : KEPT;
    }
    s->map[i] = LOOSE;
    return true;
}

static bool run_backward(const Chain *c, Stored *s, const ChainOp *op,
                         int64_t *cost, int64_t *bytes)
{
    int i = op->stage, input = i - 1;
    const ChainWay *way = way_of(c, s, i), *before = way_of(c, s, input);
    bool turns = op->run == CHAIN_TURN;
    bool reads = turns || way == NULL || way->reads_input;
    const ChainTurn *turn = turns ? &c->stages[i].turns[op->way] : NULL;
    if (i != s->next || turns != (way == NULL)) return false;
    if (!turns && op->way != s->way[i] - 1) return false;
    if (reads && i > 0 && s->map[input] == ABSENT) return false;
    if (!turns && way->reads_output && s->map[i] == ABSENT) return false;

    bool ends = reads && i > 0 && (before == NULL || !before->reads_output);
    if (!turns && way->reads_output) s->map[i] = ABSENT;
    s->way[i] = 0;
    s->next = -1;               // no gradient: the run counts both
    *cost = turns ? turn->cost : way->backward;
    *bytes = bytes_in(c, s, input, ends, turns ? &turn->peak
                                               : &way->in_backward);
    s->map[i] = ABSENT;
    if (ends) s->map[input] = ABSENT;
    s->next = i - 1;
    return true;
}

static bool run(const Chain *c, Stored *s, const ChainOp *op, BruteRules rules,
                int64_t *cost, int64_t *bytes)
{
    if (op->run <= CHAIN_WAY)
        return run_forward(c, s, op, rules, cost, bytes);
    if (op->run <= CHAIN_BACK) return run_backward(c, s, op, cost, bytes);
    // Where schedules need not keep.  A map may be lent: then values kept with
    // it are useless, and the search finds that.
    unsigned char *what = (int)op->run == FREE_MAP ? &s->map[op->stage]
                                                   : &s->way[op->stage];
    if ((rules & KEEPS) || *what == 0) return false;
    *what = 0;
    *cost = 0;
    *bytes = 0;
    return true;
}

static Stored at_first(const Chain *c)
{
    return (Stored){.next = c->count - 1};
}

bool brute_walk(const Chain *c, const ChainSchedule *p, BruteRules rules,
                int64_t *cost, int64_t *peak)
{
    Stored s = at_first(c);
    *cost = 0;
    *peak = bytes_of(c, &s);
    for (int k = 0; k < p->count; k++) {
        int64_t own, bytes;
        if (!run(c, &s, &p->ops[k], rules, &own, &bytes)) return false;
        *cost += own;
        if (bytes > *peak) *peak = bytes;
        if (bytes_of(c, &s) > *peak) *peak = bytes_of(c, &s);
    }
    return s.next == -1;
}

// ---- the shortest path ------------------------------------------------------

typedef struct Reached {
    uint64_t key;               // plus 1; 0: none
    int64_t  length;
    bool     is_done;
} Reached;

typedef struct Waiting {
    int64_t length;
    Stored  stored;
} Waiting;

typedef struct Path {
    Arena   *arena;
    Reached *reached;           // a table of `room` places, a power of two
    int64_t  room, count;
    Waiting *heap;
    int32_t  waiting, heap_room;
} Path;

static uint64_t key_of(const Stored *s)
{
    uint64_t key = (uint64_t)(s->next + 1);
    for (int i = 0; i < MOST_STAGES; i++)
        key = key << 4 | (uint64_t)(s->map[i] << 2 | s->way[i]);
    return key + 1;
}

static Reached *find(Path *p, uint64_t key)
{
    uint64_t at = key * 0x9e3779b97f4a7c15u >> 20;
    for (;; at++) {
        Reached *r = &p->reached[at & (uint64_t)(p->room - 1)];
        if (r->key == key || r->key == 0) return r;
    }
}

static void make_room(Path *p)
{
    if (2 * (p->count + 1) < p->room) return;
    Reached *old = p->reached;
    int64_t room = p->room;
    p->room = room == 0 ? 1024 : 4 * room;
    p->reached = NEW_ARRAY(p->arena, p->room, Reached);
    for (int64_t i = 0; i < room; i++)
        if (old[i].key != 0) *find(p, old[i].key) = old[i];
}

static void swap(Waiting *a, Waiting *b)
{
    Waiting other = *a;
    *a = *b;
    *b = other;
}

static void reach(Path *p, const Stored *s, int64_t length)
{
    make_room(p);
    Reached *r = find(p, key_of(s));
    if (r->key != 0 && r->length <= length) return;
    p->count += r->key == 0;
    *r = (Reached){.key = key_of(s), .length = length};
    p->heap = arena_grow(p->arena, p->heap, &p->heap_room, p->waiting + 1,
                         sizeof(Waiting));
    int32_t at = p->waiting++;
    p->heap[at] = (Waiting){length, *s};
    for (; at > 0 && p->heap[at].length < p->heap[(at - 1) / 2].length;
         at = (at - 1) / 2)
        swap(&p->heap[at], &p->heap[(at - 1) / 2]);
}

static Waiting nearest(Path *p)
{
    Waiting first = p->heap[0];
    p->heap[0] = p->heap[--p->waiting];
    for (int32_t at = 0, to;; at = to) {
        to = 2 * at + 1;
        if (to >= p->waiting) break;
        if (to + 1 < p->waiting && p->heap[to + 1].length < p->heap[to].length)
            to++;
        if (p->heap[at].length <= p->heap[to].length) break;
        swap(&p->heap[at], &p->heap[to]);
    }
    return first;
}

// All runs from one place: their costs add up, or the largest bytes count.
static void spread(Path *p, const Chain *c, const Waiting *from,
                   int64_t capacity, BruteRules rules, bool counts_bytes)
{
    for (int run_as = 0; run_as < RUN_COUNT; run_as++)
        for (int i = 0; i < c->count; i++) {
            int ways = run_as == CHAIN_TURN ? c->stages[i].turn_count
                     : run_as == CHAIN_WAY || run_as == CHAIN_BACK
                         ? c->stages[i].way_count : 1;
            for (int j = 0; j < ways; j++) {
                Stored s = from->stored;
                ChainOp op = {(ChainRun)run_as, i, j};
                int64_t cost, bytes;
                if (!run(c, &s, &op, rules, &cost, &bytes)) continue;
                if (bytes_of(c, &s) > bytes) bytes = bytes_of(c, &s);
                if (bytes > capacity) continue;
                if (counts_bytes && bytes < from->length) bytes = from->length;
                reach(p, &s, counts_bytes ? bytes : from->length + cost);
            }
        }
}

static int64_t shortest(Arena *arena, const Chain *c, int64_t capacity,
                        BruteRules rules, bool counts_bytes)
{
    Path p = {.arena = arena};
    Stored first = at_first(c);
    int64_t bytes = bytes_of(c, &first);
    if (bytes > capacity) return INT64_MAX;
    reach(&p, &first, counts_bytes ? bytes : 0);
    while (p.waiting > 0) {
        Waiting w = nearest(&p);
        Reached *r = find(&p, key_of(&w.stored));
        if (r->is_done) continue;
        r->is_done = true;
        if (w.stored.next == -1) return w.length;
        spread(&p, c, &w, capacity, rules, counts_bytes);
    }
    return INT64_MAX;
}

int64_t brute_cost(Arena *arena, const Chain *c, int64_t capacity,
                   BruteRules rules)
{
    return shortest(arena, c, capacity, rules, false);
}

int64_t brute_least(Arena *arena, const Chain *c, BruteRules rules)
{
    return shortest(arena, c, INT64_MAX, rules, true);
}
