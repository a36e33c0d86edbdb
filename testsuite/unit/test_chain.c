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
    bool     is_plain;          // as in nets: no run is cheaper or takes less
                                // than one for the output alone, and no
                                // gradient is larger than its map
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
    if (d->is_plain && stage->gradient > stage->output)
        stage->gradient = stage->output;
    stage->cost = draw_cost(d);
    stage->peak.held = draw_peak(d, stage->output, 0);
    stage->peak.last = draw_peak(d, stage->output, input);
    stage->way_count = is_last ? 0 : (int32_t)next_number(&d->seed,
                                                          MOST_WAYS + 1);
    stage->ways = NEW_ARRAY(arena, MOST_WAYS, ChainWay);
    for (int j = 0; j < stage->way_count; j++) {
        ChainWay *way = &stage->ways[j];
        *way = draw_way(d, stage, input, after);
        if (!d->is_plain) continue;
        way->forward += stage->cost;
        way->in_forward.held += stage->peak.held;
        way->in_forward.last += stage->peak.last;
    }
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
    return seed % 10 == 0 ? MOST_STAGES : seed % 4 == 0 ? 6 : 5;
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

// The same of a chain that is too long for brute_walk.
static int64_t found_cost_of_any(const Chain *c, const ChainTable *t,
                                 int64_t capacity)
{
    ChainProgramme p;
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

// ---- wrong programmes -------------------------------------------------------

static void spoil(ChainProgramme *p, uint64_t *seed)
{
    ChainOp *op = &p->ops[next_number(seed, (uint32_t)p->count)];
    ChainOp *other = &p->ops[next_number(seed, (uint32_t)p->count)], old = *op;
    switch (next_number(seed, 4)) {
    case 0:
        op->run = op->run == CHAIN_KEEP ? CHAIN_DROP : CHAIN_KEEP;
        break;
    case 1:
        *op = *other;
        *other = old;
        break;
    case 2:
        for (; op + 1 < p->ops + p->count; op++) *op = op[1];
        p->count--;
        break;
    default:
        if (op->run >= CHAIN_WAY) op->way ^= 1;
        break;
    }
}

static bool has_ways(const Chain *c, const ChainProgramme *p)
{
    for (int k = 0; k < p->count; k++) {
        const ChainOp *op = &p->ops[k];
        const ChainStage *stage = &c->stages[op->stage];
        if (op->run == CHAIN_TURN ? op->way >= stage->turn_count
                                  : op->run >= CHAIN_WAY &&
                                    op->way >= stage->way_count)
            return false;
    }
    return true;
}

// A right programme, spoilt: it does not run to its end, or it is right again,
// and then no cheaper than what the table finds in its bytes.
static void spoilt_programmes_are_refused_or_no_better(void **state)
{
    (void)state;
    int refused = 0, right = 0;
    for (uint64_t seed = 1; seed <= (uint64_t)chains; seed++) {
        Drawing d = drawing(seed);
        Chain *c = draw_chain(&d, 7);
        ChainTable *t = chain_table(arena, c, INT64_MAX, 10000, CHAIN_UP);
        int64_t least = chain_least(t), cost, peak;
        ChainProgramme p;
        chain_find(arena, t, (least + t->enough) / 2, &p);
        spoil(&p, &d.seed);
        if (!has_ways(c, &p)) continue;
        if (brute_walk(c, &p, ALL_RULES, &cost, &peak)) {
            assert_int_equal(chain_cost(c, &p), cost);
            assert_int_equal(chain_peak(c, &p), peak);
            assert_true(cost >= chain_table_cost(t, peak));
            right++;
        } else {
            refused++;
        }
        next_arena();
    }
    assert_true(refused > chains / 4 && right > chains / 20);
}

// ---- what the rules cost ----------------------------------------------------

// Programmes that need not keep, or not finish what is last, are cheaper now and
// then; how often is printed.
static void rules_are_seldom_what_costs(void **state)
{
    (void)state;
    int count[2] = {0}, unfinished[2] = {0}, freed[2] = {0};
    for (uint64_t seed = 1; seed <= (uint64_t)chains / 10; seed++) {
        Drawing d = drawing(seed);
        d.is_plain = seed % 2 == 0;
        Chain *c = draw_chain(&d, 5);
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
                      "finished first, %d if what is kept may be freed\n",
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
        Chain *c = draw_chain(&d, 6);
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
        Chain *c = draw_chain(&d, 60);
        ChainTable *up = chain_table(arena, c, INT64_MAX, 300, CHAIN_UP);
        ChainTable *down = chain_table(arena, c, INT64_MAX, 300, CHAIN_DOWN);
        int64_t before[2] = {INT64_MAX, INT64_MAX};
        for (int64_t i = 0; i <= 100; i++) {
            int64_t capacity = up->enough * i / 100;
            int64_t cost[] = {chain_table_cost(up, capacity),
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
        Chain *c = draw_chain(&d, 20);
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

// ---- known results ----------------------------------------------------------

// Equal stages that keep nothing but their inputs take r l - (r + s over s + 1)
// runs forward, for l stages and s places for inputs, where r is the least with
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
        TEST(spoilt_programmes_are_refused_or_no_better),
        TEST(rules_are_seldom_what_costs),
        TEST(rounded_tables_lie_on_either_side),
        TEST(more_bytes_never_cost_more),
        TEST(a_smaller_table_says_the_same),
        TEST(equal_stages_take_as_many_runs_as_revolve),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
