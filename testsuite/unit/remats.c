// Problems of recomputation, drafted as lists of
// pairs and then put into the arrays that Remat has.
#include "remats.h"
#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "nets.h"

typedef struct Pair {
    int32_t of, is, under;      // under: of overs alone
} Pair;

typedef struct Pairs {
    Pair   *pair;
    int32_t count, capacity;
} Pairs;

typedef struct Draft {
    Remat    r;
    Pairs    reads, makes, overs;
    int32_t  steps_capacity, repeat_capacity, bytes_capacity, kept_capacity;
} Draft;

static void add_pair(Draft *d, Pairs *pairs, Pair pair)
{
    for (int32_t i = 0; i < pairs->count; i++)
        if (memcmp(&pairs->pair[i], &pair, sizeof pair) == 0) return;
    pairs->pair = arena_grow(d->r.arena, pairs->pair, &pairs->capacity,
                             (int64_t)pairs->count + 1, sizeof pair);
    pairs->pair[pairs->count++] = pair;
}

static int32_t add_step(Draft *d, int64_t cost, bool may_repeat)
{
    Remat *r = &d->r;
    int32_t need = r->step_count + 1;
    r->cost = arena_grow(r->arena, r->cost, &d->steps_capacity, need,
                         sizeof *r->cost);
    r->may_repeat = arena_grow(r->arena, r->may_repeat, &d->repeat_capacity,
                               need, sizeof *r->may_repeat);
    r->cost[r->step_count] = cost;
    r->may_repeat[r->step_count] = may_repeat;
    return r->step_count++;
}

static int32_t add_value(Draft *d, int64_t bytes, bool kept)
{
    Remat *r = &d->r;
    int32_t need = r->value_count + 1;
    r->bytes = arena_grow(r->arena, r->bytes, &d->bytes_capacity, need,
                          sizeof *r->bytes);
    r->kept = arena_grow(r->arena, r->kept, &d->kept_capacity, need,
                         sizeof *r->kept);
    r->bytes[r->value_count] = bytes;
    r->kept[r->value_count] = kept;
    return r->value_count++;
}

static void add_read(Draft *d, int32_t step, int32_t value)
{
    add_pair(d, &d->reads, (Pair){step, value, 0});
}

static void add_make(Draft *d, int32_t step, int32_t value)
{
    add_pair(d, &d->makes, (Pair){step, value, 0});
}

// Where the pairs of each of count begin, in the order they were added.
static int32_t *list_pairs(Arena *arena, const Pairs *pairs, int32_t count,
                           Pair **sorted)
{
    int32_t *start = NEW_ARRAY(arena, (size_t)count + 2, int32_t);
    *sorted = NEW_ARRAY(arena, (size_t)pairs->count + 1, Pair);
    for (int32_t i = 0; i < pairs->count; i++) start[pairs->pair[i].of + 2]++;
    for (int32_t i = 2; i <= count; i++) start[i] += start[i - 1];
    for (int32_t i = 0; i < pairs->count; i++)
        (*sorted)[start[pairs->pair[i].of + 1]++] = pairs->pair[i];
    return start;
}

static int32_t *seconds(Arena *arena, const Pair *pair, int32_t count)
{
    int32_t *is = NEW_ARRAY(arena, (size_t)count + 1, int32_t);
    for (int32_t i = 0; i < count; i++) is[i] = pair[i].is;
    return is;
}

static Remat finish(Draft *d)
{
    Remat *r = &d->r;
    Arena *arena = r->arena;
    Pair *sorted;
    Pairs makers = {0};
    r->reads = list_pairs(arena, &d->reads, r->step_count, &sorted);
    r->read = seconds(arena, sorted, d->reads.count);
    r->makes = list_pairs(arena, &d->makes, r->step_count, &sorted);
    r->make = seconds(arena, sorted, d->makes.count);
    for (int32_t i = 0; i < r->step_count; i++)
        for (int32_t k = r->makes[i]; k < r->makes[i + 1]; k++)
            add_pair(d, &makers, (Pair){r->make[k], i, 0});
    r->makers = list_pairs(arena, &makers, r->value_count, &sorted);
    r->maker = seconds(arena, sorted, makers.count);
    r->overs = list_pairs(arena, &d->overs, r->step_count, &sorted);
    r->over = NEW_ARRAY(arena, (size_t)d->overs.count + 1, RematOver);
    for (int32_t i = 0; i < d->overs.count; i++)
        r->over[i] = (RematOver){sorted[i].is, sorted[i].under};
    return *r;
}

// ---- from text --------------------------------------------------------------

// The next piece of *at up to one of those characters, or NULL.
static char *next_piece(char **at, const char *ends)
{
    char *piece = *at + strspn(*at, ends);
    if (*piece == '\0') return NULL;
    *at = piece + strcspn(piece, ends);
    if (**at != '\0') *(*at)++ = '\0';
    return piece;
}

// A value by its letter, which is made where it has bytes.
static int32_t value_named(Draft *d, int32_t *named, const char *word)
{
    int32_t *v = &named[(unsigned char)word[0]];
    if (word[1] == ':')
        *v = 1 + add_value(d, strtoll(word + 2, NULL, 10),
                           strchr(word, '*') != NULL);
    return *v - 1;
}

static void read_step(Draft *d, int32_t *named, char *line)
{
    char *word = next_piece(&line, " ");
    int32_t step = add_step(d, strtoll(word, NULL, 10),
                            strchr(word, '!') == NULL);
    bool makes = false;
    while ((word = next_piece(&line, " ")) != NULL) {
        if (word[0] == '>')
            makes = true;
        else if (word[1] == '/')
            add_pair(d, &d->overs, (Pair){step, value_named(d, named, word),
                                          value_named(d, named, word + 2)});
        else if (makes)
            add_make(d, step, value_named(d, named, word));
        else
            add_read(d, step, value_named(d, named, word));
    }
}

