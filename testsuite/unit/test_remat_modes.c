// Schedules that are modes, and the search among them, on random problems. Both
// modes_run and remat_schedule.c agree on a schedule, and no choice of the
// search costs less than the cheapest schedule there is.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "../../passes/remat/keep_modes.h"
#include "../../passes/remat/remat_search.h"
#include "brute_remat.h"
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

static bool has_parts(const Remat *r, int32_t v)
{
    return r->makers[v + 1] - r->makers[v] > 1;
}

// A result of which others make parts lies over nothing.
static void drop_overs_of_parts(Remat *r)
{
    int32_t count = 0;
    for (int32_t i = 0, k = 0; i < r->step_count; i++) {
        int32_t first = count;
        for (; k < r->overs[i + 1]; k++)
            if (!has_parts(r, r->over[k].result)) r->over[count++] = r->over[k];
        r->overs[i] = first;
    }
    r->overs[r->step_count] = count;
}

// A problem such as remat_of makes: besides, kept values are made once.
static Remat draw_problem(uint64_t seed, RematKind kind)
{
    Remat r = random_remat(arena, seed, kind);
    drop_overs_of_parts(&r);
    for (int32_t v = 0; v < r.value_count; v++)
        for (int32_t k = r.makers[v]; k < r.makers[v + 1] && r.kept[v]; k++)
            r.may_repeat[r.maker[k]] = false;
    return r;
}

// True of a launch that makes a part of a map and something else. It may run
// for that alone, and then its part is made in vain, which the modes do not
// count.
static bool makes_a_part_and_more(const Remat *r)
{
    for (int32_t i = 0; i < r->step_count; i++)
        for (int32_t k = r->makes[i]; k < r->makes[i + 1]; k++)
            if (has_parts(r, r->make[k]) && r->makes[i + 1] - r->makes[i] > 1)
                return true;
    return false;
}

static bool may_rise(const Modes *m, int32_t group)
{
    for (int32_t i = 0; i < m->r->step_count; i++)
        if (m->group[i] == group &&
            (!m->r->may_repeat[i] || i >= m->r->backward_start))
            return false;
    return true;
}

static void draw_modes(Modes *m, uint64_t seed)
{
    for (int32_t i = 0; i < m->r->backward_start; i++) {
        int8_t mode = (int8_t)next_number(&seed, 3);
        m->mode[i] = m->group[i] == i && may_rise(m, i) ? mode : KEPT;
    }
}

// ---- modes ------------------------------------------------------------------

static void each_step_runs(const Modes *m)
{
    int32_t next = 0;
    for (int32_t at = 0; at < m->schedule.count; at++) {
        int32_t step = m->schedule.step[at];
        // A step for the first time, or a forward one that may be recomputed.
        if (step == next) next++;
        else assert_true(step < m->r->backward_start && m->r->may_repeat[step]);
    }
    assert_int_equal(next, m->r->step_count);
}

static void counts_are_those_of_the_program(const Modes *m)
{
    int64_t *alive = NEW_ARRAY(arena, m->schedule.count, int64_t);
    remat_alive(m->r, &m->schedule, alive);
    assert_int_equal(m->cost, remat_cost(m->r, &m->schedule));
    assert_int_equal(m->peak, remat_peak(m->r, &m->schedule, NULL));
    for (int32_t at = 0; at < m->schedule.count; at++)
        assert_int_equal(m->live[at], alive[at]);
}

static void modes_are_counted_as_programs_are(void **state)
{
    (void)state;
    int again = 0, lower = 0, long_ = 0, parts = 0;
    for (uint64_t seed = 1; seed <= 12000; seed++) {
        Arena *whole = arena;
        arena = arena_new();
        Remat r = draw_problem(
            seed, (RematKind){3 + (int)(seed % 9), 2 + (int)(seed % 7), 9, 9,
                              15, 10, 10, 40, seed % 5 == 0});
        Modes m = modes_new(&r);
        assert_true(modes_run(&m));
        RematSchedule base = remat_base(arena, &r);
        for (int32_t v = 0; v < r.value_count; v++) parts += has_parts(&r, v);
        assert_int_equal(m.schedule.count, r.step_count);
        counts_are_those_of_the_program(&m);
        draw_modes(&m, seed);
        if (modes_run(&m) && makes_a_part_and_more(&r)) {
            each_step_runs(&m);
        } else if (m.schedule.count < m.capacity) {
            each_step_runs(&m);
            counts_are_those_of_the_program(&m);
            again += m.schedule.count > r.step_count;
            lower += m.peak < remat_peak(&r, &base, NULL);
        } else {
            long_++;
        }
        arena_free(arena);
        arena = whole;
    }
    print_message("%d schedules repeat steps, %d to a gain, %d are too long\n",
                  again, lower, long_);
    assert_true(again > 2000 && lower > 300 && long_ < 400);
}

