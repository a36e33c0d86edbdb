// Schedules in which steps are recomputed: their cost and live bytes, by hand;
// and on random ones against a count that goes through the schedule once for
// each place.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "nets.h"
#include "remats.h"

static Arena *arena;

static int set_up(void **state)
{
    (void)state;
    arena = arena_new();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_free(arena);
    return 0;
}

static void costs(const char *problem, const char *schedule, int64_t cost,
                  int64_t peak, int32_t where)
{
    Remat r = remat_read(arena, problem);
    RematSchedule p = remat_schedule(arena, schedule);
    int32_t at;
    assert_int_equal(remat_cost(&r, &p), cost);
    assert_int_equal(remat_peak(&r, &p, &at), peak);
    assert_int_equal(at, where);
    assert_int_equal(remat_peak(&r, &p, NULL), peak);
}

// ---- by hand ----------------------------------------------------------------

static const char chain[] = "10 x:1 > a:20\n"
                            "11 a > b:30\n"
                            "12 b > c:40\n"
                            "|\n"
                            "21 b c > u:40\n"
                            "22 a u > v:5\n"
                            "23 x v > w:2\n";

static void a_value_lives_to_its_last_reader(void **state)
{
    (void)state;
    costs(chain, "0 1 2 3 4 5", 99, 1 + 20 + 30 + 40 + 40, 3);
}

static void what_runs_again_lives_twice(void **state)
{
    (void)state;
    // The first a dies with step 1.
    costs(chain, "0 1 2 3 0 4 5", 109, 1 + 30 + 40 + 40, 3);
    // b as well: it is made anew from the second a, which is still read by 4.
    costs(chain, "0 1 2 0 1 3 4 5", 120, 1 + 20 + 30 + 40 + 40, 5);
}

static void what_is_made_for_nobody_has_its_bytes_once(void **state)
{
    (void)state;
    costs("1 x:1 > a:3\n1 a > b:50\n|\n1 a > c:4\n", "0 1 2", 3, 54 - 1, 1);
    // An input that nobody reads is there for the first step.
    costs("1 x:9 > a:3 \n1 a > b:5\n1 b y:7 > z:1\n", "0 1 2", 3, 9 + 3 + 7, 0);
}

static void a_kept_value_lives_to_the_end(void **state)
{
    (void)state;
    costs("1 x:1 > a:3*\n1 a > b:4\n|\n1 b > c:9\n", "0 1 2", 3, 3 + 4 + 9, 2);
    // Made again, it has bytes of its own while that is done, and no longer.
    costs("1 x:1 > a:3* s:2\n1 s > b:4\n|\n1 b x > c:9\n1 s a > d:1\n",
          "0 1 0 2 3", 5, 3 + 4 + 1 + 9 + 2, 3);
    costs("1 x:1 > a:30* s:2\n1 s > b:4\n|\n1 b x > c:9\n1 x s a > d:1\n",
          "0 1 2 0 3", 5, 30 + 1 + 30 + 2, 3);
}

static void a_result_lies_over_what_dies(void **state)
{
    (void)state;
    static const char in_place[] = "1 x:1 > a:30\n"
                                   "1 a > b:30 b/a\n"
                                   "|\n"
                                   "1 b > c:30 c/b\n";
    costs(in_place, "0 1 2", 3, 31, 0);
    // Not over a value that is read later; over the first a, if there is a
    // second.
    costs("1 x:1 > a:30\n1 a > b:30 b/a\n|\n1 a b > c:1\n", "0 1 2", 3, 61, 2);
    costs("1 x:1 > a:30\n1 a > b:30 b/a\n|\n1 a b > c:1\n", "0 1 0 2", 4, 61,
          2);
    // Kept values are not overwritten.
    costs("1 x:1 > a:30*\n1 a > b:30 b/a\n", "0 1", 2, 60, 1);
    // Over the smaller of two lies a part of the larger.
    costs("1 x:1 > a:30\n1 a > b:40 b/a\n", "0 1", 2, 40, 1);
}

static void a_value_is_given_over_once(void **state)
{
    (void)state;
    costs("1 x:1 > a:30\n1 a > b:30 c:30 b/a c/a\n", "0 1", 2, 60, 1);
    costs("1 x:1 > a:30 d:30\n1 a d > b:30 c:30 b/a c/a c/d\n", "0 1", 2, 61,
          0);
}

