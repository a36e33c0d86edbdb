// Checks kept and recomputed values of chains against all schedules. On random
// chains of up to eight stages, the solver's cost and least capacity equal
// the shortest path's through all that can be stored.
//
//   test_chain [COUNT]      so many random chains instead of a few thousand
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <cmocka.h>
#include "brute_chain.h"
#include "draw_chain.h"
#include "nets.h"

static Arena *arena;
static int chains = 3000;

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

// ---- against brute force ----------------------------------------------------

// Eight stages now and then: their paths are long.
static int most_stages(uint64_t seed)
{
    return seed % 10 == 0 ? MOST_STAGES : seed % 4 == 0 ? 6 : 5;
}

// A schedule as the table finds it: it keeps all rules, has the right cost, and
// fits.
static int64_t found_cost(const Chain *c, const ChainTable *t, int64_t capacity)
{
    ChainSchedule p;
    int64_t cost, peak;
    assert_true(chain_find(arena, t, capacity, &p));
    assert_true(brute_walk(c, &p, ALL_RULES, &cost, &peak));
    assert_int_equal(chain_cost(c, &p), cost);
    assert_int_equal(chain_peak(c, &p), peak);
    assert_true(peak <= capacity);
    return cost;
}

// The same of a chain that is too long for brute_walk.
static int64_t found_cost_of_any(const Chain *c, const ChainTable *t,
                                 int64_t capacity)
{
    ChainSchedule p;
    assert_true(chain_find(arena, t, capacity, &p));
    assert_true(chain_peak(c, &p) <= capacity);
    return chain_cost(c, &p);
}

static void check_capacity(const Chain *c, const ChainTable *t,
                           int64_t capacity)
{
    int64_t cost = brute_cost(arena, c, capacity, ALL_RULES);
    assert_int_equal(chain_table_cost(t, capacity), cost);
    assert_int_equal(found_cost(c, t, capacity), cost);
}

static void next_arena(void)
{
    arena_free(arena);
    arena = arena_new();
}

static void small_chains_cost_what_the_shortest_path_does(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= (uint64_t)chains; seed++) {
        Drawing d = drawing(seed);
        Chain *c = draw_chain(arena, &d, most_stages(seed));
        ChainTable *t = chain_table(arena, c, INT64_MAX, 10000, CHAIN_UP);
        ChainSchedule none;
        assert_true(t->is_exact);
        int64_t least = chain_least(t);
        assert_int_equal(least, brute_least(arena, c, ALL_RULES));
        assert_false(chain_find(arena, t, least - 1, &none));
        assert_int_equal(chain_table_cost(t, least - 1), INT64_MAX);
        check_capacity(c, t, least);
        check_capacity(c, t, t->enough);
        check_capacity(c, t, 2 * t->enough + 1);
        if (t->enough > least)
            for (int k = 0; k < 2; k++)
                check_capacity(c, t, least + (int64_t)next_number(
                                         &d.seed,
                                         (uint32_t)(t->enough - least)));
        next_arena();
    }
}

// ---- the cost by the rules
// ----------------------------------------------------

// Schedules that need not keep, or not finish, the last value are cheaper now
// and then; how often is printed.
static void rules_are_seldom_what_costs(void **state)
{
    (void)state;
    int count[2] = {0}, unfinished[2] = {0}, freed[2] = {0};
    for (uint64_t seed = 1; seed <= (uint64_t)chains / 10; seed++) {
        Drawing d = drawing(seed);
        d.is_plain = seed % 2 == 0;
        Chain *c = draw_chain(arena, &d, 5);
        ChainTable *t = chain_table(arena, c, INT64_MAX, 10000, CHAIN_UP);
        int64_t least = chain_least(t), range = t->enough - least;
        for (int k = 0; k < 3; k++) {
            int64_t capacity = least + range * k / 4;
            int64_t cost = chain_table_cost(t, capacity);
            int64_t keeps = brute_cost(arena, c, capacity, KEEPS);
            int64_t any = brute_cost(arena, c, capacity, ANY_PROGRAMME);
            assert_true(any <= keeps && keeps <= cost);
            count[d.is_plain]++;
            unfinished[d.is_plain] += keeps < cost;
            freed[d.is_plain] += any < keeps;
        }
        next_arena();
    }
    for (int plain = 0; plain < 2; plain++)
        print_message("%s chains, of %d: %d are cheaper if nothing need be "
                      "finished first, %d if kept values may be freed\n",
                      plain ? "plain" : "any", count[plain], unfinished[plain],
                      freed[plain]);
    for (int plain = 0; plain < 2; plain++)
        assert_true(unfinished[plain] <= count[plain] / 100);
    assert_true(freed[true] < count[true] / 20);
}

// ---- tables that round ------------------------------------------------------

// Sizes without a common divisor, and fewer columns than they need.
static void rounded_tables_lie_on_either_side(void **state)
{
    (void)state;
    int dearer = 0;
    for (uint64_t seed = 1; seed <= (uint64_t)chains / 10; seed++) {
        Drawing d = drawing(seed);
        d.sizes = 100000;
        Chain *c = draw_chain(arena, &d, 6);
        int32_t columns = 5 + (int32_t)next_number(&d.seed, 60);
        ChainTable *up = chain_table(arena, c, INT64_MAX, columns, CHAIN_UP);
        ChainTable *down = chain_table(arena, c, INT64_MAX, columns,
                                       CHAIN_DOWN);
        int64_t least = chain_least(up), range = up->enough - least;
        assert_true(up->columns <= columns);
        assert_int_equal(least, brute_least(arena, c, ALL_RULES));
        for (int k = 0; k < 3; k++) {
            int64_t capacity = least + range * k / 3;
            int64_t cost = brute_cost(arena, c, capacity, ALL_RULES);
            int64_t found = found_cost(c, up, capacity);
            assert_true(chain_table_cost(down, capacity) <= cost);
            assert_true(cost <= found);
            assert_true(found <= chain_table_cost(up, capacity));
            dearer += cost < found;
        }
        assert_int_equal(found_cost(c, up, up->enough),
                         chain_table_cost(down, up->enough));
        next_arena();
    }
    // Rounding is seen at all, and is not all there is.
    assert_in_range(dearer, chains / 1000, chains / 10);
}

