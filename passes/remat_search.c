// The search for what to compute again, on any graph.
//
// Each forward step has a mode: what it makes is kept, is computed again once,
// when it is first read after the forward pass, or is computed again each time
// that it is read.  The modes are a program (remat_modes.c): its steps in order
// and, before one that reads what is not there, those that make it.
//
// The search goes down from the peak of the program that computes nothing
// again, from one level of bytes to the next.  Where the bytes alive pass the
// level, some step whose results lie there unread is raised to its next mode:
// the one that saves most of the bytes above the level for its cost.  When all
// is below the level, modes that turn out not to be needed are lowered again,
// the dearest first, and the program is a choice.
#include "remat_search.h"
#include <stdlib.h>
#include <string.h>
#include "remat_modes.h"

enum {
    MOST_TRIED = 400,           // steps that are tried before one is raised
    MOST_LOWERED = 400,         // and that are tried to be lowered, a level
};

typedef struct Search {
    const Remat  *r;
    Modes         m;
    RematChoices  all;
    int64_t       base;         // the cost of the program without repeats
    int32_t      *list;         // of groups, room for all
    bool         *may_repeat;   // of each group, as of its steps
    int64_t      *cost;
    double       *bytes;        // that it makes
    int64_t       work;         // places of programs that may yet be looked at
} Search;

// Bytes above the level, summed over the program's places.
static int64_t excess(const Modes *m, int64_t level)
{
    int64_t sum = 0;
    for (int32_t at = 0; at < m->program.count; at++)
        if (m->live[at] > level) sum += m->live[at] - level;
    return sum;
}

static bool evaluate(Search *s)
{
    s->work -= s->r->step_count;
    return modes_run(&s->m);
}

// ---- going down -------------------------------------------------------------

// The steps that could be raised where most is alive: those that made what lies
// there unread.  Returns how many.
static int32_t list_candidates(Search *s)
{
    int32_t count = 0;
    const Modes *m = &s->m;
    for (int32_t k = 0; k < m->idle_count; k++) {
        int32_t v = m->idle[k];
        if (s->r->makers[v] == s->r->makers[v + 1]) continue;
        int32_t group = m->group[s->r->maker[s->r->makers[v]]], i = 0;
        if (!s->may_repeat[group] || m->mode[group] == EACH_TIME) continue;
        while (i < count && s->list[i] != group) i++;
        if (i == count) s->list[count++] = group;
    }
    return count;
}

// A guess of what raising a group gains: bytes for its own cost.
static double worth(const Search *s, int32_t group)
{
    return s->bytes[group] / (double)s->cost[group];
}

static void sort_by_worth(Search *s, int32_t count)
{
    for (int32_t i = 1; i < count; i++) {
        int32_t step = s->list[i], k = i;
        double w = worth(s, step);
        for (; k > 0 && (worth(s, s->list[k - 1]) < w ||
                         (worth(s, s->list[k - 1]) == w &&
                          s->list[k - 1] > step)); k--)
            s->list[k] = s->list[k - 1];
        s->list[k] = step;
    }
}

// Raises the step that saves most for its cost; false: none saves anything.
static bool raise_best(Search *s, int64_t level)
{
    modes_find_idle(&s->m);
    int64_t before = excess(&s->m, level), cost = s->m.cost;
    int32_t count = list_candidates(s), best = -1;
    double most = 0;
    sort_by_worth(s, count);
    if (count > MOST_TRIED) count = MOST_TRIED;
    for (int32_t k = 0; k < count; k++) {
        int32_t step = s->list[k];
        s->m.mode[step]++;
        if (evaluate(s)) {
            int64_t saved = before - excess(&s->m, level);
            int64_t more = s->m.cost > cost ? s->m.cost - cost : 1;
            double gain = (double)saved / (double)more;
            if (saved > 0 && gain > most) most = gain, best = step;
        }
        s->m.mode[step]--;
    }
    if (best >= 0) s->m.mode[best]++;
    evaluate(s);
    return best >= 0;
}

// ---- and up again -----------------------------------------------------------