// ---- by hand ----------------------------------------------------------------

static void is_program(const Modes *m, const char *wanted)
{
    RematSchedule p = remat_schedule(arena, wanted);
    assert_int_equal(m->schedule.count, p.count);
    for (int32_t at = 0; at < p.count; at++)
        assert_int_equal(m->schedule.step[at], p.step[at]);
}

static const char chain[] = "10 x:1 > a:20\n"
                            "11 a > b:30\n"
                            "12 b > c:40\n"
                            "|\n"
                            "21 b c > u:40\n"
                            "22 a u > v:5\n"
                            "23 b v > w:2\n";

static void modes_say_when_a_step_runs_again(void **state)
{
    (void)state;
    Remat r = remat_read(arena, chain);
    Modes m = modes_new(&r);
    assert_true(modes_run(&m));
    is_program(&m, "0 1 2 3 4 5");
    m.mode[1] = ONCE;
    assert_true(modes_run(&m));
    is_program(&m, "0 1 2 1 3 4 5");
    m.mode[1] = EACH_TIME;
    assert_true(modes_run(&m));
    is_program(&m, "0 1 2 1 3 4 1 5");
    m.mode[0] = ONCE;
    assert_true(modes_run(&m));
    is_program(&m, "0 1 2 0 1 3 4 1 5");
    m.mode[0] = EACH_TIME;
    assert_true(modes_run(&m));
    is_program(&m, "0 1 2 0 1 3 0 4 0 1 5");
}

static void makers_of_one_value_run_together(void **state)
{
    (void)state;
    Remat r = remat_read(arena, "1 x:1 > a:30\n"
                                "2 x > a b:5\n"
                                "3 a b > c:7\n"
                                "|\n"
                                "4 c a > d:1\n");
    Modes m = modes_new(&r);
    assert_int_equal(m.group[1], 0);
    assert_int_equal(m.group[2], 2);
    m.mode[0] = ONCE;
    assert_true(modes_run(&m));
    is_program(&m, "0 1 2 0 1 3");
}

static void what_several_read_is_made_once_for_them(void **state)
{
    (void)state;
    // Two that are recomputed for step 3 read a, and so does it.
    Remat r = remat_read(arena, "1 x:1 > a:9\n"
                                "1 a > b:9\n"
                                "1 a > c:9\n"
                                "|\n"
                                "1 a b c > d:1\n");
    Modes m = modes_new(&r);
    m.mode[0] = EACH_TIME;
    m.mode[1] = m.mode[2] = ONCE;
    assert_true(modes_run(&m));
    is_program(&m, "0 1 2 0 1 2 3");
}

static void results_lie_over_what_dies(void **state)
{
    (void)state;
    static const char *const problems[] = {
        // Over one of two that die; over the smaller; over a part of the larger.
        "1 x:1 > a:30 d:30\n1 a d > b:30 b/a b/d\n|\n1 b > c:1\n",
        "1 x:1 > a:30\n1 a > b:40 b/a\n|\n1 b > c:1\n",
        "1 x:1 > a:40\n1 a > b:30 b/a\n|\n1 b > c:1\n",
    };
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        Remat r = remat_read(arena, problems[i]);
        Modes m = modes_new(&r);
        assert_true(modes_run(&m));
        counts_are_those_of_the_program(&m);
    }
}

static void what_lies_idle_is_found(void **state)
{
    (void)state;
    Remat r = remat_read(arena, chain);
    Modes m = modes_new(&r);
    assert_true(modes_run(&m));
    modes_find_idle(&m);
    // While step 3 makes u from b and c, a waits; x is made by nobody.
    assert_int_equal(m.idle_count, 1);
    assert_int_equal(m.idle[0], r.make[r.makes[0]]);
    // A value without later readers does not wait.
    r = remat_read(arena, "1 x:1 > a:20 z:9\n1 a z > b:30\n1 b > c:40\n|\n"
                          "1 b c > u:40\n1 a u > v:5\n");
    m = modes_new(&r);
    assert_true(modes_run(&m));
    modes_find_idle(&m);
    assert_int_equal(m.idle_count, 1);
    assert_int_equal(m.idle[0], r.make[r.makes[0]]);
}