static void more_bytes_never_cost_more(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        Drawing d = {.seed = seed, .sizes = 5000, .costs = 100};
        Chain *c = draw_chain(arena, &d, 60);
        ChainTable *up = chain_table(arena, c, INT64_MAX, 300, CHAIN_UP);
        ChainTable *down = chain_table(arena, c, INT64_MAX, 300, CHAIN_DOWN);
        int64_t before[2] = {INT64_MAX, INT64_MAX};
        for (int64_t i = 0; i <= 100; i++) {
            int64_t capacity = up->enough * i / 100;
            const int64_t cost[] = {chain_table_cost(up, capacity),
                                    chain_table_cost(down, capacity)};
            assert_true(cost[0] <= before[0] && cost[1] <= before[1]);
            assert_true(cost[1] <= cost[0]);
            before[0] = cost[0];
            before[1] = cost[1];
        }
        assert_int_equal(before[0], before[1]);
        next_arena();
    }
}

// A table for less than all is the same as far as it goes.
static void a_smaller_table_says_the_same(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        Drawing d = {.seed = seed, .sizes = 20, .costs = 100};
        Chain *c = draw_chain(arena, &d, 20);
        ChainTable *all = chain_table(arena, c, INT64_MAX, 10000, CHAIN_UP);
        ChainTable *part = chain_table(arena, c, all->enough / 2, 10000,
                                       CHAIN_UP);
        ChainTable *again = chain_table(arena, c, INT64_MAX, 10000, CHAIN_UP);
        assert_true(all->work == again->work && part->work <= all->work);
        for (int64_t i = 0; i <= all->enough / 2; i++) {
            assert_int_equal(chain_table_cost(all, i),
                             chain_table_cost(part, i));
            if (i >= chain_least(all))
                assert_int_equal(found_cost_of_any(c, all, i),
                                 found_cost_of_any(c, part, i));
        }
        next_arena();
    }
}

// Work and bytes are within the bounds of chain.h; seconds are printed.
static void long_chains_take_what_is_said(void **state)
{
    (void)state;
    int64_t n = chains < 10000 ? 100 : 400, columns = 500;
    for (int plain = 0; plain < 2; plain++) {
        Drawing d = {.seed = 1, .sizes = 1000003, .costs = 1000000,
                     .is_plain = plain};
        Chain *c = draw_stages(arena, &d, (int)n);
        clock_t start = clock();
        ChainTable *t = chain_table(arena, c, INT64_MAX, (int32_t)columns,
                                    CHAIN_UP);
        clock_t end = clock();
        assert_true(t->columns == columns || t->columns == columns - 1);
        assert_true(t->work <= 2 * columns * n * n * n / 6);
        assert_true(t->bytes <= 2 * 4 * columns * n * (n + 1));
        print_message("%lld stages: %.3g sums, %.3g bytes, %.2f s\n",
                      (long long)n, (double)t->work, (double)t->bytes,
                      (double)(end - start) / CLOCKS_PER_SEC);
        next_arena();
    }
}

// ---- known results ----------------------------------------------------------

// Equal stages keep nothing but their inputs: l stages with s places for them.
// They take r l - (r + s over s + 1) runs forward, where r is the least with
// (r + s over s) >= l.  Griewank and Walther, Algorithm 799: revolve (2000).
static int64_t runs_of_revolve(int64_t l, int64_t s)
{
    int64_t r = 0, reach = 1, sum = 0;
    while (reach < l) {
        sum += reach;                   // (r + s + 1 over s + 1) in the end
        r++;
        reach = reach * (r + s) / r;
    }
    return r * l - sum;
}

static void equal_stages_take_as_many_runs_as_revolve(void **state)
{
    (void)state;
    for (int n = 1; n <= 60; n++) {
        Chain c = {n, NEW_ARRAY(arena, n, ChainStage)};
        ChainTurn turn = {0, {.held = 0, .last = 1}};
        ChainTurn first = {0, {0}};
        for (int i = 0; i < n; i++)
            c.stages[i] = (ChainStage){.output = i < n - 1, .cost = 1,
                                       .peak = {1, 1}, .turn_count = 1,
                                       .turns = i == 0 ? &first : &turn};
        ChainTable *t = chain_table(arena, &c, INT64_MAX, 100, CHAIN_UP);
        for (int64_t places = 1; places < n; places++)
            assert_int_equal(chain_table_cost(t, places),
                             runs_of_revolve(n, places));
        next_arena();
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(int count, char **arguments)
{
    if (count > 1) chains = atoi(arguments[1]);
    const struct CMUnitTest tests[] = {
        TEST(small_chains_cost_what_the_shortest_path_does),
        TEST(rules_are_seldom_what_costs),
        TEST(rounded_tables_lie_on_either_side),
        TEST(more_bytes_never_cost_more),
        TEST(a_smaller_table_says_the_same),
        TEST(long_chains_take_what_is_said),
        TEST(equal_stages_take_as_many_runs_as_revolve),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
