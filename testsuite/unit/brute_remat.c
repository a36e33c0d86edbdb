// All states of a training step between two launches, the cheapest first. A
// state has the values that are there, the parts of those that are not whole,
// and the next step. A value may be dropped at any time.
#include "brute_remat.h"
#include <string.h>

enum { MOST_VALUES = 20, MOST_COST = 1 << 13, BUCKETS = 1 << 12 };

typedef struct State {
    uint32_t values;            // that are whole
    uint64_t parts;             // of Remat.make, of those that are not
    uint32_t dead;              // of these values: nobody will read this life
    int32_t  next;              // the base's next step
    int64_t  cost;
    int32_t  from, step;        // the state before; the last step, or -1
    int32_t  by_key, by_cost;   // the next in a list
    bool     done;
} State;

typedef struct Brute {
    const Remat *r;
    Arena   *arena;
    int64_t  capacity;
    State   *states;
    int32_t  count, states_capacity;
    int32_t  by_key[BUCKETS], by_cost[MOST_COST];
} Brute;

// The parts of value v, as bits.
static uint64_t parts_of(const Remat *r, int32_t v)
{
    uint64_t parts = 0;
    for (int32_t k = 0; k < r->makes[r->step_count]; k++)
        if (r->make[k] == v) parts |= (uint64_t)1 << k;
    return parts;
}

static uint32_t key_of(const State *s)
{
    uint64_t sum = s->values * 31u + s->parts * 77u + s->dead * 5u +
                   (uint32_t)s->next;
    return (uint32_t)(sum * 0x9e3779b97f4a7c15u >> 52);
}

static bool is_same(const State *a, const State *b)
{
    return a->values == b->values && a->parts == b->parts &&
           a->dead == b->dead && a->next == b->next;
}

static void reach(Brute *b, State s)
{
    int32_t *at = &b->by_key[key_of(&s)];
    if (s.cost >= MOST_COST) return;
    for (int32_t i = *at; i >= 0; i = b->states[i].by_key) {
        const State *other = &b->states[i];
        if (is_same(other, &s) && other->cost <= s.cost) return;
    }
    b->states = arena_grow(b->arena, b->states, &b->states_capacity,
                           (int64_t)b->count + 1, sizeof s);
    s.done = false;
    s.by_key = *at;
    s.by_cost = b->by_cost[s.cost];
    b->states[b->count] = s;
    *at = b->by_cost[s.cost] = b->count++;
}

// ---- one step ---------------------------------------------------------------

static int64_t bytes_alive(const Remat *r, const State *s)
{
    int64_t bytes = 0;
    for (int32_t v = 0; v < r->value_count; v++) {
        if (s->values >> v & 1) bytes += r->bytes[v];
        if (s->parts & parts_of(r, v) && !(s->dead >> v & 1))
            bytes += r->bytes[v];
    }
    return bytes;
}

// The bytes that the new value v saves by overwriting a dying value.
static int64_t saved(const Remat *r, int32_t step, int32_t v, uint32_t *dying)
{
    for (int32_t k = r->overs[step]; k < r->overs[step + 1]; k++) {
        int32_t under = r->over[k].value;
        if (r->over[k].result != v || !(*dying >> under & 1)) continue;
        *dying &= ~(1u << under);
        return r->bytes[under] < r->bytes[v] ? r->bytes[under] : r->bytes[v];
    }
    return 0;
}

// A part of value v is made; returns the bytes that takes.
static int64_t make_part(const Remat *r, State *s, int32_t k, uint32_t *dying,
                         int32_t step)
{
    int32_t v = r->make[k];
    uint64_t part = (uint64_t)1 << k, all = parts_of(r, v);
    uint32_t bit = 1u << v;
    int64_t bytes = s->dead & bit ? r->bytes[v] : 0;
    if (s->parts & part || !(s->parts & all)) {
        // A new life.
        bytes = r->bytes[v] - saved(r, step, v, dying);
        if (s->parts & all && !(s->dead & bit)) bytes -= r->bytes[v];
        s->parts &= ~all;
        s->dead &= ~bit;
    }
    s->parts |= part;
    if ((s->parts & all) != all) return bytes;
    if (!(s->dead & bit))
        s->values |= bit;
    else if (!r->kept[v])
        s->values &= ~bit;
    s->parts &= ~all;
    s->dead &= ~bit;
    return bytes;
}