Remat remat_read(Arena *arena, const char *text)
{
    Draft d = {.r = {.arena = arena}};
    int32_t named[UCHAR_MAX + 1] = {0};
    char *line, *at = arena_copy(arena, text, strlen(text));
    while ((line = next_piece(&at, "\n")) != NULL)
        if (line[0] == '|')
            d.r.backward_start = d.r.step_count;
        else
            read_step(&d, named, line);
    return finish(&d);
}

RematSchedule remat_schedule(Arena *arena, const char *text)
{
    RematSchedule p = {0, NEW_ARRAY(arena, strlen(text) + 1, int32_t)};
    for (const char *at = text; *at != '\0';) {
        char *end;
        p.step[p.count++] = (int32_t)strtol(at, &end, 10);
        while (isspace((unsigned char)*end)) end++;
        at = end;
    }
    return p;
}

RematSchedule remat_base(Arena *arena, const Remat *r)
{
    RematSchedule p = {r->step_count, NEW_ARRAY(arena, r->step_count, int32_t)};
    for (int32_t i = 0; i < r->step_count; i++) p.step[i] = i;
    return p;
}

// ---- random -----------------------------------------------------------------

typedef struct Drawing {
    Draft     d;
    RematKind kind;
    uint64_t  seed;
    int32_t   open;             // a value of which one part is made, or -1
} Drawing;

static bool draw(Drawing *w, int percent)
{
    return (int)next_number(&w->seed, 100) < percent;
}

static int32_t draw_value(Drawing *w)
{
    return add_value(&w->d,
                     1 + next_number(&w->seed, (uint32_t)w->kind.most_bytes),
                     draw(w, w->kind.kept));
}

static int32_t draw_step(Drawing *w)
{
    return add_step(&w->d,
                    1 + next_number(&w->seed, (uint32_t)w->kind.most_cost),
                    !draw(w, w->kind.fixed));
}

// One of the values that are whole; the later, the likelier.
static int32_t draw_whole(Drawing *w)
{
    int32_t count = w->d.r.value_count, v = w->open;
    while (v == w->open) {
        uint32_t range = w->kind.chain ? 1 : draw(w, 70) ? 2 : (uint32_t)count;
        if (range > (uint32_t)count) range = (uint32_t)count;
        v = count - 1 - (int32_t)next_number(&w->seed, range);
        if (v == w->open && w->kind.chain) v = count - 2;
    }
    return v;
}

static void draw_makes(Drawing *w, int32_t step)
{
    if (w->open >= 0) {
        add_make(&w->d, step, w->open);
        w->open = -1;
        if (draw(w, 50)) return;
    }
    int32_t v = draw_value(w);
    add_make(&w->d, step, v);
    if (draw(w, w->kind.split) && v > 0) w->open = v;
    if (!w->kind.chain && draw(w, 20)) add_make(&w->d, step, draw_value(w));
}

// A result of a step may overwrite an operand of the same size.
static void draw_overs(Drawing *w, int32_t step)
{
    if (w->kind.over == 0) return;
    for (int32_t i = 0; i < w->d.makes.count; i++)
        for (int32_t k = 0; k < w->d.reads.count; k++) {
            Pair make = w->d.makes.pair[i], read = w->d.reads.pair[k];
            if (make.of != step || read.of != step) continue;
            if (!draw(w, w->kind.over)) continue;
            w->d.r.bytes[make.is] = w->d.r.bytes[read.is];
            add_pair(&w->d, &w->d.overs, (Pair){step, make.is, read.is});
            break;
        }
}

// Returns a value that forward step i reads or makes.
static int32_t draw_saved(Drawing *w, int32_t i)
{
    const Pairs *pairs = draw(w, 50) ? &w->d.reads : &w->d.makes;
    int32_t found = -1;
    for (int32_t k = 0, seen = 0; k < pairs->count; k++)
        if (pairs->pair[k].of == i && pairs->pair[k].is != w->open &&
            next_number(&w->seed, (uint32_t)++seen) == 0)
            found = pairs->pair[k].is;
    return found;
}

// A step that reads one of those made before, and sometimes two.
static int32_t draw_reader(Drawing *w)
{
    int32_t step = draw_step(w);
    add_read(&w->d, step, draw_whole(w));
    if (!w->kind.chain && draw(w, 40)) add_read(&w->d, step, draw_whole(w));
    return step;
}

static void draw_results(Drawing *w, int32_t step)
{
    draw_makes(w, step);
    draw_overs(w, step);
}

Remat random_remat(Arena *arena, uint64_t seed, RematKind kind)
{
    Drawing w = {.kind = kind, .seed = seed, .open = -1};
    w.d.r.arena = arena;
    add_value(&w.d, 1 + next_number(&w.seed, (uint32_t)kind.most_bytes), false);
    for (int i = 0; i < kind.forward; i++) draw_results(&w, draw_reader(&w));
    w.d.r.backward_start = w.d.r.step_count;
    for (int i = 0; i < kind.backward; i++) {
        int32_t step = draw_reader(&w);
        int32_t saved = draw_saved(&w, kind.forward - 1 - i % kind.forward);
        if (saved >= 0) add_read(&w.d, step, saved);
        if (i == kind.backward - 1) w.kind.split = 0;
        draw_results(&w, step);
    }
    return finish(&w.d);
}