static const char halves[] = "1 x:1 > a:30\n"
                             "2 x > a b:5\n"
                             "3 a b > c:7\n"
                             "|\n"
                             "4 c a > d:1\n";

static void a_value_of_two_makers_is_whole_after_both(void **state)
{
    (void)state;
    costs(halves, "0 1 2 3", 10, 30 + 5 + 7, 2);
    // Both are recomputed, between which it has its bytes.
    costs(halves, "0 1 2 0 1 3", 13, 1 + 30 + 5 + 7, 2);
    costs(halves, "0 1 2 1 0 3", 13, 1 + 30 + 5 + 7, 2);
    // A part that is made again in vain: the old value is read.
    costs(halves, "0 1 2 0 3", 11, 1 + 30 + 7 + 30, 3);
    costs(halves, "0 1 2 0 0 3", 12, 1 + 30 + 7 + 30, 3);
}

// ---- against a slower count -------------------------------------------------

enum { MOST = 64 };

// A schedule of a random problem: missing values of a step are recomputed
// before it, and some needlessly.
typedef struct Wanderer {
    const Remat *r;
    RematSchedule p;
} Wanderer;

static void run_again(Wanderer *w, uint64_t *seed)
{
    int32_t s = (int32_t)next_number(seed, (uint32_t)w->r->backward_start);
    w->p.step[w->p.count++] = s;
}

static RematSchedule wander(const Remat *r, uint64_t seed)
{
    Wanderer w = {r, {0, NEW_ARRAY(arena, MOST, int32_t)}};
    for (int32_t i = 0; i < r->step_count; i++) {
        for (uint32_t n = next_number(&seed, 4);
             i >= r->backward_start && n > 1; n--)
            run_again(&w, &seed);
        w.p.step[w.p.count++] = i;
    }
    return w.p;
}

// The makings of value v, each the place of its first part and of its last, or
// -1; of the kept the first alone may be read.
typedef struct Making {
    int first, whole;
    int parts[MOST], count;
} Making;

static int find_makings(const Remat *r, const RematSchedule *p, int32_t v,
                        Making *makings)
{
    int count = 0;
    bool done[MOST] = {false};
    int missing = 0;
    for (int at = 0; at < p->count; at++)
        for (int32_t k = r->makers[v]; k < r->makers[v + 1]; k++) {
            if (r->maker[k] != p->step[at]) continue;
            if (missing == 0 || done[k - r->makers[v]]) {
                makings[count++] = (Making){.first = at, .whole = -1};
                missing = r->makers[v + 1] - r->makers[v];
                for (int i = 0; i < missing; i++) done[i] = false;
            }
            Making *m = &makings[count - 1];
            m->parts[m->count++] = at;
            done[k - r->makers[v]] = true;
            if (--missing == 0) m->whole = at;
        }
    return count;
}

static bool reads_at(const Remat *r, const RematSchedule *p, int32_t v, int at)
{
    for (int32_t k = r->reads[p->step[at]]; k < r->reads[p->step[at] + 1]; k++)
        if (r->read[k] == v) return true;
    return false;
}

// Where making m is read for the last time: before the next one is whole.
static int last_read(const Remat *r, const RematSchedule *p, int32_t v,
                     const Making *makings, int count, int m)
{
    int from = makings[m].whole, to = p->count, last = -1;
    if (from < 0) return -1;
    for (int j = count - 1; j > m; j--)
        if (makings[j].whole >= 0) to = makings[j].whole + 1;
    for (int j = 0; j < m && r->kept[v]; j++)
        if (makings[j].whole >= 0) return -1;
    if (r->kept[v]) return p->count - 1;
    for (int at = from + 1; at < to; at++)
        if (reads_at(r, p, v, at)) last = at;
    return last;
}

// At each place the bytes alive, and of each value whether it ends or begins.
typedef struct Ends {
    int64_t bytes[MOST];
    int     ends[MOST][MOST], begins[MOST][MOST];
} Ends;