// ---- the search -------------------------------------------------------------

typedef struct Tally {
    int     asked, equal, none;
    double  gap, worst;
} Tally;

static void choices_are_programs(const Remat *r, const RematChoices *all)
{
    RematSchedule base = remat_base(arena, r);
    assert_int_equal(all->choice[0].cost, remat_cost(r, &base));
    for (int32_t k = 0; k < all->count; k++) {
        const RematChoice *choice = &all->choice[k];
        assert_int_equal(remat_peak(r, &choice->schedule, NULL), choice->peak);
        assert_int_equal(remat_cost(r, &choice->schedule), choice->cost);
        if (k == 0) continue;
        assert_true(choice->cost > choice[-1].cost);
        assert_true(choice->peak < choice[-1].peak);
    }
}

// At every capacity, the cheapest choice that fits against the cheapest there
// is.
static void hold_against_brute(const Remat *r, const RematChoices *all,
                               Tally *tally)
{
    int64_t most = all->choice[0].peak;
    for (int k = 0; k < 12; k++) {
        int64_t capacity = most - k * most / 16;
        int64_t least = cheapest_program(arena, r, capacity, NULL);
        int32_t i = 0;
        while (i < all->count && all->choice[i].peak > capacity) i++;
        if (i == all->count) {
            tally->none += least >= 0;
            continue;
        }
        int64_t cost = all->choice[i].cost;
        assert_true(least >= 0 && least <= cost);
        double gap = (double)(cost - least) / (double)least;
        tally->asked++;
        tally->equal += cost == least;
        tally->gap += gap;
        if (gap > tally->worst) tally->worst = gap;
    }
}

static void the_search_is_near_the_optimum(void **state)
{
    (void)state;
    Tally tally = {0};
    int more = 0;
    for (uint64_t seed = 1; seed <= 1000; seed++) {
        Arena *whole = arena;
        arena = arena_new();
        Remat r = draw_problem(
            seed, (RematKind){3 + (int)(seed % 4), 3, 900, 9, 10, 10, 0, 30,
                              seed % 3 == 0});
        if (makes_a_part_and_more(&r)) goto next;
        RematChoices all = remat_search(&r, 32, REMAT_WORK);
        choices_are_programs(&r, &all);
        more += all.count > 1;
        hold_against_brute(&r, &all, &tally);
    next:
        arena_free(arena);
        arena = whole;
    }
    print_message("%d capacities: %d the optimum, gap %.3f %% in the mean, "
                  "%.1f %% at most; %d have a schedule that was not found; %d "
                  "problems have a choice\n", tally.asked, tally.equal,
                  100 * tally.gap / tally.asked, 100 * tally.worst, tally.none,
                  more);
    assert_true(more > 150);
    assert_true(100 * tally.equal >= 95 * tally.asked);
    assert_true(5 * tally.none <= tally.asked);
}

static void equal_problems_have_equal_answers(void **state)
{
    (void)state;
    RematKind kind = {12, 12, 99, 99, 10, 0, 0, 30, false};
    Remat a = draw_problem(5, kind), b = draw_problem(5, kind);
    RematChoices x = remat_search(&a, 32, REMAT_WORK),
                 y = remat_search(&b, 32, REMAT_WORK);
    assert_int_equal(x.count, y.count);
    assert_true(x.count > 1);
    for (int32_t k = 0; k < x.count; k++) {
        RematSchedule p = x.choice[k].schedule, q = y.choice[k].schedule;
        assert_int_equal(p.count, q.count);
        assert_memory_equal(p.step, q.step, (size_t)p.count * sizeof *p.step);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(modes_are_counted_as_programs_are),
        TEST(modes_say_when_a_step_runs_again),
        TEST(makers_of_one_value_run_together),
        TEST(what_several_read_is_made_once_for_them),
        TEST(results_lie_over_what_dies),
        TEST(what_lies_idle_is_found),
        TEST(the_search_is_near_the_optimum),
        TEST(equal_problems_have_equal_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
