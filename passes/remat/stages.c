// Divides a training step into stages.
//
// A forward cut is a place that only one recomputable value crosses; the first
// such place of each value counts.  Its backward cut is a place that meets two
// conditions:
//
//   - no step after it reads a value made after the forward cut;
//   - no step before it reads a value made before the forward cut, except the
//     value that crosses it.
//
// The place with the fewest crossing bytes is taken; no value may be partly
// made there.  A forward cut without a backward cut is dropped.  Cuts are
// placed from the last stage to the first, in the order of the backward pass.
#include "stage_steps.h"
#include <string.h>

enum {
    SMALL = 64,                 // a value of 1/64 of the mean is made once
    FARTHEST = 256              // places that are tried for a backward cut
};

typedef struct Cutting {
    Arena       *arena;
    const Remat *r;
    RematStages *s;
    int32_t *first, *made;      // of each value: its first and its last maker
    int32_t *read;              // its last forward reader, or last maker
    int32_t *back, *last_back;  // its first and last reader from backward_start
                                // on
    int32_t *crossing;          // before each forward step: the only crossing
                                // value, or NO_VALUE
    int32_t *behind;            // the last backward reader of values made from
                                // each forward step on
    int64_t *bytes;             // that cross before each step from
                                // backward_start on
    int32_t *partial;           // values that are partly made there
} Cutting;

// ---- values -----------------------------------------------------------------

static int32_t *new_numbers(const Cutting *c, int32_t count, int32_t number)
{
    int32_t *numbers = NEW_ARRAY(c->arena, (size_t)count + 1, int32_t);
    for (int32_t i = 0; i <= count; i++) numbers[i] = number;
    return numbers;
}

static void find_readers(Cutting *c)
{
    const Remat *r = c->r;
    c->first = new_numbers(c, r->value_count, NO_VALUE);
    c->made = new_numbers(c, r->value_count, NO_VALUE);
    c->read = new_numbers(c, r->value_count, NO_VALUE);
    c->back = new_numbers(c, r->value_count, r->step_count);
    c->last_back = new_numbers(c, r->value_count, NO_VALUE);
    for (int32_t v = 0; v < r->value_count; v++) {
        if (r->makers[v] == r->makers[v + 1]) continue;
        c->first[v] = r->maker[r->makers[v]];
        c->made[v] = c->read[v] = r->maker[r->makers[v + 1] - 1];
    }
    for (int32_t i = 0; i < r->step_count; i++)
        for (int32_t k = r->reads[i]; k < r->reads[i + 1]; k++) {
            int32_t v = r->read[k];
            if (i < r->backward_start) {
                if (c->read[v] < i) c->read[v] = i;
                continue;
            }
            if (c->last_back[v] < 0) c->back[v] = i;
            c->last_back[v] = i;
        }
}

static bool is_forward(const Cutting *c, int32_t v)
{
    return c->first[v] >= 0 && c->first[v] < c->r->backward_start;
}

// Sets once.  A forward value with at most 1/64 of the mean bytes is made once.
static void find_once(Cutting *c)
{
    const Remat *r = c->r;
    int64_t bytes = 0, count = 0;
    c->s->once = NEW_ARRAY(c->arena, (size_t)r->value_count + 1, bool);
    for (int32_t v = 0; v < r->value_count; v++) {
        if (!is_forward(c, v)) continue;
        bytes += r->bytes[v];
        count++;
    }
    int64_t small = count > 0 ? bytes / count / SMALL : 0;
    for (int32_t v = 0; v < r->value_count; v++) {
        bool once = r->kept[v] || c->first[v] < 0;
        if (is_forward(c, v)) once |= r->bytes[v] <= small;
        for (int32_t k = r->makers[v]; k < r->makers[v + 1]; k++)
            once |= r->maker[k] < r->backward_start &&
                    !r->may_repeat[r->maker[k]];
        c->s->once[v] = once;
    }
}

// ---- places -----------------------------------------------------------------