static void count_value(const Remat *r, const RematSchedule *p, int32_t v,
                        Ends *e)
{
    static Making makings[MOST];
    int count = find_makings(r, p, v, makings);
    bool is_made = r->makers[v] < r->makers[v + 1];
    if (!is_made) makings[count++] = (Making){.first = -1, .whole = -1};
    for (int m = 0; m < count; m++) {
        const Making *making = &makings[m];
        int first = is_made ? making->first : 0, last = -1;
        if (is_made) {
            last = last_read(r, p, v, makings, count, m);
            e->begins[first][v] = 1;
        } else {
            for (int at = 0; at < p->count; at++)
                if (reads_at(r, p, v, at) || r->kept[v]) last = at;
            if (r->kept[v]) last = p->count - 1;
            else if (last < 0) last = 0;
        }
        if (last >= 0 && !r->kept[v] && reads_at(r, p, v, last))
            e->ends[last][v] = 1;
        for (int at = first; at <= last; at++) e->bytes[at] += r->bytes[v];
        for (int k = 0; k < making->count && last < 0; k++)
            e->bytes[making->parts[k]] += r->bytes[v];
    }
}

static int64_t slow_peak(const Remat *r, const RematSchedule *p)
{
    static Ends e;
    int64_t most = 0, alive[MOST];
    remat_alive(r, p, alive);
    e = (Ends){{0}, {{0}}, {{0}}};
    for (int32_t v = 0; v < r->value_count; v++) count_value(r, p, v, &e);
    for (int at = 0; at < p->count; at++) {
        int32_t s = p->step[at];
        for (int32_t k = r->makes[s]; k < r->makes[s + 1]; k++)
            for (int32_t j = r->overs[s]; j < r->overs[s + 1]; j++) {
                const RematOver *over = &r->over[j];
                if (over->result != r->make[k] || !e.begins[at][r->make[k]] ||
                    !e.ends[at][over->value])
                    continue;
                int64_t a = r->bytes[over->result], b = r->bytes[over->value];
                e.bytes[at] -= a < b ? a : b;
                e.ends[at][over->value] = 0;
                break;
            }
        assert_int_equal(alive[at], e.bytes[at]);
        if (e.bytes[at] > most) most = e.bytes[at];
    }
    return most;
}

static bool can_run(const Remat *r, const RematSchedule *p)
{
    static Making makings[MOST];
    for (int32_t v = 0; v < r->value_count; v++) {
        if (r->makers[v] == r->makers[v + 1]) continue;
        int count = find_makings(r, p, v, makings), whole = p->count;
        for (int m = 0; m < count; m++)
            if (makings[m].whole >= 0 && makings[m].whole < whole)
                whole = makings[m].whole;
        for (int at = 0; at <= whole && at < p->count; at++)
            if (reads_at(r, p, v, at)) return false;
    }
    return true;
}

static void a_slower_count_agrees(void **state)
{
    (void)state;
    int longer = 0, lower = 0;
    for (uint64_t seed = 1; seed <= 4000; seed++) {
        Arena *whole = arena;
        arena = arena_new();
        Remat r = random_remat(
            arena, seed, (RematKind){3 + (int)(seed % 6), 2 + (int)(seed % 5),
                                     9, 9, 30, 0, 10, 40, false});
        RematSchedule p = wander(&r, seed), base = remat_base(arena, &r);
        assert_true(can_run(&r, &p));
        int64_t peak = remat_peak(&r, &p, NULL);
        assert_int_equal(peak, slow_peak(&r, &p));
        assert_int_equal(remat_peak(&r, &base, NULL), slow_peak(&r, &base));
        longer += p.count > base.count;
        lower += peak < remat_peak(&r, &base, NULL);
        arena_free(arena);
        arena = whole;
    }
    print_message("%d schedules repeat steps, %d of them to a gain\n", longer,
                  lower);
    assert_true(longer > 3000 && lower > 30);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_value_lives_to_its_last_reader),
        TEST(what_runs_again_lives_twice),
        TEST(what_is_made_for_nobody_has_its_bytes_once),
        TEST(a_kept_value_lives_to_the_end),
        TEST(a_result_lies_over_what_dies),
        TEST(a_value_is_given_over_once),
        TEST(a_value_of_two_makers_is_whole_after_both),
        TEST(a_slower_count_agrees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
