// Replays a schedule of steps: its cost and its live bytes.
//
//   f1 f2 f3 b3 f1 b2 b1       f1's result has two lives: to f2, and from the
//                              second f1 to its last reader, b2 or b1
//
// Each run of a step makes its values anew.  Later readers read the new
// instance, and the old one dies with its last reader before.  A value with
// several makers is replaced once the new instance is complete.  A part that is
// remade, of a value that is never completed, has its bytes while it is made.
// A kept value is read from its first instance on, because that is alive
// anyway.
#include "remat_schedule.h"
#include <string.h>
#include "../../ir/base/diag.h"

// One instance of a value.
typedef struct Life {
    int32_t value;
    int32_t first, last;        // places in the schedule; last < 0: not read
    int32_t parts;              // number of parts made
} Life;

enum { NO_LIFE = -1 };

typedef struct Replay {
    const Remat        *r;
    const RematSchedule *p;
    Life    *life;
    int32_t  life_count;
    int32_t *whole;             // of each value: the instance that is read
    int32_t *partial;           // and the one that is incomplete
    int32_t *part_of;           // of each Remat.make: its last instance
    // The lives of all values that the schedule's steps make and read, in the
    // order of the schedule.
    int32_t *made, *seen, made_count, seen_count;
    int64_t *change;            // of live bytes, before each place
} Replay;

static int32_t *new_lives(Arena *arena, int32_t count)
{
    int32_t *lives = NEW_ARRAY(arena, (size_t)count + 1, int32_t);
    for (int32_t i = 0; i < count; i++) lives[i] = NO_LIFE;
    return lives;
}

static int32_t begin_life(Replay *y, int32_t v, int32_t at)
{
    y->life[y->life_count] = (Life){v, at, NO_LIFE, 0};
    return y->life_count++;
}

static void take_whole(Replay *y, int32_t v, int32_t life)
{
    y->partial[v] = NO_LIFE;
    if (y->r->kept[v] && y->whole[v] != NO_LIFE) return;
    y->whole[v] = life;
    if (y->r->kept[v]) y->life[life].last = y->p->count - 1;
}

// Begins the lives of values without makers.  One without readers is alive at
// the first step.
static void begin_made_by_none(Replay *y)
{
    const Remat *r = y->r;
    for (int32_t v = 0; v < r->value_count; v++) {
        if (r->makers[v] < r->makers[v + 1]) continue;
        take_whole(y, v, begin_life(y, v, 0));
    }
}

static Replay new_replay(Arena *arena, const Remat *r, const RematSchedule *p)
{
    Replay y = {.r = r, .p = p};
    size_t reads = 0, makes = 0;
    for (int32_t at = 0; at < p->count; at++) {
        int32_t s = p->step[at];
        reads += (size_t)(r->reads[s + 1] - r->reads[s]);
        makes += (size_t)(r->makes[s + 1] - r->makes[s]);
    }
    y.life = NEW_ARRAY(arena, makes + (size_t)r->value_count + 1, Life);
    y.whole = new_lives(arena, r->value_count);
    y.partial = new_lives(arena, r->value_count);
    y.part_of = new_lives(arena, r->makes[r->step_count]);
    y.made = NEW_ARRAY(arena, makes + 1, int32_t);
    y.seen = NEW_ARRAY(arena, reads + 1, int32_t);
    y.change = NEW_ARRAY(arena, (size_t)p->count + 2, int64_t);
    begin_made_by_none(&y);
    return y;
}

// ---- lives ------------------------------------------------------------------

static void read_values(Replay *y, int32_t at)
{
    const Remat *r = y->r;
    int32_t s = y->p->step[at];
    for (int32_t k = r->reads[s]; k < r->reads[s + 1]; k++) {
        int32_t life = y->whole[r->read[k]];
        if (life == NO_LIFE)
            bug("at %d step %d reads value %d, which is not made", (int)at,
                (int)s, (int)r->read[k]);
        if (y->life[life].last < at) y->life[life].last = at;
        y->seen[y->seen_count++] = life;
    }
}

static void make_values(Replay *y, int32_t at)
{
    const Remat *r = y->r;
    int32_t s = y->p->step[at];
    for (int32_t k = r->makes[s]; k < r->makes[s + 1]; k++) {
        int32_t v = r->make[k], life = y->partial[v];
        if (life == NO_LIFE || y->part_of[k] == life)
            life = y->partial[v] = begin_life(y, v, at);
        y->part_of[k] = y->made[y->made_count++] = life;
        if (++y->life[life].parts == r->makers[v + 1] - r->makers[v])
            take_whole(y, v, life);
    }
}