static int32_t list_raised(Search *s)
{
    int32_t count = 0;
    for (int32_t i = 0; i < s->r->turn; i++)
        if (s->m.mode[i] != KEPT) s->list[count++] = i;
    for (int32_t i = 1; i < count; i++) {
        int32_t step = s->list[i], k = i;
        for (; k > 0 && s->cost[s->list[k - 1]] < s->cost[step]; k--)
            s->list[k] = s->list[k - 1];
        s->list[k] = step;
    }
    return count;
}

static void lower_all(Search *s, int64_t level)
{
    int32_t count = list_raised(s);
    if (count > MOST_LOWERED) count = MOST_LOWERED;
    for (int32_t k = 0; k < count && s->work > 0; k++) {
        int8_t mode = s->m.mode[s->list[k]];
        int64_t cost = s->m.cost;
        bool lowered = false;
        for (int8_t to = KEPT; to < mode && !lowered; to++) {
            s->m.mode[s->list[k]] = to;
            lowered = evaluate(s) && s->m.cost < cost && s->m.peak <= level;
        }
        if (lowered) continue;
        s->m.mode[s->list[k]] = mode;
        evaluate(s);
    }
}

// ---- choices ----------------------------------------------------------------

static void choose(Search *s)
{
    const RematProgram *p = &s->m.program;
    RematChoice choice = {.peak = s->m.peak, .cost = s->m.cost};
    RematChoices *all = &s->all;
    for (int32_t k = 0; k < all->count; k++)
        if (all->choice[k].peak <= choice.peak &&
            all->choice[k].cost <= choice.cost)
            return;
    choice.program = (RematProgram){
        p->count, NEW_ARRAY(s->r->arena, p->count, int32_t)};
    memcpy(choice.program.step, p->step, (size_t)p->count * sizeof(int32_t));
    all->choice = arena_grow(s->r->arena, all->choice, &all->capacity,
                             (int64_t)all->count + 1, sizeof(RematChoice));
    all->choice[all->count++] = choice;
}

static int compare_choices(const void *a, const void *b)
{
    const RematChoice *x = a, *y = b;
    if (x->cost != y->cost) return x->cost < y->cost ? -1 : 1;
    return x->peak < y->peak ? -1 : x->peak > y->peak;
}

static void sort_choices(RematChoices *all)
{
    int32_t count = 0;
    qsort(all->choice, (size_t)all->count, sizeof *all->choice,
          compare_choices);
    for (int32_t k = 0; k < all->count; k++)
        if (count == 0 || all->choice[k].peak < all->choice[count - 1].peak)
            all->choice[count++] = all->choice[k];
    all->count = count;
}

static Search new_search(const Remat *r)
{
    Search s = {.r = r, .m = modes_new(r), .work = 400000000};
    s.list = NEW_ARRAY(r->arena, r->step_count, int32_t);
    s.may_repeat = NEW_ARRAY(r->arena, r->step_count, bool);
    s.cost = NEW_ARRAY(r->arena, r->step_count, int64_t);
    s.bytes = NEW_ARRAY(r->arena, r->step_count, double);
    for (int32_t i = 0; i < r->step_count; i++) s.may_repeat[i] = true;
    for (int32_t i = 0; i < r->step_count; i++) {
        int32_t group = s.m.group[i];
        s.may_repeat[group] &= r->may_repeat[i];
        s.cost[group] += r->cost[i];
        for (int32_t k = r->makes[i]; k < r->makes[i + 1]; k++)
            s.bytes[group] += (double)r->bytes[r->make[k]];
    }
    return s;
}

RematChoices remat_search(const Remat *r, int levels)
{
    Search s = new_search(r);
    evaluate(&s);
    choose(&s);
    int64_t top = s.m.peak, step = top / levels;
    bool more = step > 0;
    for (int k = 1; k < levels && more && s.work > 0; k++) {
        int64_t level = top - k * step;
        while (more && s.m.peak > level && s.work > 0) {
            more = raise_best(&s, level);
            choose(&s);
        }
        if (!more) break;
        lower_all(&s, level);
        choose(&s);
    }
    sort_choices(&s.all);
    return s.all;
}