// Counts the values that cross each place and sums their numbers: the sum names
// a single one.
static void find_crossing(Cutting *c)
{
    const Remat *r = c->r;
    int32_t *change = new_numbers(c, r->backward_start + 1, 0);
    int64_t *sum = NEW_ARRAY(c->arena, (size_t)r->backward_start + 2, int64_t);
    c->crossing = new_numbers(c, r->backward_start, NO_VALUE);
    for (int32_t v = 0; v < r->value_count; v++) {
        if (!is_forward(c, v) || c->s->once[v]) continue;
        int32_t last = r->backward_start - 1;
        if (c->read[v] < last) last = c->read[v];
        change[c->first[v] + 1]++;
        sum[c->first[v] + 1] += v;
        change[last + 1]--;
        sum[last + 1] -= v;
    }
    for (int32_t i = 1; i < r->backward_start; i++) {
        change[i] += change[i - 1];
        sum[i] += sum[i - 1];
        if (change[i] == 1 && c->made[sum[i]] < i)
            c->crossing[i] = (int32_t)sum[i];
    }
}

static void find_behind(Cutting *c)
{
    const Remat *r = c->r;
    c->behind = new_numbers(c, r->backward_start, r->backward_start - 1);
    for (int32_t v = 0; v < r->value_count; v++) {
        if (!is_forward(c, v) || c->s->once[v]) continue;
        for (int32_t k = r->makers[v]; k < r->makers[v + 1]; k++) {
            int32_t i = r->maker[k];
            if (i < r->backward_start && c->behind[i] < c->last_back[v])
                c->behind[i] = c->last_back[v];
        }
    }
    for (int32_t i = r->backward_start - 1; i >= 0; i--)
        if (c->behind[i] < c->behind[i + 1]) c->behind[i] = c->behind[i + 1];
}

// Sums the bytes of values that are made from backward_start on.
static void find_bytes(Cutting *c)
{
    const Remat *r = c->r;
    c->bytes = NEW_ARRAY(c->arena, (size_t)r->step_count + 2, int64_t);
    c->partial = new_numbers(c, r->step_count + 1, 0);
    for (int32_t v = 0; v < r->value_count; v++) {
        if (c->s->once[v] || is_forward(c, v)) continue;
        c->partial[c->first[v] + 1]++;
        c->partial[c->made[v] + 1]--;
        if (c->last_back[v] <= c->first[v]) continue;
        c->bytes[c->first[v] + 1] += r->bytes[v];
        c->bytes[c->last_back[v] + 1] -= r->bytes[v];
    }
    for (int32_t i = 1; i <= r->step_count; i++) {
        c->bytes[i] += c->bytes[i - 1];
        c->partial[i] += c->partial[i - 1];
    }
}

// ---- cuts -------------------------------------------------------------------

typedef struct Cut {
    int32_t forward, backward, value;
} Cut;

// Lists the first places that each value crosses alone, with the first backward
// step that reads another value from before the place.
static int32_t list_cuts(const Cutting *c, Cut *cut)
{
    const Remat *r = c->r;
    int32_t count = 0, *from = new_numbers(c, r->backward_start, NO_VALUE);
    int32_t *next = new_numbers(c, r->value_count, NO_VALUE);
    bool *is_cut = NEW_ARRAY(c->arena, (size_t)r->value_count + 1, bool);
    for (int32_t v = 0; v < r->value_count; v++) {
        if (!is_forward(c, v) || c->s->once[v]) continue;
        next[v] = from[c->first[v]];
        from[c->first[v]] = v;
    }
    int32_t least = r->step_count, second = r->step_count, owner = NO_VALUE;
    for (int32_t i = 1; i < r->backward_start; i++) {
        for (int32_t v = from[i - 1]; v != NO_VALUE; v = next[v])
            if (c->back[v] < least) {
                second = least;
                least = c->back[v];
                owner = v;
            } else if (c->back[v] < second) {
                second = c->back[v];
            }
        int32_t v = c->crossing[i];
        if (v == NO_VALUE || is_cut[v]) continue;
        is_cut[v] = true;
        cut[count++] = (Cut){i, owner == v ? second : least, v};
    }
    return count;
}