static void count_bytes(Replay *y, int32_t v, int32_t first, int32_t last)
{
    y->change[first] += y->r->bytes[v];
    y->change[last + 1] -= y->r->bytes[v];
}

static void find_changes(Replay *y)
{
    int32_t made = 0;
    for (int32_t i = 0; i < y->life_count; i++) {
        const Life *life = &y->life[i];
        count_bytes(y, life->value, life->first,
                    life->last < 0 ? life->first : life->last);
    }
    // Later parts of values without readers.
    for (int32_t at = 0; at < y->p->count; at++) {
        int32_t s = y->p->step[at];
        for (int32_t k = y->r->makes[s]; k < y->r->makes[s + 1]; k++) {
            const Life *life = &y->life[y->made[made++]];
            if (life->last < 0 && life->first < at)
                count_bytes(y, life->value, at, at);
        }
    }
}

// ---- overwriting ------------------------------------------------------------

// Returns the bytes of value v, whose life begins here, that overwrite a value
// that dies here.  The array `given` has for each value the place at which it
// was overwritten last.
static int64_t bytes_found(const Replay *y, int32_t v, int32_t at,
                           const int32_t *reading, int32_t *given)
{
    const Remat *r = y->r;
    int32_t s = y->p->step[at];
    for (int32_t k = r->overs[s]; k < r->overs[s + 1]; k++) {
        int32_t under = r->over[k].value;
        if (r->over[k].result != v || r->kept[under] || given[under] == at ||
            reading[under] == NO_LIFE || y->life[reading[under]].last != at)
            continue;
        given[under] = at;
        return r->bytes[v] < r->bytes[under] ? r->bytes[v] : r->bytes[under];
    }
    return 0;
}

// Replays the schedule once more, with all lives known.
static void count_alive(Replay *y, Arena *arena, int64_t *bytes)
{
    const Remat *r = y->r;
    int32_t *reading = new_lives(arena, r->value_count);
    int32_t *given = new_lives(arena, r->value_count);
    int64_t alive = 0;
    y->made_count = y->seen_count = 0;
    for (int32_t at = 0; at < y->p->count; at++) {
        int32_t s = y->p->step[at];
        alive += y->change[at];
        bytes[at] = alive;
        for (int32_t k = r->reads[s]; k < r->reads[s + 1]; k++)
            reading[r->read[k]] = y->seen[y->seen_count++];
        for (int32_t k = r->makes[s]; k < r->makes[s + 1]; k++)
            if (y->life[y->made[y->made_count++]].first == at)
                bytes[at] -= bytes_found(y, r->make[k], at, reading, given);
    }
}

void remat_alive(const Remat *r, const RematSchedule *p, int64_t *bytes)
{
    // A search calls this often, so its memory is freed.
    Arena *arena = arena_new();
    Replay y = new_replay(arena, r, p);
    for (int32_t i = 0; i < p->count; i++) {
        read_values(&y, i);
        make_values(&y, i);
    }
    find_changes(&y);
    count_alive(&y, arena, bytes);
    arena_free(arena);
}

int64_t remat_peak(const Remat *r, const RematSchedule *p, int32_t *at)
{
    Arena *arena = arena_new();
    int64_t *bytes = NEW_ARRAY(arena, (size_t)p->count + 1, int64_t);
    int32_t most = 0;
    remat_alive(r, p, bytes);
    for (int32_t i = 1; i < p->count; i++)
        if (bytes[i] > bytes[most]) most = i;
    int64_t peak = bytes[most];
    arena_free(arena);
    if (at != NULL) *at = most;
    return peak;
}

RematSchedule *remat_schedule_copy(Arena *arena, const RematSchedule *p)
{
    RematSchedule *copy = NEW(arena, RematSchedule);
    *copy = *p;
    copy->step = NEW_ARRAY(arena, (size_t)p->count + 1, int32_t);
    memcpy(copy->step, p->step, (size_t)p->count * sizeof *p->step);
    return copy;
}

int64_t remat_cost(const Remat *r, const RematSchedule *p)
{
    int64_t cost = 0;
    for (int32_t at = 0; at < p->count; at++) cost += r->cost[p->step[at]];
    return cost;
}