// Runs a step after which some of its operands are dropped.
static void run_step(Brute *b, State s, int32_t from, int32_t step,
                     uint32_t dying)
{
    const Remat *r = b->r;
    int64_t bytes = bytes_alive(r, &s);
    s.values &= ~dying;
    for (int32_t k = r->makes[step]; k < r->makes[step + 1]; k++)
        bytes += make_part(r, &s, k, &dying, step);
    if (bytes > b->capacity) return;
    s.next += step == s.next;
    s.cost += r->cost[step];
    s.from = from;
    s.step = step;
    reach(b, s);
}

static void try_step(Brute *b, int32_t from, int32_t step)
{
    const Remat *r = b->r;
    State s = b->states[from];
    uint32_t may_die = 0, dying = 0;
    for (int32_t k = r->reads[step]; k < r->reads[step + 1]; k++)
        if (!(s.values >> r->read[k] & 1)) return;
    for (int32_t k = r->overs[step]; k < r->overs[step + 1]; k++)
        if (!r->kept[r->over[k].value]) may_die |= 1u << r->over[k].value;
    do {
        run_step(b, s, from, step, dying);
        dying = (dying - may_die) & may_die;
    } while (dying != 0);
}

static void try_drops(Brute *b, int32_t from)
{
    const Remat *r = b->r;
    State s = b->states[from];
    s.from = from;
    s.step = -1;
    for (int32_t v = 0; v < r->value_count; v++) {
        State less = s;
        less.values &= ~(1u << v);
        if (less.values != s.values && !r->kept[v]) reach(b, less);
        less = s;
        if (s.parts & parts_of(r, v) && (!r->kept[v] || s.values >> v & 1))
            less.dead |= 1u << v;
        if (less.dead != s.dead) reach(b, less);
    }
}

// ---- all states -------------------------------------------------------------

static void begin(Brute *b)
{
    State s = {.from = -1, .step = -1};
    for (int i = 0; i < BUCKETS; i++) b->by_key[i] = -1;
    for (int i = 0; i < MOST_COST; i++) b->by_cost[i] = -1;
    for (int32_t v = 0; v < b->r->value_count; v++)
        if (b->r->makers[v] == b->r->makers[v + 1]) s.values |= 1u << v;
    reach(b, s);
}

// True if the state has been gone on from, since it was reached more cheaply.
static bool is_old(Brute *b, int32_t i)
{
    const State *s = &b->states[i];
    for (int32_t k = b->by_key[key_of(s)]; k >= 0; k = b->states[k].by_key)
        if (is_same(&b->states[k], s) && b->states[k].done) return true;
    return false;
}

static int32_t find_end(Brute *b)
{
    const Remat *r = b->r;
    for (int64_t cost = 0; cost < MOST_COST; cost++)
        while (b->by_cost[cost] >= 0) {
            int32_t i = b->by_cost[cost];
            b->by_cost[cost] = b->states[i].by_cost;
            if (is_old(b, i)) continue;
            State *s = &b->states[i];
            s->done = true;
            int32_t next = s->next;
            if (next == r->step_count) return i;
            // Values that exist from the start exist for the first step.
            if (next > 0) try_drops(b, i);
            try_step(b, i, next);
            for (int32_t k = 0;
                 k < r->backward_start && next >= r->backward_start; k++)
                if (r->may_repeat[k]) try_step(b, i, k);
        }
    return -1;
}

int64_t cheapest_program(Arena *arena, const Remat *r, int64_t capacity,
                         RematSchedule *p)
{
    Arena *own = arena_new();
    Brute *b = NEW(own, Brute);
    *b = (Brute){.r = r, .arena = own, .capacity = capacity};
    begin(b);
    int32_t end = find_end(b);
    int64_t cost = end < 0 ? -1 : b->states[end].cost;
    if (p != NULL && end >= 0) {
        *p = (RematSchedule){0};
        for (int32_t i = end; i >= 0; i = b->states[i].from)
            p->count += b->states[i].step >= 0;
        p->step = NEW_ARRAY(arena, p->count, int32_t);
        int32_t at = p->count;
        for (int32_t i = end; i >= 0; i = b->states[i].from)
            if (b->states[i].step >= 0) p->step[--at] = b->states[i].step;
    }
    arena_free(own);
    return cost;
}