// Keeps the cuts that have a place in the backward pass.
static int32_t place_cuts(const Cutting *c, Cut *cut, int32_t count)
{
    int32_t before = c->r->backward_start, kept = count;
    for (int32_t j = count - 1; j >= 0; j--) {
        int32_t low = c->behind[cut[j].forward] + 1, high = cut[j].backward;
        if (low <= before) low = before + 1;
        if (high >= c->r->step_count) high = c->r->step_count - 1;
        if (high > low + FARTHEST) high = low + FARTHEST;
        int32_t best = NO_VALUE;
        for (int32_t i = low; i <= high; i++)
            if (c->partial[i] == 0 &&
                (best == NO_VALUE || c->bytes[i] < c->bytes[best])) best = i;
        if (best == NO_VALUE) continue;
        before = best;
        cut[--kept] = (Cut){cut[j].forward, best, cut[j].value};
    }
    memmove(cut, cut + kept, (size_t)(count - kept) * sizeof *cut);
    return count - kept;
}

// Merges the two neighbouring stages that make the fewest bytes, until there
// are at most `most` stages.
static int32_t merge_cuts(const Cutting *c, Cut *cut, int32_t count,
                          int32_t most)
{
    const Remat *r = c->r;
    int64_t *bytes = NEW_ARRAY(c->arena, (size_t)count + 1, int64_t);
    int32_t *stage = new_numbers(c, r->backward_start, 0);
    for (int32_t j = 0; j < count; j++) stage[cut[j].forward]++;
    for (int32_t i = 1; i < r->backward_start; i++) stage[i] += stage[i - 1];
    for (int32_t v = 0; v < r->value_count; v++)
        if (is_forward(c, v) && !c->s->once[v] && c->last_back[v] >= 0)
            bytes[stage[c->first[v]]] += r->bytes[v];
    while (count + 1 > most && count > 0) {
        int32_t least = 0;
        for (int32_t j = 1; j < count; j++)
            if (bytes[j] + bytes[j + 1] < bytes[least] + bytes[least + 1])
                least = j;
        bytes[least] += bytes[least + 1];
        memmove(&cut[least], &cut[least + 1],
                (size_t)(count - least - 1) * sizeof *cut);
        memmove(&bytes[least + 1], &bytes[least + 2],
                (size_t)(count - least - 1) * sizeof *bytes);
        count--;
    }
    return count;
}

// ---- stages -----------------------------------------------------------------

static void make_stages(const Cutting *c, const Cut *cut, int32_t count)
{
    const Remat *r = c->r;
    RematStages *s = c->s;
    s->count = count + 1;
    s->forward = new_numbers(c, s->count, 0);
    s->backward = new_numbers(c, s->count, r->step_count);
    s->output = new_numbers(c, s->count, NO_VALUE);
    for (int32_t j = 0; j < count; j++) {
        s->forward[j + 1] = cut[j].forward;
        s->backward[j + 1] = cut[j].backward;
        s->output[j] = cut[j].value;
    }
    s->forward[s->count] = s->backward[s->count] = r->backward_start;
    s->last_reader = c->last_back;
    s->counted = *r;
    s->counted.bytes = NEW_ARRAY(c->arena, (size_t)r->value_count + 1, int64_t);
    for (int32_t v = 0; v < r->value_count; v++)
        s->counted.bytes[v] = s->once[v] ? 0 : r->bytes[v];
}

int32_t remat_cuts(Arena *arena, const Remat *r, int32_t *value)
{
    RematStages s = {.r = r};
    Cutting c = {.arena = arena, .r = r, .s = &s};
    Cut *cut = NEW_ARRAY(arena, (size_t)r->backward_start + 1, Cut);
    find_readers(&c);
    find_once(&c);
    find_crossing(&c);
    int32_t count = list_cuts(&c, cut);
    for (int32_t j = 0; j < count; j++) value[j] = cut[j].value;
    return count;
}

RematStages remat_stages(Arena *arena, const Remat *r, int32_t most)
{
    RematStages s = {.r = r};
    Cutting c = {.arena = arena, .r = r, .s = &s};
    Cut *cut = NEW_ARRAY(arena, (size_t)r->backward_start + 1, Cut);
    find_readers(&c);
    find_once(&c);
    find_crossing(&c);
    find_behind(&c);
    find_bytes(&c);
    int32_t count = list_cuts(&c, cut);
    count = place_cuts(&c, cut, count);
    count = merge_cuts(&c, cut, count, most);
    make_stages(&c, cut, count);
    return s;
}
