// What chains keep and what they compute again, against all programmes there
// are: on random chains of up to eight stages, the solver's cost and least
// capacity are those of the shortest path through all that can be stored.
//
//   test_chain [COUNT]      so many random chains instead of a few thousand
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "brute_chain.h"
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

// ---- random chains ----------------------------------------------------------

typedef struct Drawing {
    uint64_t seed;
    uint32_t sizes, costs;      // what is drawn is below
    bool     gradients_fit;     // no gradient is larger than its map
} Drawing;

static int64_t draw_size(Drawing *d)
{
    return (int64_t)next_number(&d->seed, d->sizes);
}

static int64_t draw_cost(Drawing *d)
{
    return (int64_t)next_number(&d->seed, d->costs);
}

// At least so much, and often no more.
static int64_t draw_peak(Drawing *d, int64_t a, int64_t b)
{
    int64_t least = a > b ? a : b;
    return next_number(&d->seed, 2) ? least : least + draw_size(d) / 2;
}

static ChainWay draw_way(Drawing *d, const ChainStage *stage, int64_t input,
                         int64_t after)
{
    ChainWay way = {.forward = draw_cost(d), .backward = draw_cost(d),
                    .kept = draw_size(d),
                    .reads_input = next_number(&d->seed, 3) > 0,
                    .reads_output = next_number(&d->seed, 4) == 0};
    int64_t made = way.kept + stage->output;
    int64_t read = way.kept + stage->gradient +
                   (way.reads_output ? stage->output : 0);
    way.in_forward.held = draw_peak(d, made, 0);
    way.in_forward.last = draw_peak(d, made, input);
    way.in_backward.held = draw_peak(d, read, after);
    way.in_backward.last = draw_peak(d, read + input, after);
    return way;
}

static void draw_stage(Drawing *d, Chain *c, int i)
{
    ChainStage *stage = &c->stages[i];
    bool is_last = i == c->count - 1;
    int64_t input = i == 0 ? 0 : stage[-1].output;
    int64_t after = i == 0 ? 0 : stage[-1].gradient;
    stage->output = is_last ? 0 : draw_size(d);
    stage->gradient = next_number(&d->seed, 3) ? stage->output : draw_size(d);
    if (d->gradients_fit && stage->gradient > stage->output)
        stage->gradient = stage->output;
    stage->cost = draw_cost(d);
    stage->peak.held = draw_peak(d, stage->output, 0);
    stage->peak.last = draw_peak(d, stage->output, input);
    stage->way_count = is_last ? 0 : (int32_t)next_number(&d->seed,
                                                          MOST_WAYS + 1);
    stage->ways = NEW_ARRAY(arena, MOST_WAYS, ChainWay);
    for (int j = 0; j < stage->way_count; j++)
        stage->ways[j] = draw_way(d, stage, input, after);
    stage->turn_count = 1 + (int32_t)next_number(&d->seed, 2);
    stage->turns = NEW_ARRAY(arena, 2, ChainTurn);
    for (int j = 0; j < stage->turn_count; j++) {
        ChainTurn *turn = &stage->turns[j];
        turn->cost = draw_cost(d);
        turn->peak.held = draw_peak(d, stage->gradient, after);
        turn->peak.last = draw_peak(d, stage->gradient + input, after);
    }
}

static Chain *draw_chain(Drawing *d, int most)
{
    Chain *c = NEW(arena, Chain);
    c->count = 1 + (int32_t)next_number(&d->seed, (uint32_t)most);
    c->stages = NEW_ARRAY(arena, c->count, ChainStage);
    for (int i = 0; i < c->count; i++) draw_stage(d, c, i);
    return c;
}

// Small numbers, so that ties are frequent, or large ones.
static Drawing drawing(uint64_t seed)
{
    Drawing d = {.seed = seed};
    d.sizes = next_number(&d.seed, 2) ? 4 : 40;
    d.costs = next_number(&d.seed, 2) ? 3 : 100;
    return d;
}

// Eight stages now and then: their paths are long.
static int most_stages(uint64_t seed)
{
    return seed % 50 == 0 ? MOST_STAGES : seed % 4 == 0 ? 6 : 5;
}

// ---- against brute force ----------------------------------------------------

// A programme as the table finds it: it keeps all rules, costs what it should,
// and fits.
static int64_t found_cost(const Chain *c, const ChainTable *t, int64_t capacity)
{
    ChainProgramme p;
    int64_t cost, peak;
    assert_true(chain_find(arena, t, capacity, &p));
    assert_true(brute_walk(c, &p, ALL_RULES, &cost, &peak));
    assert_int_equal(chain_cost(c, &p), cost);
    assert_int_equal(chain_peak(c, &p), peak);
    assert_true(peak <= capacity);
    return cost;
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
        Chain *c = draw_chain(&d, most_stages(seed));
        ChainTable *t = chain_table(arena, c, INT64_MAX, 10000, CHAIN_UP);
        ChainProgramme none;
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

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(int count, char **arguments)
{
    if (count > 1) chains = atoi(arguments[1]);
    const struct CMUnitTest tests[] = {
        TEST(small_chains_cost_what_the_shortest_path_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
